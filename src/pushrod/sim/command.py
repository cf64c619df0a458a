"""Commands of a scenario: what is asked of the actuators of a machine's robot, and when.

commands:
  - {at: 0.5 s, to: shoulder_motor, position: 45 deg, velocity: 1 rad/s}
  - {at: 2 s, to: elbow_motor, trajectory: [{time: 1 s, position: 10 deg}, {time: 2 s, position: 0}], repeat: 2, id: wave}
  - {at: 5 s, to: elbow_motor, stop: decelerate}

One of position, velocity, effort, trajectory, hold, stop each, in joint space; a position with a velocity is a position with a hint. A command acts
at the first tick that does not begin before its time.
"""

import math
from collections.abc import Mapping
from typing import Annotated as A
from typing import Any, Literal, NamedTuple

import msgspec

from pushrod.config.structure import WRONG, number_of, sound_items
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.names import unknown
from pushrod.core.quantity import Q
from pushrod.robot.description import Robot
from pushrod.robot.joint import units

Text = msgspec.Meta
Number = float | int | str
VERBS = ("position", "velocity", "effort", "trajectory", "hold", "stop")
# what each verb takes beside itself
HINTS = {"position": ("velocity", "duration"), "velocity": ("duration",), "effort": ("duration",), "trajectory": ("repeat",), "hold": (), "stop": ()}


class WaypointEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to be at a time from the start of the command."""

    time: A[float, Q("s", 0.0, 1e6, "from the start of the command")]
    position: A[Number, Text(description="rad or m, or text with a unit")]
    velocity: A[Number | None, Text(description="rad/s or m/s, or text with a unit")] = None
    acceleration: A[Number | None, Text(description="rad/s2 or m/s2, or text with a unit")] = None


class CommandEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of position, velocity, effort, trajectory, hold, stop, for one actuator."""

    at: A[float, Q("s", 0.0, 1e6, "when")]
    to: A[str, Text(description="name of an actuator")]
    position: A[Number | None, Text(description="go there: rad or m, or text with a unit")] = None
    velocity: A[Number | None, Text(description="move so fast; with a position: no faster")] = None
    effort: A[Number | None, Text(description="push so hard: N.m or N, or text with a unit")] = None
    trajectory: A[list[WaypointEntry], Text(description="through these points")] = []
    hold: A[Literal[True] | None, Text(description="keep the present position")] = None
    stop: A[Literal["immediate", "decelerate"] | None, Text(description="let go, at once or after slowing down")] = None
    duration: A[float | None, Q("s", 0.0, 1e6, "for so long")] = None
    repeat: A[int | Literal["forever"] | None, Text(description="how often a trajectory is followed")] = None
    id: A[str | None, Text(description="by which its end is told")] = None


class Scripted(NamedTuple):
    """A command of a scenario in SI: at tick k the verb goes `to` an actuator. `values` are the fields of its payload."""

    k: int
    at: float
    to: str
    verb: str
    values: Mapping[str, Any]
    id: str
    line: int


def read_commands(data: Any, robot: Robot | None, dt: float, steps: int | None, document: Document) -> tuple[Scripted, ...]:
    """The commands of a file in order of time; problems are noted in the document. What is no list was noted before.

    One that would act after so many `steps` is a mistake; None: not of the file, whose duration somebody has put another one over.
    """
    if data and robot is None:
        document.add(("commands",), "this machine has no robot that could be commanded; give it signals, or add `robot: NAME` to the machine file")
        return ()
    found = []
    for at, entry in sound_items(CommandEntry, data, ("commands",), document):
        assert robot is not None
        made = _command(entry, at, robot, dt, document)
        if made is not None and steps is not None and made.k >= steps:
            document.add((*at, "at"), f"{entry.at:g} s is not before the end of the run, {steps * dt:g} s")
        if made is not None:
            found.append(made)
    ids: dict[str, int] = {}
    for command in found:
        if command.id in ids:
            document.add(("commands", _index(command.id, data)), f"the id {command.id!r} is given twice; each end must be told apart")
        ids[command.id] = command.line
    return tuple(sorted(found, key=lambda command: command.k))


def _index(id: str, data: Any) -> int:
    return max(i for i, entry in enumerate(data) if isinstance(entry, dict) and entry.get("id", f"#{i + 1}") == id)


def _command(entry: CommandEntry, at: Keys, robot: Robot, dt: float, document: Document) -> Scripted | None:
    actuators = {actuator.name: actuator for actuator in robot.actuators}
    if entry.to not in actuators:
        document.add((*at, "to"), unknown(actuators, entry.to, "actuator"))
        return None
    given = [verb for verb in VERBS if getattr(entry, verb) not in (None, [])]
    verb = given[0] if given else ""
    beside = [name for name in (*VERBS, "duration", "repeat") if name != verb and getattr(entry, name) not in (None, [])]
    if not given:
        document.add(at, f"says nothing to {entry.to}; give one of {', '.join(VERBS)}")
        return None
    wrong = [name for name in beside if name not in HINTS[verb]]
    if wrong:
        takes = f"{verb} takes {' and '.join(HINTS[verb]) or 'nothing'} beside it"
        document.add((*at, wrong[0]), f"does not go with {verb}; give one of {', '.join(VERBS)} ({takes})")
        return None
    values = _values(entry, verb, units(robot.joint(actuators[entry.to].joint).kind), at, document)
    k = max(0, math.ceil(entry.at / dt - 1e-6))
    return None if values is None else Scripted(k, entry.at, entry.to, verb, values, entry.id or f"#{int(at[1]) + 1}", document.line(at))


def _values(entry: CommandEntry, verb: str, si: Mapping[str, str], at: Keys, document: Document) -> dict[str, Any] | None:
    """The fields of the payload, in SI."""
    if verb == "hold":
        return {}
    if verb == "stop":
        return {"mode": entry.stop}
    if entry.duration == 0.0:
        document.add((*at, "duration"), "must be longer than 0 s")
        return None
    if verb == "trajectory":
        points = [_point(point, si, (*at, "trajectory", i), document) for i, point in enumerate(entry.trajectory)]
        return None if None in points or not _rising(entry, at, document) else {"waypoints": points, "repeat": entry.repeat or 1}
    given = [name for name in (verb, *HINTS[verb]) if name in si and getattr(entry, name) is not None]
    found = {name: number_of(si[name], getattr(entry, name), (*at, name), document) for name in given}
    if entry.duration is not None:
        found["duration"] = entry.duration
    return None if WRONG in found.values() else found


def _point(point: WaypointEntry, si: Mapping[str, str], at: Keys, document: Document) -> dict[str, float] | None:
    found = {"time": point.time}
    for name in ("position", "velocity", "acceleration"):
        if getattr(point, name) is not None:
            found[name] = number_of(si[name], getattr(point, name), (*at, name), document)
    return None if WRONG in found.values() else found


def _rising(entry: CommandEntry, at: Keys, document: Document) -> bool:
    if isinstance(entry.repeat, int) and entry.repeat < 1:
        document.add((*at, "repeat"), f"must be a whole number above 0 or forever, got {entry.repeat}")
        return False
    for i in range(1, len(entry.trajectory)):
        before, now = entry.trajectory[i - 1].time, entry.trajectory[i].time
        if not now > before:
            document.add((*at, "trajectory", i, "time"), f"{now:g} s is not later than the point before it, {before:g} s")
            return False
    return True
