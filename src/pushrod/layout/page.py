"""What is looked at together, for any viewer: pages of panels, each with curves of one unit.

tracking   per pair of the machine: request, command, achieved, measured
pipeline   the stages of its command pipeline, a panel for each topic
joints     position, velocity and effort of the robot's joints
commands   what was asked of each actuator
events     transitions and what a person wants to read; how late the loops were
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pushrod.core.record import Leaf, numbers
from pushrod.log.table import Table
from pushrod.robot.path import paths
from pushrod.sim.machine import Machine
from pushrod.sim.pipeline_topics import pipeline_topics
from pushrod.sim.tracked import signals_of

MOST_CURVES = 12  # in one panel
STAGES = ("_req", "_cmd", "_alloc", "_ach", "_meas")
JOINT = ("position", "velocity", "effort")
NO_NUMBERS = ("mode", "waypoints", "repeat")  # of payloads
LATENESS = ("p50", "p99", "worst")


class Curve(NamedTuple):
    """A number of a topic. `joint`: of the joint of that name in a list, which is the entry `place` of it."""

    topic: str
    path: str
    label: str
    joint: str = ""
    place: int = 0


class Panel(NamedTuple):
    title: str
    unit: str
    curves: tuple[Curve, ...]


class Page(NamedTuple):
    """`states` are topics with a text that changes, `lines` topics of lines to read, where the viewer can show such."""

    title: str
    panels: tuple[Panel, ...] = ()
    states: tuple[Curve, ...] = ()
    lines: tuple[str, ...] = ()


def of_machine(machine: Machine) -> list[Page]:
    """All that a log of this machine can hold, simulated or live."""
    signals = signals_of(machine.world)
    pages = [Page("tracking", tuple(_tracking(machine, signals))), Page("pipeline", tuple(_pipeline(machine)))]
    if machine.robot is not None:
        names = list(dict.fromkeys(machine.robot.joint(actuator.joint).name for actuator in machine.robot.actuators))
        joints = (Panel(f"joint {what}", "", _joints(names, what)) for what in JOINT)
        where = paths(machine.robot)
        commands = tuple(_command("/".join(where[actuator.name]), actuator.name, machine) for actuator in machine.robot.actuators)
        pages += [Page("joints", tuple(joints)), Page("commands", commands)]
        pages.append(events())
    return [page for page in pages if page.panels or page.lines]


def of_table(table: Table) -> list[Page]:
    """A page for each topic of any recording, its numbers by unit; what is for reading in the end."""
    pages = []
    for topic in table.topics:
        by_unit: dict[str, list[Curve]] = {}
        for name, channel in table.of(topic).items():
            path = name.removeprefix(f"{topic.strip('/')}.")
            by_unit.setdefault(channel.unit, []).append(Curve(topic, path, path))
        if by_unit:
            pages.append(Page(topic, tuple(panel for unit, curves in by_unit.items() for panel in _cut(topic.strip("/"), unit, curves))))
    lines = tuple(name for name, info in table.topics.items() if info.schema == "foxglove.Log")
    return pages + ([Page("events", lines=lines)] if lines else [])


def events() -> Page:
    late = Panel("loops: late by", "s", tuple(Curve("/loops", name, name) for name in LATENESS))
    return Page("events", (late,), (Curve("/safety", "to", "state"),), ("/events",))


def _tracking(machine: Machine, signals: Mapping[str, Leaf]) -> Iterable[Panel]:
    for pair in machine.track:
        ends = {pair.request, pair.achieved}
        stems, parts = {_stem(name) for name in ends}, {name.rpartition(".")[0] for name in ends}
        between = [name for name in signals if not name.startswith("in.") and name.endswith(STAGES) and _stem(name) in stems]
        if len(parts) == 1:  # of a machine with several such, the same one
            between = [name for name in between if name.rpartition(".")[0] in parts]
        shown = dict.fromkeys((pair.request, *sorted(between, key=_stage), pair.achieved))
        unit = str(getattr(signals[pair.achieved].meta, "unit", ""))
        yield Panel(f"{pair.request} to {pair.achieved}", unit, tuple(_of_world(name) for name in shown if _unit(signals, name) == unit))


def _unit(signals: Mapping[str, Leaf], name: str) -> str:
    return str(getattr(signals[name].meta, "unit", ""))


def _stem(name: str) -> str:
    last = name.rpartition(".")[2]
    return next((last.removesuffix(stage) for stage in STAGES if last.endswith(stage)), last)


def _stage(name: str) -> int:
    return next((i for i, stage in enumerate(STAGES) if name.endswith(stage)), len(STAGES))


def _of_world(name: str) -> Curve:
    return Curve("/in", name.removeprefix("in."), name) if name.startswith("in.") else Curve("/out", name, name)


def _pipeline(machine: Machine) -> Iterable[Panel]:
    for topic in pipeline_topics(machine.world):
        by_unit: dict[str, list[Curve]] = {}
        signals = signals_of(machine.world)
        for path, at in topic.paths.items():
            by_unit.setdefault(_unit(signals, at), []).append(Curve(topic.name, path, path))
        for unit, curves in by_unit.items():
            yield from _cut(topic.name, unit, curves)


def _cut(title: str, unit: str, curves: list[Curve]) -> Iterable[Panel]:
    for i in range(0, len(curves), MOST_CURVES):
        more = "" if len(curves) <= MOST_CURVES else f" {i // MOST_CURVES + 1}"
        yield Panel(f"{title}{more}", unit, tuple(curves[i : i + MOST_CURVES]))


def _joints(names: list[str], what: str) -> tuple[Curve, ...]:
    return tuple(Curve("/joint_states", what, f"{name} {what}", name, i) for i, name in enumerate(names[:MOST_CURVES]))


def _command(path: str, name: str, machine: Machine) -> Panel:
    topic = f"/actuator/{path}/command"
    return Panel(name, "", tuple(Curve(topic, f"payload.{what}", what) for what in _fields(name, machine)))


def _fields(actuator: str, machine: Machine) -> list[str]:
    """The numbers of what can be asked of an actuator: those of the payloads of its port."""
    from pushrod.live.port import PORTS
    from pushrod.runtime.payload import BUILT_IN

    world = machine.live or machine.world
    prefix = f"{machine.ports[actuator]}." if machine.ports.get(actuator) else ""
    inputs = {leaf.path.removeprefix(prefix) for leaf in numbers(world.In) if leaf.path.startswith(prefix)}
    port = next((kind for kind in PORTS if set(kind.channels) <= inputs), None)
    asked = (field for kind in getattr(port, "command_payloads", BUILT_IN) for field in kind.__struct_fields__)
    return [field for field in dict.fromkeys(asked) if field not in NO_NUMBERS][:MOST_CURVES]
