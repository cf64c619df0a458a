"""What a robot is, as frozen data: links joined by joints into a tree, and what is attached to them. SI throughout; angles in rad.

A Robot that exists is sound: building one that is not raises a ConfigError that names everything wrong with it, by path.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pushrod.core.names import find
from pushrod.robot.attachment import DIRECT, Actuator, Controller, Sensor
from pushrod.robot.flaws import DescriptionError, flaws
from pushrod.robot.joint import Dynamics, Joint, Limits, Mimic
from pushrod.robot.link import Box, Collision, Cylinder, Geometry, Inertial, Link, Material, Mesh, Origin, Sphere, Visual
from pushrod.robot.parameter import Parameter, ParameterRef, set_field
from pushrod.robot.transmission import Transmission
from pushrod.safety.restart import Budget
from pushrod.safety.watchdog import Reaction, Watchdog

RESTARTS = Budget()


@dataclass(frozen=True, slots=True, init=False)
class Robot:
    """`restarts`: how many restarts of its drivers within how many seconds are borne before all is disarmed."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    actuators: tuple[Actuator, ...]
    sensors: tuple[Sensor, ...]
    controllers: tuple[Controller, ...]
    parameters: tuple[Parameter, ...]
    restarts: Budget

    def __init__(
        self,
        name: str,
        links: Iterable[Link | str] = (),
        joints: Iterable[Joint] = (),
        actuators: Iterable[Actuator] = (),
        sensors: Iterable[Sensor] = (),
        controllers: Iterable[Controller] = (),
        parameters: Iterable[Parameter] = (),
        restarts: Budget = RESTARTS,
    ) -> None:
        set_field(self, "name", name)
        set_field(self, "links", tuple(Link(link) if isinstance(link, str) else link for link in links))
        set_field(self, "joints", tuple(joints))
        set_field(self, "actuators", tuple(actuators))
        set_field(self, "sensors", tuple(sensors))
        set_field(self, "controllers", tuple(controllers))
        set_field(self, "parameters", tuple(parameters))
        set_field(self, "restarts", restarts)
        found = flaws(self)
        if found:
            raise DescriptionError(found)

    def link(self, name: str) -> Link:
        return find({link.name: link for link in self.links}, name, "link")

    def joint(self, name: str) -> Joint:
        return find({joint.name: joint for joint in self.joints}, name, "joint")

    def actuator(self, name: str) -> Actuator:
        return find({actuator.name: actuator for actuator in self.actuators}, name, "actuator")

    def sensor(self, name: str) -> Sensor:
        return find({sensor.name: sensor for sensor in self.sensors}, name, "sensor")


__all__ = [
    "DIRECT",
    "Actuator",
    "Box",
    "Budget",
    "Collision",
    "Controller",
    "Cylinder",
    "Dynamics",
    "Geometry",
    "Inertial",
    "Joint",
    "Limits",
    "Link",
    "Material",
    "Mesh",
    "Mimic",
    "Origin",
    "Parameter",
    "ParameterRef",
    "Reaction",
    "Robot",
    "Sensor",
    "Sphere",
    "Transmission",
    "Visual",
    "Watchdog",
]
