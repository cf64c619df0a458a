"""What can be asked of an actuator: values in joint space, SI, durations in seconds.

A payload knows four things of itself, so that the gate needs no table of rules: itself with plain numbers, what is wrong with it, itself within
limits, itself in motor space. After `plain` every number is a Python float or int, and so it is in all that follows.
A driver's own payload subclasses `Payload` and overrides what it needs; what it declares of its fields is checked without more.
"""

from math import inf
from typing import Any, Literal

from msgspec import Struct

from pushrod.robot.description import Limits
from pushrod.robot.parameter import real, whole
from pushrod.robot.transmission import Transmission
from pushrod.runtime.plain_numbers import struct_converter
from pushrod.runtime.well_formed import number as number  # for payloads of a driver's own
from pushrod.runtime.well_formed import struct_check

SHORTEST, LONGEST = 1e-9, 1e9  # [s] that a motion may take: clocks count nanoseconds, and beyond decades times lose them
MOST = 1_000_000_000  # times that a trajectory may be repeated


class Payload(Struct, frozen=True, gc=False, tag=True):
    """Its fields are as declared and finite, nothing limits it, and it is the same in motor space."""

    def plain(self) -> Any:
        """Return itself where every number is a plain float or int, as declared, else a new payload with plain numbers."""
        return struct_converter(type(self))(self)

    def problem(self) -> str | None:
        """The element that is wrong and why, or None. One that overrides it checks its own fields."""
        return struct_check(type(self))(self)

    def motor_problem(self) -> str | None:
        """The same of a payload that was turned into motor space."""
        return self.problem()

    def within(self, limits: Limits) -> Any:
        """Itself where nothing changes, else a new payload inside the limits."""
        return self

    def to_motor(self, transmission: Transmission) -> Any:
        return self


def _hint(name: str, x: Any) -> str | None:
    return None if x is None else number(name, x)


def _duration(x: Any) -> str | None:
    if x is None:
        return None
    return number("duration", x) or (None if SHORTEST <= x <= LONGEST else f"duration must be {SHORTEST:g} to {LONGEST:g} s, got {x}")


def _clip(x: float, lo: float | None, hi: float | None) -> float:
    if lo is not None and x < lo:
        return lo
    return hi if hi is not None and x > hi else x


clip = _clip  # for payloads of a driver's own


def _magnitude(x: float | None, limit: float | None) -> float | None:
    return x if x is None or limit is None else _clip(x, -limit, limit)


class Position(Payload, frozen=True, gc=False, tag=True):
    """Go to a position [rad or m]; velocity [rad/s or m/s] and duration [s] are hints. The velocity is how fast at most, not which way: 0 or above.

    In motor space the hint has the sense of the gearbox: below 0 where that is reversed.
    """

    position: float
    velocity: float | None = None
    duration: float | None = None

    def plain(self) -> "Position":
        x, v, t = self.position, self.velocity, self.duration
        if type(x) is float and (v is None or type(v) is float) and (t is None or type(t) is float):
            return self
        return Position(real(x), real(v), real(t))

    def problem(self) -> str | None:
        x, v = self.position, self.velocity
        if type(x) is float and x - x == 0.0 and self.duration is None and (v is None or (type(v) is float and 0.0 <= v < inf)):
            return None  # the usual case, without a call
        found = self.motor_problem()
        if found is None and self.velocity is not None and self.velocity < 0.0:
            return f"velocity says how fast, not which way: it must not be negative, got {self.velocity}"
        return found

    def motor_problem(self) -> str | None:
        x, v, t = self.position, self.velocity, self.duration
        if type(x) is float and x - x == 0.0 and t is None and (v is None or (type(v) is float and v - v == 0.0)):  # the usual case, without a call
            return None
        found = number("position", self.position)
        if self.velocity is not None:
            found = found or number("velocity", self.velocity)
        return found if self.duration is None else found or _duration(self.duration)

    def within(self, limits: Limits) -> "Position":
        q, w = self.position, self.velocity
        lower, upper, most = limits.lower, limits.upper, limits.velocity
        if (lower is None or q >= lower) and (upper is None or q <= upper) and (w is None or most is None or -most <= w <= most):
            return self
        return Position(_clip(q, lower, upper), _magnitude(w, most), self.duration)

    def to_motor(self, transmission: Transmission) -> "Position":
        x, v = self.position, self.velocity
        return Position(transmission.position_to_motor(x), None if v is None else transmission.rate_to_motor(v), self.duration)


class Velocity(Payload, frozen=True, gc=False, tag=True):
    """Move at a velocity [rad/s or m/s], for a duration [s] or until told otherwise."""

    velocity: float
    duration: float | None = None

    def plain(self) -> "Velocity":
        x, t = self.velocity, self.duration
        return self if type(x) is float and (t is None or type(t) is float) else Velocity(real(x), real(t))

    def problem(self) -> str | None:
        x = self.velocity
        if type(x) is float and x - x == 0.0 and self.duration is None:
            return None
        return number("velocity", x) or _duration(self.duration)

    def within(self, limits: Limits) -> "Velocity":
        v = _magnitude(self.velocity, limits.velocity)
        return self if v == self.velocity else Velocity(v, self.duration)  # type: ignore[arg-type]

    def to_motor(self, transmission: Transmission) -> "Velocity":
        return Velocity(transmission.rate_to_motor(self.velocity), self.duration)


class Effort(Payload, frozen=True, gc=False, tag=True):
    """Push with an effort [N.m or N], for a duration [s] or until told otherwise."""

    effort: float
    duration: float | None = None

    def plain(self) -> "Effort":
        x, t = self.effort, self.duration
        return self if type(x) is float and (t is None or type(t) is float) else Effort(real(x), real(t))

    def problem(self) -> str | None:
        x = self.effort
        if type(x) is float and x - x == 0.0 and self.duration is None:
            return None
        return number("effort", x) or _duration(self.duration)

    def within(self, limits: Limits) -> "Effort":
        e = _magnitude(self.effort, limits.effort)
        return self if e == self.effort else Effort(e, self.duration)  # type: ignore[arg-type]

    def to_motor(self, transmission: Transmission) -> "Effort":
        return Effort(transmission.effort_to_motor(self.effort), self.duration)


class Waypoint(Struct, frozen=True, gc=False):
    """Where to be at a time [s] from the start, and how fast, if that matters."""

    position: float
    time: float
    velocity: float | None = None
    acceleration: float | None = None

    def problem(self) -> str | None:
        found = number("position", self.position) or number("time", self.time) or _hint("velocity", self.velocity)
        found = found or _hint("acceleration", self.acceleration)
        return found or (None if 0.0 <= self.time <= LONGEST else f"time must be 0 to {LONGEST:g} s, got {self.time}")


def _plain_waypoint(p: Any) -> Any:
    if type(p) is not Waypoint:
        return p
    x, t, v, a = real(p.position), real(p.time), real(p.velocity), real(p.acceleration)
    return p if x is p.position and t is p.time and v is p.velocity and a is p.acceleration else Waypoint(x, t, v, a)


class Trajectory(Payload, frozen=True, gc=False, tag=True):
    """Follow waypoints, `repeat` times over or for ever."""

    waypoints: tuple[Waypoint, ...]
    repeat: int | Literal["forever"] = 1

    def plain(self) -> "Trajectory":
        old = self.waypoints
        points = tuple(_plain_waypoint(p) for p in old) if type(old) is tuple else old
        repeat = whole(self.repeat)
        same = points is old or all(a is b for a, b in zip(points, old, strict=True))
        return self if same and repeat is self.repeat else Trajectory(points, repeat)

    def problem(self) -> str | None:
        if not isinstance(self.waypoints, tuple):
            return f"waypoints must be a list of waypoints, got {self.waypoints!r}"
        if not self.waypoints:
            return "waypoints must hold at least one waypoint"
        last = 0.0  # where the motion starts
        for i, point in enumerate(self.waypoints):
            if type(point) is not Waypoint:
                return f"waypoints[{i}] must be a Waypoint, got {point!r}"
            found = point.problem()
            if found:
                return f"waypoints[{i}].{found}"
            if point.time - last < SHORTEST and (i or point.time):  # the first one may be where the motion starts
                return f"waypoints[{i}].time must be at least {SHORTEST:g} s after the one before ({last} s), got {point.time}"
            last = point.time
        if self.repeat != "forever" and (isinstance(self.repeat, bool) or not isinstance(self.repeat, int) or not 1 <= self.repeat <= MOST):
            return f"repeat must be a whole number from 1 to {MOST} or 'forever', got {self.repeat!r:.40}"
        return None

    def within(self, limits: Limits) -> "Trajectory":
        points = tuple(
            Waypoint(
                _clip(p.position, limits.lower, limits.upper),
                p.time,
                _magnitude(p.velocity, limits.velocity),
                _magnitude(p.acceleration, limits.acceleration),
            )
            for p in self.waypoints
        )
        return self if points == self.waypoints else Trajectory(points, self.repeat)

    def to_motor(self, transmission: Transmission) -> "Trajectory":
        rate = transmission.rate_to_motor
        return Trajectory(
            tuple(
                Waypoint(
                    transmission.position_to_motor(p.position),
                    p.time,
                    None if p.velocity is None else rate(p.velocity),
                    None if p.acceleration is None else rate(p.acceleration),
                )
                for p in self.waypoints
            ),
            self.repeat,
        )


class Hold(Payload, frozen=True, gc=False, tag=True):
    """Keep the present position, with force."""

    def plain(self) -> "Hold":
        return self

    def problem(self) -> str | None:
        return None


class Stop(Payload, frozen=True, gc=False, tag=True):
    """Cease motion and go passive, at once or by slowing down. Not a safety function: that is disarming."""

    mode: Literal["immediate", "decelerate"] = "immediate"

    def plain(self) -> "Stop":
        return self

    def problem(self) -> str | None:
        return None if self.mode in ("immediate", "decelerate") else f"mode must be 'immediate' or 'decelerate', got {self.mode!r}"


BUILT_IN: tuple[type[Payload], ...] = (Effort, Hold, Position, Stop, Trajectory, Velocity)
