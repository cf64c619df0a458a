"""Payloads of machines that have no joints to speak of: what a car, a spacecraft, a multirotor and a thruster are told."""

from typing import Annotated as A

from pushrod.core.quantity import Q
from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission
from pushrod.runtime.payload import Payload, clip, number
from pushrod.vehicles.gear import DRIVE, NAMES

FLIGHT = {"z": (0.0, 1e4), "roll": (-1.0, 1.0), "pitch": (-1.0, 1.0), "yaw": (-1e3, 1e3)}  # what a multirotor takes: m, rad
GEARS = frozenset(map(float, range(len(NAMES))))


class Actuation(Payload, frozen=True, gc=False, tag=True):
    """Two pedals [0 to 1], the steering wheel [rad] and the gear (a number, as the vehicles have it).

    The pedals are held within 0 and 1, the wheel within the limits of the joint the actuator is on: the steering wheel.
    """

    accel: A[float, Q("-")] = 0.0
    brake: A[float, Q("-")] = 0.0
    steer: A[float, Q("rad")] = 0.0
    gear: A[float, Q("-")] = DRIVE

    def problem(self) -> str | None:
        found = number("accel", self.accel) or number("brake", self.brake) or number("steer", self.steer) or number("gear", self.gear)
        return found or (None if self.gear in GEARS else f"gear must be a code from 0 to {len(NAMES) - 1}, got {self.gear!r}")

    def within(self, limits: Limits) -> "Actuation":
        accel, brake, steer = clip(self.accel, 0.0, 1.0), clip(self.brake, 0.0, 1.0), clip(self.steer, limits.lower, limits.upper)
        return self if (accel, brake, steer) == (self.accel, self.brake, self.steer) else Actuation(accel, brake, steer, self.gear)

    def to_motor(self, transmission: Transmission) -> "Actuation":
        steer = transmission.position_to_motor(self.steer)
        return self if steer == self.steer else Actuation(self.accel, self.brake, steer, self.gear)


class Torque(Payload, frozen=True, gc=False, tag=True):
    """Torques about the axes of a body [N.m], each held within the effort limit of the joint the actuator is on."""

    x: A[float, Q("N.m")] = 0.0
    y: A[float, Q("N.m")] = 0.0
    z: A[float, Q("N.m")] = 0.0

    def problem(self) -> str | None:
        return number("x", self.x) or number("y", self.y) or number("z", self.z)

    def within(self, limits: Limits) -> "Torque":
        most = limits.effort
        if most is None:
            return self
        x, y, z = clip(self.x, -most, most), clip(self.y, -most, most), clip(self.z, -most, most)
        return self if (x, y, z) == (self.x, self.y, self.z) else Torque(x, y, z)


class Attitude(Payload, frozen=True, gc=False, tag=True):
    """Where a body shall point: roll, pitch and yaw [rad]; its own controller turns it there."""

    roll: A[float, Q("rad")] = 0.0
    pitch: A[float, Q("rad")] = 0.0
    yaw: A[float, Q("rad")] = 0.0

    def problem(self) -> str | None:
        return number("roll", self.roll) or number("pitch", self.pitch) or number("yaw", self.yaw)


class Flight(Payload, frozen=True, gc=False, tag=True):
    """What a multirotor with its loops is told: the height [m] and the attitude [rad] to keep, pitch positive nose down.

    Held within what the world of the multirotor takes.
    """

    z: A[float, Q("m")] = 0.0
    roll: A[float, Q("rad")] = 0.0
    pitch: A[float, Q("rad")] = 0.0
    yaw: A[float, Q("rad")] = 0.0

    def problem(self) -> str | None:
        return number("z", self.z) or number("roll", self.roll) or number("pitch", self.pitch) or number("yaw", self.yaw)

    def within(self, limits: Limits) -> "Flight":
        held = Flight(*(clip(getattr(self, name), lo, hi) for name, (lo, hi) in FLIGHT.items()))
        return self if held == self else held


class Throttle(Payload, frozen=True, gc=False, tag=True):
    """What a thruster or a wheel motor is to give, as a share of what it can: -1 full astern, 0 rest, 1 full ahead."""

    u: A[float, Q("-")]

    def problem(self) -> str | None:
        return number("u", self.u)

    def within(self, limits: Limits) -> "Throttle":
        u = clip(self.u, -1.0, 1.0)
        return self if u == self.u else Throttle(u)

    def to_motor(self, transmission: Transmission) -> "Throttle":
        """A share is the same on both sides of a gearbox, but for the sense."""
        return Throttle(-self.u) if transmission.reversed else self
