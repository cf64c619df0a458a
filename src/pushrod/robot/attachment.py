"""What is attached to a robot: actuators, sensors and controllers. What a driver is, and what its options mean, the runtime knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pushrod.robot.options import Frozen, freeze
from pushrod.robot.parameter import real, set_field
from pushrod.robot.transmission import Transmission
from pushrod.safety.watchdog import Reaction, Watchdog

DIRECT = Transmission()


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
        if isinstance(self.watchdog, Watchdog):
            reaction: Any = self.watchdog.reaction
            set_field(self, "watchdog", Watchdog(real(self.watchdog.silence), Reaction(reaction) if reaction in list(Reaction) else reaction))


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
