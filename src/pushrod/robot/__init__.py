"""The description of a robot: frozen data from Python, YAML or URDF; its parameters; where its links are.

arm = robot.load("arm.yaml")                       or robot.Robot("arm", links=[...], joints=[...], actuators=[...])
store = robot.Store.of(arm, persisted="arm.json")
limits = robot.resolve(arm.joint("shoulder").limits, store)
"""

from pushrod.robot.description import (
    Actuator,
    Box,
    Budget,
    Collision,
    Controller,
    Cylinder,
    Dynamics,
    Geometry,
    Inertial,
    Joint,
    Limits,
    Link,
    Material,
    Mesh,
    Mimic,
    Origin,
    Parameter,
    ParameterRef,
    Reaction,
    Robot,
    Sensor,
    Sphere,
    Transmission,
    Visual,
    Watchdog,
)
from pushrod.robot.homing import home
from pushrod.robot.kinematics import Transform, forward
from pushrod.robot.loading import load
from pushrod.robot.motor_profile import MotorProfile
from pushrod.robot.path import actuator_paths, find, paths
from pushrod.robot.reference import references, resolve
from pushrod.robot.robot_file import schema
from pushrod.robot.store import Change, Entry, Store
from pushrod.robot.urdf_text import to_urdf

__all__ = [
    "Actuator",
    "Box",
    "Budget",
    "Change",
    "Collision",
    "Controller",
    "Cylinder",
    "Dynamics",
    "Entry",
    "Geometry",
    "Inertial",
    "Joint",
    "Limits",
    "Link",
    "Material",
    "Mesh",
    "Mimic",
    "MotorProfile",
    "Origin",
    "Parameter",
    "ParameterRef",
    "Reaction",
    "Robot",
    "Sensor",
    "Sphere",
    "Store",
    "Transform",
    "Transmission",
    "Visual",
    "Watchdog",
    "actuator_paths",
    "find",
    "forward",
    "home",
    "load",
    "paths",
    "references",
    "resolve",
    "schema",
    "to_urdf",
]
