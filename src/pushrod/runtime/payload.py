"""What can be asked of an actuator: values in joint space, SI, durations in seconds.

A payload knows three things of itself, so that the gate needs no table of rules: what is wrong with it, itself within limits, itself in motor space.
A driver's own payload subclasses `Payload` and overrides what it needs; what it declares of its fields is checked without more.
"""

from math import inf
from typing import Any, Literal

from msgspec import Struct

from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission
from pushrod.runtime.well_formed import number as number  # for payloads of a driver's own
from pushrod.runtime.well_formed import struct_check


class Payload(Struct, frozen=True, gc=False, tag=True):
    """Its fields are as declared and finite, nothing limits it, and it is the same in motor space."""

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
    return number("duration", x) or (None if x > 0.0 else f"duration must be longer than 0 s, got {x}")


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

    def problem(self) -> str | None:
        found = self.motor_problem()
        if found is None and self.velocity is not None and self.velocity < 0.0:
            return f"velocity says how fast, not which way: it must not be negative, got {self.velocity}"
        return found

    def motor_problem(self) -> str | None:
        found = number("position", self.position)
        if self.velocity is not None:
            found = found or number("velocity", self.velocity)
        return found if self.duration is None else found or _duration(self.duration)

    def within(self, limits: Limits) -> "Position":
        q, w = self.position, self.velocity
        x, v = _clip(q, limits.lower, limits.upper), None if w is None else _magnitude(w, limits.velocity)
        return self if x == q and v == w else Position(x, v, self.duration)

    def to_motor(self, transmission: Transmission) -> "Position":
        x, v = self.position, self.velocity
        motor = transmission.position_to_motor(x if type(x) is float else float(x))  # a float32 would stay one
        return Position(motor, None if v is None else transmission.rate_to_motor(float(v)), self.duration)


class Velocity(Payload, frozen=True, gc=False, tag=True):
    """Move at a velocity [rad/s or m/s], for a duration [s] or until told otherwise."""

    velocity: float
    duration: float | None = None

    def problem(self) -> str | None:
        return number("velocity", self.velocity) or _duration(self.duration)

    def within(self, limits: Limits) -> "Velocity":
        v = _magnitude(self.velocity, limits.velocity)
        return self if v == self.velocity else Velocity(v, self.duration)  # type: ignore[arg-type]

    def to_motor(self, transmission: Transmission) -> "Velocity":
        return Velocity(transmission.rate_to_motor(float(self.velocity)), self.duration)


class Effort(Payload, frozen=True, gc=False, tag=True):
    """Push with an effort [N.m or N], for a duration [s] or until told otherwise."""

    effort: float
    duration: float | None = None

    def problem(self) -> str | None:
        return number("effort", self.effort) or _duration(self.duration)

    def within(self, limits: Limits) -> "Effort":
        e = _magnitude(self.effort, limits.effort)
        return self if e == self.effort else Effort(e, self.duration)  # type: ignore[arg-type]

    def to_motor(self, transmission: Transmission) -> "Effort":
        return Effort(transmission.effort_to_motor(float(self.effort)), self.duration)


class Waypoint(Struct, frozen=True, gc=False):
    """Where to be at a time [s] from the start, and how fast, if that matters."""

    position: float
    time: float
    velocity: float | None = None
    acceleration: float | None = None

    def problem(self) -> str | None:
        found = number("position", self.position) or number("time", self.time) or _hint("velocity", self.velocity)
        found = found or _hint("acceleration", self.acceleration)
        return found or (None if self.time >= 0.0 else f"time must not be negative, got {self.time}")


class Trajectory(Payload, frozen=True, gc=False, tag=True):
    """Follow waypoints, `repeat` times over or for ever."""

    waypoints: tuple[Waypoint, ...]
    repeat: int | Literal["forever"] = 1

    def problem(self) -> str | None:
        if not isinstance(self.waypoints, tuple):
            return f"waypoints must be a list of waypoints, got {self.waypoints!r}"
        if not self.waypoints:
            return "waypoints must hold at least one waypoint"
        last = -inf
        for i, point in enumerate(self.waypoints):
            if type(point) is not Waypoint:
                return f"waypoints[{i}] must be a Waypoint, got {point!r}"
            found = point.problem()
            if found:
                return f"waypoints[{i}].{found}"
            if not point.time > last:
                return f"waypoints[{i}].time must be later than the one before ({last} s), got {point.time}"
            last = point.time
        if self.repeat != "forever" and (isinstance(self.repeat, bool) or not isinstance(self.repeat, int) or self.repeat < 1):
            return f"repeat must be a whole number above 0 or 'forever', got {self.repeat!r}"
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
                    transmission.position_to_motor(float(p.position)),
                    p.time,
                    None if p.velocity is None else rate(float(p.velocity)),
                    None if p.acceleration is None else rate(float(p.acceleration)),
                )
                for p in self.waypoints
            ),
            self.repeat,
        )


class Hold(Payload, frozen=True, gc=False, tag=True):
    """Keep the present position, with force."""

    def problem(self) -> str | None:
        return None


class Stop(Payload, frozen=True, gc=False, tag=True):
    """Cease motion and go passive, at once or by slowing down. Not a safety function: that is disarming."""

    mode: Literal["immediate", "decelerate"] = "immediate"

    def problem(self) -> str | None:
        return None if self.mode in ("immediate", "decelerate") else f"mode must be 'immediate' or 'decelerate', got {self.mode!r}"


BUILT_IN: tuple[type[Payload], ...] = (Effort, Hold, Position, Stop, Trajectory, Velocity)
