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

from pushrod.config.structure import WRONG, loose, number_of
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.names import unknown
from pushrod.core.quantity import Q
from pushrod.robot.description import Robot
from pushrod.robot.joint import units

Text = msgspec.Meta
Number = float | int | str
VERBS = ("position", "velocity", "effort", "trajectory", "hold", "stop")
JOINT = ("position", "velocity", "acceleration", "effort")  # in units that the joint decides
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


def read_commands(data: Any, robot: Robot | None, dt: float | None, steps: int | None, document: Document) -> tuple[Scripted, ...]:
    """The commands of a file in order of time; problems are noted in the document. What cannot be read at all was noted before.

    One that would act after so many `steps` is a mistake; None: not known, or not of the file, whose duration somebody has put another one over.
    """
    if data and robot is None:
        document.add(("commands",), "this machine has no robot that could be commanded; give it signals, or add `robot: NAME` to the machine file")
        return ()
    found = []
    for i, raw in enumerate(data if isinstance(data, list) else ()):
        at: Keys = ("commands", i)
        if not isinstance(raw, dict):
            continue
        assert robot is not None
        entry = loose(CommandEntry, raw, at, document)
        before = len(document.problems)
        verb, values = _values(entry, raw, at, robot, document)
        if steps is not None and dt is not None and entry.at is not WRONG and _tick(entry.at, dt) >= steps:
            document.add((*at, "at"), f"{entry.at:g} s is not before the end of the run, {steps * dt:g} s")
        if len(document.problems) == before and WRONG not in vars(entry).values():
            k = 0 if dt is None else _tick(entry.at, dt)
            found.append(Scripted(k, entry.at, entry.to, verb, values, entry.id or f"#{i + 1}", document.line(at)))
    _told_apart(data, document)
    return tuple(sorted(found, key=lambda command: command.k))


def _tick(at: float, dt: float) -> int:
    return max(0, math.ceil(at / dt - 1e-6))


def _told_apart(data: Any, document: Document) -> None:
    seen: set[str] = set()
    for i, raw in enumerate(data if isinstance(data, list) else ()):
        id = raw.get("id", f"#{i + 1}") if isinstance(raw, dict) else None
        if isinstance(id, str) and id in seen:
            document.add(("commands", i), f"the id {id!r} is given twice; each end must be told apart")
        seen |= {id} if isinstance(id, str) else set()


def _values(entry: Any, raw: dict[str, Any], at: Keys, robot: Robot, document: Document) -> tuple[str, dict[str, Any]]:
    """The verb, and the fields of its payload in SI. Each mistake is noted, whatever else is wrong."""
    actuators = {actuator.name: actuator for actuator in robot.actuators}
    if entry.to is not WRONG and entry.to not in actuators:
        document.add((*at, "to"), unknown(actuators, entry.to, "actuator"))
    si = units(robot.joint(actuators[entry.to].joint).kind) if entry.to in actuators else None
    given = [verb for verb in VERBS if getattr(entry, verb) not in (None, [])]
    if not given:
        document.add(at, f"says nothing to {entry.to if entry.to is not WRONG else 'anybody'}; give one of {', '.join(VERBS)}")
        return "", {}
    verb = given[0]
    for name in (*VERBS, "duration", "repeat"):
        if name not in (verb, *HINTS[verb]) and getattr(entry, name) not in (None, []):
            takes = f"{verb} takes {' and '.join(HINTS[verb]) or 'nothing'} beside it"
            document.add((*at, name), f"does not go with {verb}; give one of {', '.join(VERBS)} ({takes})")
    if entry.duration == 0.0:
        document.add((*at, "duration"), "must be longer than 0 s")
    if verb == "hold":
        return verb, {}
    if verb == "stop":
        return verb, {"mode": entry.stop}
    if verb == "trajectory":
        return verb, {"waypoints": waypoints(raw["trajectory"], si, (*at, verb), document), "repeat": repeat_of(entry.repeat, at, document)}
    found = _numbers(entry, (verb, *HINTS[verb]), si, at, document)
    return verb, found | ({} if entry.duration is None else {"duration": entry.duration})


def _numbers(entry: Any, names: tuple[str, ...], si: Mapping[str, str] | None, at: Keys, document: Document) -> dict[str, Any]:
    """Those that are given and can be read, in SI where it is known of which joint they are."""
    given = [name for name in names if name in JOINT and getattr(entry, name) is not None and getattr(entry, name) is not WRONG]
    return {name: number_of("" if si is None else si[name], getattr(entry, name), (*at, name), document) for name in given}


def waypoints(points: Any, si: Mapping[str, str] | None, at: Keys, document: Document) -> list[dict[str, float]]:
    """The fields of each in SI; `si` are the units of the joint, None where it is not known."""
    found = []
    before = -math.inf
    for i, raw in enumerate(points if isinstance(points, list) else ()):
        point = loose(WaypointEntry, raw, (*at, i), document)
        if point.time is not WRONG:
            if not point.time > before:
                document.add((*at, i, "time"), f"{point.time:g} s is not later than the point before it, {before:g} s")
            before = point.time
        found.append({"time": point.time, **_numbers(point, ("position", "velocity", "acceleration"), si, (*at, i), document)})
    return found


def repeat_of(repeat: Any, at: Keys, document: Document) -> Any:
    """How often a trajectory is followed: once, if nothing is said."""
    if isinstance(repeat, int) and repeat < 1:
        document.add((*at, "repeat"), f"must be a whole number above 0 or forever, got {repeat}")
    return repeat or 1
