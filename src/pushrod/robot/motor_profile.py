"""The limits of a joint as its motor sees them, through the transmission.

Lower and upper change places where the transmission is reversed; rates and effort are magnitudes. The motor starts in the
middle of its range, or at 0 where an end of it is open.
"""

from dataclasses import dataclass

from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission


@dataclass(frozen=True, slots=True)
class MotorProfile:
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    acceleration: float | None = None
    effort: float | None = None
    initial: float = 0.0

    @staticmethod
    def of(limits: Limits | None, transmission: Transmission | None = None) -> "MotorProfile":
        """Of limits and a transmission that name no parameters any more."""
        if limits is None:
            return MotorProfile()
        t = transmission or Transmission()
        lower = None if limits.lower is None else t.position_to_motor(limits.lower)
        upper = None if limits.upper is None else t.position_to_motor(limits.upper)
        if t.reversed:
            lower, upper = upper, lower
        return MotorProfile(
            lower,
            upper,
            None if limits.velocity is None else abs(t.rate_to_motor(limits.velocity)),
            None if limits.acceleration is None else abs(t.rate_to_motor(limits.acceleration)),
            None if limits.effort is None else abs(t.effort_to_motor(limits.effort)),
            0.0 if lower is None or upper is None else lower + 0.5 * (upper - lower),
        )
