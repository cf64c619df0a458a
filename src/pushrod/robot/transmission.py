"""What stands between a motor and its joint: a reduction, an offset, and perhaps a reversed sense.

    motor position = s r (joint position - o)        joint position = s motor position / r + o
    motor rate     = s r joint rate                  joint rate     = s motor rate / r          (velocity, acceleration)
    motor effort   = s joint effort / r              joint effort   = s r motor effort

    r  reduction [-], above 0: turns of the motor for one turn of the joint
    o  offset [rad or m]: where the joint stands when the motor stands at 0
    s  -1 where reversed, else 1

Power is the same on both sides: motor rate times motor effort is joint rate times joint effort.
"""

from dataclasses import dataclass

from pushrod.robot.parameter import ParameterRef, real, set_field


@dataclass(frozen=True, slots=True, init=False)
class Transmission:
    """Of one attachment: an actuator or a joint sensor. A field may name a parameter until it is resolved."""

    reduction: float = 1.0
    offset: float = 0.0
    reversed: bool = False

    def __init__(self, reduction: float | ParameterRef = 1.0, offset: float | ParameterRef = 0.0, reversed: bool | ParameterRef = False) -> None:
        set_field(self, "reduction", real(reduction))
        set_field(self, "offset", real(offset))
        set_field(self, "reversed", reversed)

    def position_to_motor(self, joint: float) -> float:
        return (-self.reduction if self.reversed else self.reduction) * (joint - self.offset)

    def position_to_joint(self, motor: float) -> float:
        return motor / (-self.reduction if self.reversed else self.reduction) + self.offset

    def rate_to_motor(self, joint: float) -> float:
        return (-self.reduction if self.reversed else self.reduction) * joint

    def rate_to_joint(self, motor: float) -> float:
        return motor / (-self.reduction if self.reversed else self.reduction)

    def effort_to_motor(self, joint: float) -> float:
        return joint / (-self.reduction if self.reversed else self.reduction)

    def effort_to_joint(self, motor: float) -> float:
        return (-self.reduction if self.reversed else self.reduction) * motor

    def homed_offset(self, motor: float, joint: float) -> float:
        """The offset [rad or m] with which the motor at this position means the joint at that one."""
        return joint - motor / (-self.reduction if self.reversed else self.reduction)
