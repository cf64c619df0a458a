"""Joints: how one link moves on another, within which limits. Angles in rad, lengths in m, and their rates; efforts in N.m or N."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from pushrod.robot.link import HERE, Origin, Vector, reals
from pushrod.robot.parameter import ParameterRef, real, set_field

Number = float | ParameterRef
Kind = Literal["revolute", "continuous", "prismatic", "planar", "floating", "fixed"]
Need = Literal["must", "may", "none"]


class Rules(NamedTuple):
    """What a kind of joint has: an axis, limits, lower and upper among them, dynamics; and whether a motor can drive it."""

    axis: Need
    limits: Need
    bounds: bool
    dynamics: bool
    actuated: bool


KINDS: dict[str, Rules] = {
    "revolute": Rules("may", "must", True, True, True),
    "continuous": Rules("may", "may", False, True, True),
    "prismatic": Rules("may", "must", True, True, True),
    "planar": Rules("must", "may", False, True, False),
    "floating": Rules("none", "none", False, False, False),
    "fixed": Rules("none", "none", False, False, False),
}

ANGULAR = {"position": "rad", "velocity": "rad/s", "acceleration": "rad/s2", "effort": "N.m", "damping": "N.m.s/rad", "friction": "N.m"}
LINEAR = {"position": "m", "velocity": "m/s", "acceleration": "m/s2", "effort": "N", "damping": "N.s/m", "friction": "N"}


def units(kind: str) -> dict[str, str]:
    """The units of what is said of a joint of this kind."""
    return ANGULAR if kind in ("revolute", "continuous") else LINEAR


@dataclass(frozen=True, slots=True, init=False)
class Limits:
    """Of a joint: position from lower to upper, magnitudes of velocity, acceleration and effort. None: not limited.

    A field may name a parameter until it is resolved.
    """

    lower: float | None
    upper: float | None
    velocity: float | None
    acceleration: float | None
    effort: float | None

    def __init__(
        self,
        lower: Number | None = None,
        upper: Number | None = None,
        velocity: Number | None = None,
        acceleration: Number | None = None,
        effort: Number | None = None,
    ) -> None:
        set_field(self, "lower", real(lower))
        set_field(self, "upper", real(upper))
        set_field(self, "velocity", real(velocity))
        set_field(self, "acceleration", real(acceleration))
        set_field(self, "effort", real(effort))


@dataclass(frozen=True, slots=True, init=False)
class Dynamics:
    """Damping [N.m.s/rad or N.s/m] and Coulomb friction [N.m or N] of a joint."""

    damping: float
    friction: float

    def __init__(self, damping: Number = 0.0, friction: Number = 0.0) -> None:
        set_field(self, "damping", real(damping))
        set_field(self, "friction", real(friction))


@dataclass(frozen=True, slots=True)
class Mimic:
    """The joint stands at multiplier times another joint, plus offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        set_field(self, "multiplier", real(self.multiplier))
        set_field(self, "offset", real(self.offset))


@dataclass(frozen=True, slots=True)
class Joint:
    """Child link on parent link. The axis lies in the joint's frame and need not be of length 1; not given, it is z.

    A planar joint moves in the plane its axis stands on. Fixed and floating joints have no axis.
    """

    name: str
    kind: Kind
    parent: str
    child: str
    origin: Origin = HERE
    axis: Vector | None = None
    limits: Limits | None = None
    dynamics: Dynamics | None = None
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        set_field(self, "axis", (0.0, 0.0, 1.0) if self.axis is None and actuated(self.kind) else reals(self.axis))

    @property
    def angular(self) -> bool:
        """Whether its positions are angles [rad]; else they are lengths [m]."""
        return units(self.kind) is ANGULAR


def actuated(kind: str) -> bool:
    """Whether a joint of this kind has one degree of freedom, which a motor can drive."""
    return kind in KINDS and KINDS[kind].actuated
