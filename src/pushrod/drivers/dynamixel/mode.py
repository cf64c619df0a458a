"""The operating modes, what each can be asked for, and two payloads of this driver's own.

A mode is a value in EEPROM that can be changed only while torque is off, so it is chosen by option, not by command. What a mode cannot do it does not
accept: the gate refuses it as unsupported.
"""

from typing import NamedTuple

from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission
from pushrod.runtime.payload import Effort, Hold, Payload, Position, Stop, Trajectory, Velocity, clip, number


class Current(Payload, frozen=True, gc=False, tag=True):
    """Drive a current [A], positive along the joint, for a duration [s] or until told otherwise. The servo's own current limit holds."""

    current: float
    duration: float | None = None

    def problem(self) -> str | None:
        return number("current", self.current) or Effort(0.0, self.duration).problem()

    def to_motor(self, transmission: Transmission) -> "Current":
        return Current(-self.current if transmission.reversed else self.current, self.duration)


class Duty(Payload, frozen=True, gc=False, tag=True):
    """Drive the bridge with a duty from -1 to 1, positive along the joint, for a duration [s] or until told otherwise."""

    duty: float
    duration: float | None = None

    def problem(self) -> str | None:
        return number("duty", self.duty) or Effort(0.0, self.duration).problem()

    def within(self, limits: Limits) -> "Duty":
        duty = clip(self.duty, -1.0, 1.0)
        return self if duty == self.duty else Duty(duty, self.duration)

    def to_motor(self, transmission: Transmission) -> "Duty":
        return Duty(-self.duty if transmission.reversed else self.duty, self.duration)


class Mode(NamedTuple):
    """`number`: Operating Mode. `positions`: it goes to positions, `turns` to either side of the middle at most."""

    name: str
    number: int
    payloads: tuple[type[Payload], ...]
    positions: bool = False
    turns: float = 256.0
    needs_current: bool = False


POSITIONS: tuple[type[Payload], ...] = (Position, Trajectory, Hold, Stop)
MODES = {
    mode.name: mode
    for mode in (
        Mode("position", 3, POSITIONS, positions=True, turns=0.5),
        Mode("extended_position", 4, POSITIONS, positions=True),
        Mode("current_position", 5, POSITIONS, positions=True, needs_current=True),
        Mode("velocity", 1, (Velocity, Hold, Stop)),
        Mode("current", 0, (Current, Stop), needs_current=True),
        Mode("pwm", 16, (Duty, Stop)),
    )
}
