"""A robot from a YAML file. Keys are the names of the fields; numbers are SI, or text with a unit.

robot: arm
links: [base, upper]                    or a mapping with inertial, visuals, collisions
joints:
  shoulder:
    kind: revolute
    parent: base
    child: upper
    origin: {xyz: [0, 0, 10 cm], rpy: [0, 0, 90 deg]}
    axis: [0, 1, 0]
    limits: {lower: -90 deg, upper: 90 deg, velocity: 60 deg/s, effort: 10 N.m}
actuators:
  motor:
    joint: shoulder
    driver: my_package.my_driver:MyDriver
    transmission: {reduction: 50, offset: {parameter: shoulder.zero}, reversed: true}
parameters:
  shoulder.zero: {default: 0 deg, unit: rad, doc: where the motor's zero lies}
"""

from pathlib import Path
from typing import Any

from pushrod.config import yaml_file
from pushrod.config.quantity_schema import DIALECT, Schema
from pushrod.config.structure import WRONG, named, number_of
from pushrod.config.yaml_file import Document
from pushrod.robot.description import (
    Actuator,
    Box,
    Budget,
    Collision,
    Controller,
    Cylinder,
    Dynamics,
    Inertial,
    Joint,
    Limits,
    Link,
    Material,
    Mesh,
    Mimic,
    Origin,
    Parameter,
    Reaction,
    Robot,
    Sensor,
    Sphere,
    Transmission,
    Visual,
    Watchdog,
)
from pushrod.robot.findings import DescriptionError
from pushrod.robot.joint import KINDS, units
from pushrod.robot.parameter_flaws import CLASSES
from pushrod.robot.shape import ListOf, Named, Number, Numbers, OneOf, Options, Place, Record, Shape, Switch, Text, Variant, Whole


def _of_joint(value: dict[str, Any], place: Place) -> Place:
    """Inside a joint the kind says whether positions are angles or lengths."""
    return _of_kind(value.get("kind"), place, "")


def _of_attachment(value: dict[str, Any], place: Place) -> Place:
    """Inside an actuator or a sensor the joint it is on says it."""
    name = value.get("joint")
    joints = place.document.data.get("joints")
    joint = joints.get(name) if isinstance(joints, dict) and isinstance(name, str) else None
    return _of_kind(joint.get("kind") if isinstance(joint, dict) else None, place, f" {name!r}")


def _of_kind(kind: Any, place: Place, name: str) -> Place:
    if not isinstance(kind, str) or kind not in KINDS:
        return place._replace(units=dict.fromkeys(units("revolute"), ""))  # any unit: what is wrong is noted elsewhere
    return place._replace(units=units(kind), why=f"; joint{name or f' {place.at[-1]!r}'} is {kind}")


class Value:
    """A default or a bound: a quantity where the parameter is a real number, else as it stands."""

    def read(self, value: Any, place: Place) -> Any:
        if place.units["type"] == "float":
            return number_of(place.units["unit"], value, place.at, place.document)
        return place.wrong(f"must be a single value, got {named(value)}") if isinstance(value, (dict, list)) else value

    def schema(self) -> Schema:
        return {"type": ["number", "string", "boolean"], "description": "a number in SI or text with a unit; or as the type says"}


def _of_parameter(value: dict[str, Any], place: Place) -> Place:
    kind, unit = value.get("type") or "float", value.get("unit") or "-"
    return place._replace(units={"type": kind if isinstance(kind, str) else "", "unit": unit if isinstance(unit, str) else ""})


ORIGIN = Record(
    Origin, "a frame in its parent's", {"xyz": Numbers(3, "m", "position"), "rpy": Numbers(3, "rad", "roll, pitch, yaw about fixed axes")}
)
GEOMETRY = Variant(
    {
        "box": Record(Box, "", {"size": Numbers(3, "m", "lengths along x, y, z")}, ("size",)),
        "cylinder": Record(Cylinder, "about z", {"radius": Number("m", "radius"), "length": Number("m", "length")}, ("radius", "length")),
        "sphere": Record(Sphere, "", {"radius": Number("m", "radius")}, ("radius",)),
        "mesh": Record(Mesh, "", {"file": Text("name or address of a file"), "scale": Numbers(3, "-", "along x, y, z")}, ("file",)),
    }
)
MATERIAL = Record(Material, "", {"name": Text("name"), "color": Numbers(4, "-", "red, green, blue, opacity: 0 to 1"), "texture": Text("file")})
SHOWN: dict[str, Shape] = {"geometry": GEOMETRY, "origin": ORIGIN, "name": Text("name")}
LINK = Record(
    Link,
    "a rigid body",
    {
        "inertial": Record(
            Inertial,
            "mass and inertia about the centre of mass",
            {"mass": Number("kg", "mass"), "inertia": Numbers(6, "kg.m2", "ixx, ixy, ixz, iyy, iyz, izz"), "origin": ORIGIN},
            ("mass",),
        ),
        "visuals": ListOf(Record(Visual, "how it looks", {**SHOWN, "material": MATERIAL}, ("geometry",))),
        "collisions": ListOf(Record(Collision, "what can be hit", SHOWN, ("geometry",))),
    },
)
LIMITS = Record(
    Limits,
    "within which a joint moves",
    {
        "lower": Number("position", "least position", True),
        "upper": Number("position", "greatest position", True),
        "velocity": Number("velocity", "greatest speed", True),
        "acceleration": Number("acceleration", "greatest acceleration", True),
        "effort": Number("effort", "greatest torque or force", True),
    },
)
JOINT = Record(
    Joint,
    "how a child link moves on its parent",
    {
        "kind": OneOf(tuple(KINDS), "kind of joint"),
        "parent": Text("name of a link"),
        "child": Text("name of a link"),
        "origin": ORIGIN,
        "axis": Numbers(3, "-", "in the joint's frame; z if not given"),
        "limits": LIMITS,
        "dynamics": Record(Dynamics, "", {"damping": Number("damping", "viscous", True), "friction": Number("friction", "Coulomb", True)}),
        "mimic": Record(
            Mimic,
            "follows another joint",
            {"joint": Text("name"), "multiplier": Number("-", "times its position"), "offset": Number("position", "plus")},
            ("joint",),
        ),
    },
    ("kind", "parent", "child"),
    _of_joint,
)
TRANSMISSION = Record(
    Transmission,
    "between motor and joint",
    {
        "reduction": Number("-", "turns of the motor for one of the joint, above 0", True),
        "offset": Number("position", "where the joint stands when the motor stands at 0", True),
        "reversed": Switch("the motor turns the other way", True),
    },
)
DRIVER: dict[str, Shape] = {"driver": Text("package.module:Class, or a name the runtime knows"), "options": Options("what the driver takes")}
WATCHDOG = Record(
    Watchdog,
    "what happens when commands stop",
    {"silence": Number("s", "longest time without a command"), "reaction": OneOf(tuple(Reaction), "what the actuator then does")},
    ("silence",),
)
ACTUATOR = Record(
    Actuator,
    "what drives a joint",
    {
        "joint": Text("name of a revolute, continuous or prismatic joint"),
        **DRIVER,
        "transmission": TRANSMISSION,
        "limit_policy": OneOf(("clamp", "reject"), "what becomes of a command beyond the limits"),
        "watchdog": WATCHDOG,
        "restart": Switch("whether a driver that died is started again"),
    },
    ("joint",),
    _of_attachment,
)
SENSOR = Record(
    Sensor,
    "on a link, a joint, or the robot",
    {"link": Text("name of a link"), "joint": Text("name of a joint"), **DRIVER, "transmission": TRANSMISSION},
    (),
    _of_attachment,
)
CONTROLLER = Record(Controller, "runs beside the actuators", {**DRIVER, "simulation": OneOf(("omit", "mock", "start"), "what it is when simulating")})
PARAMETER = Record(
    Parameter,
    "a value that may change while the robot runs",
    {
        "type": OneOf(tuple(CLASSES), "float if not given"),
        "default": Value(),
        "lo": Value(),
        "hi": Value(),
        "unit": Text("SI unit, such as N.m"),
        "doc": Text("one line about it"),
    },
    (),
    _of_parameter,
)
ROBOT = Record(
    lambda **parts: parts,
    "a robot",
    {
        "robot": Text("name of the robot"),
        "links": Named(LINK, bare=True),
        "joints": Named(JOINT),
        "actuators": Named(ACTUATOR),
        "sensors": Named(SENSOR),
        "controllers": Named(CONTROLLER),
        "parameters": Named(PARAMETER),
        "restarts": Record(
            Budget, "borne before all is disarmed", {"restarts": Whole("so many restarts of drivers"), "seconds": Number("s", "within")}
        ),
    },
    ("robot",),
)


def load_yaml(file: Path) -> Robot:
    return read_yaml(yaml_file.load(file, hold=True))


def read_yaml(document: Document) -> Robot:
    """The robot a document describes; ConfigError names everything wrong with it, by file, line and path."""
    parts = ROBOT.read(document.data, Place(document, (), {}))
    name = parts.pop("robot")
    if WRONG in (parts.get("links"), parts.get("joints")):
        document.raise_problems()  # without either, everything else would seem wrong as well
    return sound(document, name, {key: value for key, value in parts.items() if value is not WRONG})


def sound(document: Document, name: Any, parts: dict[str, Any]) -> Robot:
    """The robot made of its parts; what is wrong with it is told by the lines of the document, together with what could not be read."""
    try:
        robot: Robot | None = Robot(name, **parts)
    except DescriptionError as e:
        robot = None
        for at, what in e.flaws:
            document.add(at, what)
    document.raise_problems()
    assert robot is not None
    return robot


def schema() -> Schema:
    """The JSON Schema of a robot file."""
    return {"$schema": DIALECT, "title": "a Pushrod robot", **ROBOT.schema()}
