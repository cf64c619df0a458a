"""What a robot is, as frozen data: links joined by joints into a tree, and what is attached to them. SI throughout; angles in rad.

A Robot that exists is sound: building one that is not raises a ConfigError that names everything wrong with it, by path.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pushrod.core.names import find
from pushrod.robot.link import HERE, Link, Origin, Vector, reals
from pushrod.robot.options import Frozen, freeze
from pushrod.robot.parameter import Parameter, ParameterRef, real, set_field
from pushrod.robot.transmission import Transmission
from pushrod.safety.restart import Budget
from pushrod.safety.watchdog import Watchdog

Kind = Literal["revolute", "continuous", "prismatic", "fixed", "planar", "floating"]
Number = float | ParameterRef

DIRECT = Transmission()
RESTARTS = Budget()


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
        set_field(self, "axis", (0.0, 0.0, 1.0) if self.axis is None and self.kind in ACTUATED else reals(self.axis))

    @property
    def angular(self) -> bool:
        """Whether its positions are angles [rad]; else they are lengths [m]."""
        return self.kind in ("revolute", "continuous")


ACTUATED = ("revolute", "continuous", "prismatic")  # the kinds with one degree of freedom, which a motor can drive


@dataclass(frozen=True, slots=True)
class Actuator:
    """What drives a joint. `driver` names a class, "package.module:Class", or an entry of the runtime's table; options are the driver's own.

    limit_policy: what becomes of a command beyond the limits. restart: whether a driver that died is started again.
    """

    name: str
    joint: str
    driver: str = ""
    options: Mapping[str, Any] = field(default_factory=Frozen)
    transmission: Transmission = DIRECT
    limit_policy: Literal["clamp", "reject"] = "clamp"
    watchdog: Watchdog | None = None
    restart: bool = True

    def __post_init__(self) -> None:
        set_field(self, "options", freeze(self.options))


@dataclass(frozen=True, slots=True)
class Sensor:
    """On a link, on a joint (then with a transmission), or on the robot as a whole."""

    name: str
    driver: str = ""
    options: Mapping[str, Any] = field(default_factory=Frozen)
    link: str | None = None
    joint: str | None = None
    transmission: Transmission = DIRECT

    def __post_init__(self) -> None:
        set_field(self, "options", freeze(self.options))


@dataclass(frozen=True, slots=True)
class Controller:
    """Something that runs beside the actuators. simulation: whether it is left out, replaced by a stand-in, or started when simulating."""

    name: str
    driver: str = ""
    options: Mapping[str, Any] = field(default_factory=Frozen)
    simulation: Literal["omit", "mock", "start"] = "omit"

    def __post_init__(self) -> None:
        set_field(self, "options", freeze(self.options))


@dataclass(frozen=True, slots=True)
class Robot:
    """`restarts`: how many restarts of its drivers within how many seconds are borne before all is disarmed."""

    name: str
    links: tuple[Link, ...] = ()
    joints: tuple[Joint, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    controllers: tuple[Controller, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    restarts: Budget = RESTARTS

    def __post_init__(self) -> None:
        set_field(self, "links", tuple(Link(link) if isinstance(link, str) else link for link in self.links))
        for name in ("joints", "actuators", "sensors", "controllers", "parameters"):
            set_field(self, name, tuple(getattr(self, name)))

    def link(self, name: str) -> Link:
        return find({link.name: link for link in self.links}, name, "link")

    def joint(self, name: str) -> Joint:
        return find({joint.name: joint for joint in self.joints}, name, "joint")

    def actuator(self, name: str) -> Actuator:
        return find({actuator.name: actuator for actuator in self.actuators}, name, "actuator")

    def sensor(self, name: str) -> Sensor:
        return find({sensor.name: sensor for sensor in self.sensors}, name, "sensor")
