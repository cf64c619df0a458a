"""Everything that is wrong with a robot: names, the tree, every joint and link, every attachment, every parameter."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pushrod.config.structure import WRONG
from pushrod.config.yaml_file import Keys
from pushrod.robot.attachment import Actuator, Controller, Sensor
from pushrod.robot.attachment_flaws import actuator_flaws, controller_flaws, sensor_flaws
from pushrod.robot.findings import DescriptionError, Findings, Flaw
from pushrod.robot.joint import Joint
from pushrod.robot.joint_flaws import joint_flaws, mimic_flaws
from pushrod.robot.link import Link
from pushrod.robot.link_flaws import link_flaws
from pushrod.robot.parameter import Parameter
from pushrod.robot.parameter_flaws import defaults, parameter_flaws
from pushrod.safety.restart import Budget

if TYPE_CHECKING:
    from pushrod.robot.description import Robot

__all__ = ["DescriptionError", "flaws"]

SECTIONS = {"links": Link, "joints": Joint, "actuators": Actuator, "sensors": Sensor, "controllers": Controller}


def flaws(robot: "Robot", values: Mapping[str, Any] | None = None) -> list[Flaw]:
    """All of them, in the order of the sections; with these values of its parameters, or else with their defaults."""
    sound = [p for p in robot.parameters if isinstance(p, Parameter)]
    f = Findings({p.path: p for p in sound if isinstance(p.path, str)}, defaults(sound) if values is None else values)
    _classes(robot, f)
    if f.found:
        return f.found
    _name(("robot",), robot.name, f)
    _unique(robot, f)
    for at, link in _items("links", robot.links):
        link_flaws(at, link, f)
    joints = {joint.name: joint for joint in robot.joints}
    driven = {actuator.joint: actuator.name for actuator in robot.actuators}
    for at, joint in _items("joints", robot.joints):
        joint_flaws(at, joint, driven.get(joint.name), f)
    mimic_flaws(joints, f)
    _tree(robot, f)
    for at, actuator in _items("actuators", robot.actuators):
        actuator_flaws(at, actuator, joints, f)
    links = {link.name: link for link in robot.links}
    for at, sensor in _items("sensors", robot.sensors):
        sensor_flaws(at, sensor, links, joints, f)
    for at, controller in _items("controllers", robot.controllers):
        controller_flaws(at, controller, f)
    parameter_flaws(robot.parameters, f)
    if f.is_a(("restarts",), robot.restarts, Budget):
        restarts = robot.restarts.restarts
        if f.number(("restarts", "restarts"), restarts, "-", lo=0.0) is not None and not isinstance(restarts, int):
            f.add(("restarts", "restarts"), f"must be a whole number, got {restarts}")
        f.number(("restarts", "seconds"), robot.restarts.seconds, "s", above=0.0)
    return f.found


def _items(section: str, items: tuple[Any, ...]) -> Iterator[tuple[Keys, Any]]:
    """Each with its path; one without a usable name by its place."""
    for i, item in enumerate(items):
        yield (section, item.name if isinstance(item.name, str) and item.name else i), item


def _classes(robot: "Robot", f: Findings) -> None:
    """Without the right classes nothing further can be asked."""
    for section, kind in (*SECTIONS.items(), ("parameters", Parameter)):
        for i, item in enumerate(getattr(robot, section)):
            f.is_a((section, i), item, kind)


def _name(at: Keys, name: Any, f: Findings) -> None:
    if name is WRONG:
        return
    if not isinstance(name, str) or not name or name != name.strip() or "/" in name or not name.isprintable():
        f.add(at, f"{name!r} is not a name: write one line of text without '/' and without spaces around it")


def _unique(robot: "Robot", f: Findings) -> None:
    seen: dict[str, str] = {}
    for section in SECTIONS:
        for at, item in _items(section, getattr(robot, section)):
            _name(at, item.name, f)
            if isinstance(item.name, str) and item.name in seen:
                f.add(at, f"{item.name!r} is already the name of one of the {seen[item.name]}; names are unique in a robot")
            elif isinstance(item.name, str):
                seen[item.name] = section


def _tree(robot: "Robot", f: Findings) -> None:
    """One root, every other link the child of one joint, no cycle."""
    links = {link.name: link for link in robot.links}
    joint_above: dict[str, Joint] = {}
    complete = True
    for at, joint in _items("joints", robot.joints):
        known = [f.known((*at, end), getattr(joint, end), links, "link") for end in ("parent", "child")]
        if not known[1]:
            complete = False
        elif joint.child in joint_above:
            f.add((*at, "child"), f"link {joint.child!r} is already the child of joint {joint_above[joint.child].name!r}; a link has one parent")
        else:
            joint_above[joint.child] = joint
    _cycles(joint_above, f)
    roots = [link.name for link in robot.links if link.name not in joint_above]
    if complete and len(roots) > 1:
        for name in roots[1:]:
            f.add(("links", name), f"{name!r} is a second root beside {roots[0]!r}: no joint has it as its child; a robot is one tree")


def _cycles(joint_above: dict[str, Joint], f: Findings) -> None:
    done: set[str] = set()
    for start in joint_above:
        way: list[str] = []
        link = start
        while link in joint_above and link not in done and link not in way:
            way.append(link)
            link = joint_above[link].parent
        if link in way:
            ring = [link, *reversed(way[way.index(link) :])]
            f.add(("joints", joint_above[ring[-1]].name), f"the links {' -> '.join(ring)} form a cycle; a robot is a tree")
        done.update(way)
