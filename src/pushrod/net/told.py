"""What a host tells of its robot: how it is made, once, and how it is now, whenever it is asked."""

import hashlib
import os
import socket
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from msgspec import Raw, Struct

from pushrod.net import key
from pushrod.net.wire import Hello, encode
from pushrod.robot.description import Robot
from pushrod.robot.path import find
from pushrod.runtime.bus import TopicStatistics
from pushrod.runtime.cadence import Timing
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.host import Host
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State

GUARD_ACTED = "the guard has disarmed it"


class ActuatorTold(Struct, frozen=True):
    """Limits in SI, as they are now; `watchdog` is the silence it bears [s]; `payloads` the names of what it accepts; `kind` that of its joint;
    `driven_by` the controller of the robot that commands it."""

    name: str
    path: tuple[str, ...]
    joint: str
    payloads: tuple[str, ...]
    blocking: bool
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    watchdog: float | None = None
    kind: str = ""
    driven_by: str = ""


class Description(Struct, frozen=True):
    actuators: tuple[ActuatorTold, ...]
    nodes: tuple[str, ...]
    stepped: bool  # it runs on a stepped clock: commands act in its ticks


class ActuatorNow(Struct, frozen=True):
    """`silence`: since its last command acted [s]; None before the first."""

    name: str
    path: tuple[str, ...]
    armed: bool
    stopped: str
    position: float | None
    velocity: float | None
    effort: float | None
    lease: str | None
    commander: str
    silence: float | None
    acted: int
    refused: dict[str, int]
    restarts: int


class TopicNow(Struct, frozen=True):
    topic: tuple[str, ...]
    messages: int
    rate: float
    age: float
    dropped: int


class LoopNow(Struct, frozen=True):
    """Seconds; see Timing."""

    name: str
    ticks: int
    missed: int
    worst: float
    p50: float
    p99: float


class Overview(Struct, frozen=True):
    """A robot at one moment of its own clock."""

    robot: str
    state: str
    why: str
    time: float
    actuators: tuple[ActuatorNow, ...]
    topics: tuple[TopicNow, ...]
    loops: tuple[LoopNow, ...]
    operators: tuple[str, ...]


def fingerprint(robot: Robot) -> str:
    """Sixteen digits that differ wherever two descriptions do."""
    return hashlib.sha256(repr(robot).encode()).hexdigest()[:16]


def differences(there: Description, here: Robot) -> list[str]:
    """What a description and what a host tells differ in, as far as a host tells it."""
    joints, theirs = {joint.name: joint for joint in here.joints}, {one.name: one for one in there.actuators}
    found = [f"it has an actuator {name!r}" for name in theirs if all(one.name != name for one in here.actuators)]
    for one in here.actuators:
        told, limits, dog = theirs.get(one.name), joints[one.joint].limits, one.watchdog
        if told is None:
            found.append(f"it has no actuator {one.name!r}")
            continue
        wanted: dict[str, Any] = {field: getattr(limits, field, None) for field in ("lower", "upper", "velocity", "effort")}
        wanted |= {"joint": one.joint, "watchdog": None if dog is None else dog.silence}
        for field, value in wanted.items():
            if (value is None or isinstance(value, (float, str))) and value != getattr(told, field):  # else it names a parameter
                found.append(f"{field} of {one.name} is {getattr(told, field)}, here {value}")
    return found


def hello(rt: Runtime, instance: str) -> Hello:
    return Hello(key.SCHEMA, version("pushrod"), rt.robot.name, fingerprint(rt.robot), instance, Raw(encode(describe(rt))), where())


def where() -> str:
    """Return the computer and the process of this host."""
    return f"{socket.gethostname()}, pid {os.getpid()}"


def describe(rt: Runtime) -> Description:
    paths = {name: host.path for name, host in rt.hosts.items()}
    drivers = {find(paths, address)[-1]: controller for controller, address in _driven(rt)}
    made = tuple(_made(host, drivers.get(name, "")) for name, host in rt.hosts.items())
    return Description(made, tuple(rt.nodes), isinstance(rt.clock, SteppedClock))


def _driven(rt: Runtime) -> Iterator[tuple[str, str]]:
    """Which controller says that it drives which actuator."""
    for name, node in rt.nodes.items():
        drives = getattr(node.part.driver.driver, "drives", None)
        if drives is not None:
            yield from ((name, address) for _, address in drives(node.part.options))


def overview(rt: Runtime, seats: tuple[str, ...]) -> Overview:
    topics = tuple(_topic(s) for s in rt.bus.statistics() if s.robot == rt.robot.name)
    loops = tuple(_loop(cadence.timing()) for cadence in rt.cadences)
    actuators = tuple(_now(host) for host in rt.hosts.values())
    state, why = rt.state, rt.arming.why
    if state is State.ESTOPPED:
        why = "; ".join(rt.arming.causes) or why  # a second e-stop changes no state, but adds its cause
    if state is State.ARMED and any(host.gate.fuse[0] for host in rt.hosts.values()):
        state, why = State.ERROR, GUARD_ACTED  # this process was stopped, and has not heard of it yet
    return Overview(rt.robot.name, state.value, why, rt.clock.now(), actuators, topics, loops, seats)


def _made(host: Host, driven_by: str) -> ActuatorTold:
    gate, dog = host.gate, host.actuator.watchdog
    limits: Any = gate.limits
    names = tuple(sorted(kind.__name__ for kind in gate.payloads))
    ends = (limits.lower, limits.upper, limits.velocity, limits.effort)
    silence = None if dog is None else dog.silence
    return ActuatorTold(host.actuator.name, host.path, host.joint.name, names, host.slot is not None, *ends, silence, host.joint.kind, driven_by)


def _now(host: Host) -> ActuatorNow:
    gate, state, lease = host.gate, host.joint_state, host.gate.lease
    now = host.clock.now()

    def reported(values: tuple[float, ...]) -> float | None:
        return values[0] if values else None

    return ActuatorNow(
        host.actuator.name,
        host.path,
        gate.epoch != 0,
        gate.stopped,
        None if state is None else reported(state.positions),
        None if state is None else reported(state.velocities),
        None if state is None else reported(state.efforts),
        None if lease is None or now >= lease.until else lease.owner,
        gate.commander,
        now - gate.last_acted if gate.acted else None,
        gate.acted,
        dict(gate.refusals),
        host.part.restarts,
    )


def _topic(s: TopicStatistics) -> TopicNow:
    return TopicNow(s.topic, s.messages, s.rate, s.age, s.dropped)


def _loop(t: Timing) -> LoopNow:
    return LoopNow(t.name, t.ticks, t.missed, t.worst, t.p50, t.p99)
