"""A scenario: what is asked of a machine over time, what breaks, and what is expected, read from a YAML file.

scenario: lane_change
machine: car                                      optional; whom it was written for
duration: 20 s
dt: 10 ms
seed: 1
instance: 0                                       which of many runs of a sweep it is
initial: {v: 10 m/s}                              nested as the world's State
signals: {steer: [{at: 2, for: 3, sine: {...}}]}  one per input channel; a channel left out keeps the default of its In field
faults: [{at: 10 s, until: 12 s, channel: steer, kind: stuck}]
expectations: [{signal: steer_ach, metric: max, below: 0.6}]
compare: [{parameter: feedback, values: [true, false], signal: v, metric: rms_error, to: v_req, times: 2}]   the same run with one parameter otherwise

For a machine with a robot, `commands` go to its actuators (see `command`), and a signal by the name of an actuator is a position [rad or m] sent to
it every tick: such a scenario runs through the runtime.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated as A
from typing import Any, cast

import msgspec

from pushrod.config import yaml_file
from pushrod.config.structure import WRONG, loose, read, sound_items
from pushrod.config.yaml_file import Document, raise_problems_of
from pushrod.core.errors import SignalError, UnknownNameError
from pushrod.core.model import World
from pushrod.core.names import count, did_you_mean
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import numbers
from pushrod.signals import Track
from pushrod.signals.forms import read as read_signal
from pushrod.sim.command import CommandEntry, Scripted, read_commands
from pushrod.sim.comparison import Comparison, ComparisonEntry, compile_comparison
from pushrod.sim.expectation import Expectation, ExpectationEntry, compile_entry
from pushrod.sim.fault import apply_faults
from pushrod.sim.machine import Machine, is_there, locate
from pushrod.sim.record_file import check_ranges, record
from pushrod.sim.room import with_room
from pushrod.sim.signal_units import in_si
from pushrod.sim.tracked import signals_of

FOLDER = Path(__file__).parent / "scenarios"
MOST_TICKS = 10_000_000  # with thirty signals some 2.5 GB
Text = msgspec.Meta


class ScenarioFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of a machine over time."""

    scenario: A[str, Text(description="name of the scenario", pattern=r"^[A-Za-z][\w-]*$")]
    duration: A[float, Q("s", 1e-6, 1e6, "length of the run")]
    dt: A[float, Q("s", 1e-6, 1.0, "length of a tick")]
    machine: A[str | None, Text(description="the machine it was written for: a shipped name or a file beside this one")] = None
    about: A[str, Text(description="one line for `pushrod list`")] = ""
    seed: A[int, Text(description="seed of all noise", ge=0, le=2**31 - 1)] = 0
    instance: A[int, Text(description="which of many runs with that seed: each has noise of its own", ge=0, le=2**31 - 1)] = 0
    initial: A[dict[str, Any], Text(description="state at the start, nested as the world's State")] = {}
    signals: A[dict[str, Any], Text(description="one signal per input channel")] = {}
    commands: A[list[CommandEntry], Text(description="what is asked of the actuators of the machine's robot, and when")] = []
    faults: A[list[dict[str, Any]], Text(description="what breaks, and when")] = []
    expectations: A[list[ExpectationEntry], Text(description="what must hold after the run")] = []
    compare: A[list[ComparisonEntry], Text(description="one number of two runs that differ in one parameter")] = []


@dataclass(frozen=True)
class Scenario:
    """A scenario made for one machine. `params` are the machine's with the faults put in, `world` its world with room for the delays at this dt."""

    name: str
    about: str
    dt: float
    steps: int
    seed: int
    state: Any
    tracks: dict[str, Track]
    world: World
    params: Any
    expectations: tuple[Expectation, ...]
    notes: tuple[str, ...]
    document: Document
    commands: tuple[Scripted, ...] = ()
    streams: Mapping[str, Track] = field(default_factory=dict)
    comparisons: tuple[Comparison, ...] = ()
    instance: int = 0

    @property
    def live(self) -> bool:
        """Whether actuators are commanded, so that it has to run through the runtime."""
        return bool(self.commands or self.streams)


def shipped() -> dict[str, Path]:
    """The scenarios that come with the package, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.yaml"))}


def load(name: str | None, machine: Machine, duration: float | str | None = None, seed: int | None = None) -> Scenario:
    """A scenario by shipped name or file, for a machine; None is the machine's own. `duration` and `seed` go over what the file says."""
    file = default_file(machine) if name is None else locate(name, shipped(), "scenario")
    return build(yaml_file.load(file), machine, duration, seed)


def default_file(machine: Machine) -> Path:
    if machine.scenario is None:
        machine.document.add((), "names no default scenario; add a line `scenario: NAME` or say which one to run")
        machine.document.raise_problems()
    assert machine.scenario is not None
    try:
        file = locate(machine.scenario, shipped(), "scenario", machine.document.folder)
        if not is_there(file):
            machine.document.add(("scenario",), f"there is no file {file}")
    except UnknownNameError as e:
        machine.document.add(("scenario",), str(e))
    machine.document.raise_problems()
    return file


def read_head(document: Document) -> Any:
    """What can be checked without a machine."""
    head = read(ScenarioFile, document.data, (), document)
    document.raise_problems()
    return head


def build(document: Document, machine: Machine, duration: float | str | None = None, seed: int | None = None) -> Scenario:
    if duration is not None:
        document.override(("duration",), duration, f"--duration {duration}")
    if seed is not None:
        document.override(("seed",), seed, f"--seed {seed}")
    head = read(ScenarioFile, document.data, (), document)
    parts = loose(ScenarioFile, document.data, (), document)  # what is sound is looked at further, whatever else is not
    dt, whole = _known(parts.dt), _known(parts.duration)
    data = document.data
    positions = actuator_positions(machine)
    tracks, notes = read_signals(machine.world, data.get("signals"), document, positions)
    before = len(document.problems)
    params, broken = apply_faults(machine.world, machine.params, data.get("faults"), document)
    faults_sound = len(document.problems) == before
    world, params = (machine.world, params) if dt is None else with_room(machine.world, params, dt)
    state = record(world.State, data["initial"], world.State(), ("initial",), document) if isinstance(data.get("initial"), dict) else None
    if state is not None:
        check_ranges(state, None, ("initial",), document)
    signals = signals_of(world)
    entries = sound_items(ExpectationEntry, data.get("expectations"), ("expectations",), document)
    length = math.inf if whole is None or duration is not None else whole  # a run cut short by hand may end before it is looked at
    steps = 0 if whole is None or dt is None else ticks(whole, dt)
    commands = read_commands(data.get("commands"), machine.robot, dt, steps if steps and duration is None else None, document)
    expectations = [compile_entry(entry, signals, at, document, length) for at, entry in entries]
    pairs = [] if dt is None else sound_items(ComparisonEntry, data.get("compare"), ("compare",), document)
    comparisons = [compile_comparison(entry, world, params, signals, at, document, dt or 1.0, length) for at, entry in pairs]
    if comparisons and (commands or positions.keys() & tracks.keys()):
        document.add(("compare",), "a scenario that commands actuators runs through the runtime, once; leave this out")
    if faults_sound:  # else what they broke would be told twice
        check_ranges(params, dt, ("parameters",), machine.document, {("faults", name): (document, ("faults", i)) for name, i in broken.items()})
    if steps > MOST_TICKS:
        document.add(("duration",), f"{whole:g} s are {steps} ticks of {dt:g} s; a run that is kept whole may have {MOST_TICKS}")
    foreign = _written_for_another(document, machine)
    if foreign and document.problems:
        document.problems.insert(0, (0, foreign))
    raise_problems_of(document, machine.document)
    notes += [foreign] if foreign else []
    if abs(steps * head.dt - head.duration) > 1e-6 * head.dt:
        where = document.from_elsewhere(("duration",)) or f"{document.file}:{document.line(('duration',))}"
        notes.append(f"{where}: {head.duration:g} s are no whole number of ticks of {head.dt:g} s; the run takes {steps * head.dt:g} s")
    late = [command for command in commands if command.k >= steps]
    if late:
        notes.append(f"--duration {duration}: the run ends before {count(len(late), 'command')} of the scenario; left out")
    return Scenario(
        head.scenario,
        head.about,
        head.dt,
        steps,
        head.seed,
        state,
        {channel: track for channel, track in tracks.items() if channel not in positions},
        world,
        params,
        tuple(e for e in expectations if e),
        tuple(notes),
        document,
        commands[: len(commands) - len(late)],
        {channel: track for channel, track in tracks.items() if channel in positions},
        tuple(c for c in comparisons if c),
        head.instance,
    )


def _known(x: Any) -> float | None:
    return None if x is WRONG else float(x)


def ticks(duration: float, dt: float) -> int:
    return max(1, math.ceil(duration / dt - 1e-6))


def actuator_positions(machine: Machine) -> dict[str, Q]:
    """The actuators of the machine's robot to which positions can be sent, by name."""
    if machine.robot is None:
        return {}
    from pushrod.robot.joint import units

    return {a.name: Q(units(machine.robot.joint(a.joint).kind)["position"]) for a in machine.robot.actuators}


def _written_for_another(document: Document, machine: Machine) -> str:
    """What to say of a scenario that names another machine; empty where it does not."""
    name = document.data.get("machine")
    if not isinstance(name, str) or Path(name).stem in (machine.name, Path(machine.document.file).stem):
        return ""
    return f"{document.file}:{document.line(('machine',))}: written for the machine {name}, run on {machine.name}"


def read_signals(world: World, data: Any, document: Document, actuators: Mapping[str, Q] | None = None) -> tuple[dict[str, Track], list[str]]:
    """The compiled channel of every signal in the file, and what was read otherwise than written."""
    channels: dict[str, Any] = {leaf.path: leaf.meta for leaf in numbers(world.In)} | dict(actuators or {})
    tracks: dict[str, Track] = {}
    notes: list[str] = []
    for channel, signal in data.items() if isinstance(data, dict) else ():
        at = ("signals", channel)
        if channel not in channels:
            hint = did_you_mean(channels, channel)
            document.add(at, " ".join(filter(None, (f"{world.name} has no input channel {channel!r};", hint, f"known: {', '.join(channels)}"))))
            continue
        before = len(document.problems)
        plain = in_si(signal, cast(Q | Choice, channels[channel]), at, document)
        if len(document.problems) > before:
            continue
        try:
            tracks[channel], warned = read_signal(channel, plain, None, document.folder)
            notes += [f"{document.file}:{document.line(at)}: {note}" for note in warned]
        except SignalError as e:
            document.add((*at, *e.path), str(e).removeprefix(f"signal {yaml_file.dotted((channel, *e.path))}").lstrip(" =:"))
    return tracks, notes
