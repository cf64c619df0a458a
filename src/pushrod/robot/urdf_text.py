"""A robot as the text of a URDF file. Read again, it is the same robot; what URDF has no words for stands where other tools pass over it."""

import json
from typing import Any
from xml.etree import ElementTree

from pushrod.robot.attachment import DIRECT, Actuator, Sensor
from pushrod.robot.description import (
    RESTARTS,
    Box,
    Collision,
    Cylinder,
    Joint,
    Limits,
    Link,
    Mesh,
    Origin,
    Parameter,
    Robot,
    Sphere,
    Transmission,
    Visual,
)
from pushrod.robot.link import HERE
from pushrod.robot.parameter import ParameterRef
from pushrod.robot.urdf_extension import FIELDS
from pushrod.robot.urdf_file import INERTIA

Xml = ElementTree.Element
ENDS = ("lower", "upper")


def to_urdf(robot: Robot) -> str:
    root = Xml("robot", name=robot.name)
    for link in robot.links:
        _link(root, link)
    values = {p.path: p.default for p in robot.parameters}
    for joint in robot.joints:
        _joint(root, joint, values)
    for actuator in robot.actuators:
        _transmission(root, actuator, values)
    extension = _extension(robot, values)
    if len(extension):
        root.append(extension)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _add(parent: Xml, tag: str, **attributes: Any) -> Xml:
    """A child with the attributes that are not None, numbers written so that they read the same again."""
    return ElementTree.SubElement(parent, tag, {key: _text(value) for key, value in attributes.items() if value is not None})


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    return value if isinstance(value, str) else repr(value)


def _origin(parent: Xml, origin: Origin) -> None:
    if origin != HERE:
        _add(parent, "origin", xyz=origin.xyz, rpy=origin.rpy)


def _link(root: Xml, link: Link) -> None:
    e = _add(root, "link", name=link.name)
    if link.inertial is not None:
        inertial = _add(e, "inertial")
        _origin(inertial, link.inertial.origin)
        _add(inertial, "mass", value=link.inertial.mass)
        _add(inertial, "inertia", **dict(zip(INERTIA, link.inertial.inertia, strict=True)))
    for visual in link.visuals:
        v = _shown(e, "visual", visual)
        if visual.material is not None:
            m = _add(v, "material", name=visual.material.name or None)
            if visual.material.color is not None:
                _add(m, "color", rgba=visual.material.color)
            if visual.material.texture is not None:
                _add(m, "texture", filename=visual.material.texture)
    for collision in link.collisions:
        _shown(e, "collision", collision)


def _shown(parent: Xml, tag: str, part: Visual | Collision) -> Xml:
    e = _add(parent, tag, name=part.name or None)
    _origin(e, part.origin)
    shape, g = part.geometry, _add(e, "geometry")
    if isinstance(shape, Box):
        _add(g, "box", size=shape.size)
    elif isinstance(shape, Cylinder):
        _add(g, "cylinder", radius=shape.radius, length=shape.length)
    elif isinstance(shape, Sphere):
        _add(g, "sphere", radius=shape.radius)
    elif isinstance(shape, Mesh):
        _add(g, "mesh", filename=shape.file, scale=shape.scale)
    return e


def _joint(root: Xml, joint: Joint, values: dict[str, Any]) -> None:
    e = _add(root, "joint", name=joint.name, type=joint.kind)
    _origin(e, joint.origin)
    _add(e, "parent", link=joint.parent)
    _add(e, "child", link=joint.child)
    if joint.axis is not None:
        _add(e, "axis", xyz=joint.axis)
    if joint.limits is not None:
        _limits(e, joint.limits, joint.kind in ("revolute", "prismatic"), values)
    if joint.dynamics is not None:
        _add(e, "dynamics", damping=_value(joint.dynamics.damping, values, 0.0), friction=_value(joint.dynamics.friction, values, 0.0))
    if joint.mimic is not None:
        _add(e, "mimic", joint=joint.mimic.joint, multiplier=joint.mimic.multiplier, offset=joint.mimic.offset)


def _limits(e: Xml, limits: Limits, bounded: bool, values: dict[str, Any]) -> None:
    found = {name: _value(getattr(limits, name), values, 0.0) for name in (*ENDS, "velocity", "acceleration", "effort")}
    unbounded = " ".join(end for end in ENDS if found[end] is None) if bounded else ""
    _add(e, "limit", **found, unbounded=unbounded or None)


def _value(x: Any, values: dict[str, Any], without: Any) -> Any:
    """What stands for a parameter where only a number can: its default."""
    if not isinstance(x, ParameterRef):
        return x
    default = values.get(x.path)
    return without if default is None else default


def _numbers(transmission: Transmission, values: dict[str, Any]) -> tuple[float, float, bool]:
    return (
        float(_value(transmission.reduction, values, 1.0)),
        float(_value(transmission.offset, values, 0.0)),
        bool(_value(transmission.reversed, values, False)),
    )


def _transmission(root: Xml, actuator: Actuator, values: dict[str, Any]) -> None:
    reduction, offset, backwards = _numbers(actuator.transmission, values)
    e = _add(root, "transmission", name=f"{actuator.name}_transmission")
    _add(e, "type").text = "transmission_interface/SimpleTransmission"
    joint = _add(e, "joint", name=actuator.joint)
    if offset != 0.0:
        _add(joint, "offset").text = repr(offset)
    _add(_add(e, "actuator", name=actuator.name), "mechanicalReduction").text = repr(-reduction if backwards else reduction)


def _extension(robot: Robot, values: dict[str, Any]) -> Xml:
    e = Xml("pushrod")
    for actuator in robot.actuators:
        _actuator(e, actuator)
    for sensor in robot.sensors:
        _sensor(e, sensor, values)
    for controller in robot.controllers:
        c = _add(e, "controller", name=controller.name, driver=controller.driver, simulation=controller.simulation)
        _options(c, controller.options)
    for parameter in robot.parameters:
        _parameter(e, parameter)
    for kind, items in (("joint", robot.joints), ("actuator", robot.actuators), ("sensor", robot.sensors)):
        for item in items:
            for field in FIELDS[kind]:
                record, _, key = field.partition(".")
                ref = getattr(getattr(item, record), key, None)
                if isinstance(ref, ParameterRef):
                    _add(e, "reference", **{kind: item.name}, field=field, parameter=ref.path)
    if robot.restarts != RESTARTS:
        _add(e, "restarts", restarts=robot.restarts.restarts, seconds=robot.restarts.seconds)
    return e


def _actuator(e: Xml, actuator: Actuator) -> None:
    if actuator == Actuator(actuator.name, actuator.joint, transmission=actuator.transmission):
        return
    a = _add(e, "actuator", name=actuator.name, driver=actuator.driver, limit_policy=actuator.limit_policy, restart=actuator.restart)
    _options(a, actuator.options)
    if actuator.watchdog is not None:
        _add(a, "watchdog", silence=actuator.watchdog.silence, reaction=str(actuator.watchdog.reaction))


def _sensor(e: Xml, sensor: Sensor, values: dict[str, Any]) -> None:
    s = _add(e, "sensor", name=sensor.name, driver=sensor.driver, link=sensor.link, joint=sensor.joint)
    _options(s, sensor.options)
    if sensor.transmission != DIRECT:
        _add(s, "transmission", **dict(zip(("reduction", "offset", "reversed"), _numbers(sensor.transmission, values), strict=True)))


def _options(e: Xml, options: Any) -> None:
    if options:
        _add(e, "options").text = json.dumps(options, default=_plain)


def _plain(value: Any) -> Any:
    return {"parameter": value.path} if isinstance(value, ParameterRef) else dict(value)


def _parameter(e: Xml, p: Parameter) -> None:
    json_of = {key: None if value is None else json.dumps(value) for key, value in (("default", p.default), ("lo", p.lo), ("hi", p.hi))}
    _add(e, "parameter", path=p.path, type=p.type, **json_of, unit=p.unit, doc=p.doc or None)
