"""Every mistake in a description is told by file, line and path, all at once; from Python by path."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError
from pushrod.robot import (
    Actuator,
    Box,
    Budget,
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
    ParameterRef,
    Robot,
    Sensor,
    Sphere,
    Transmission,
    Visual,
    Watchdog,
    load,
)
from pushrod.robot.robot_file import read_yaml
from pushrod.robot.urdf_file import read_urdf
from pushrod.robot.xml_file import parse

FINE = Limits(-1, 1, 1, effort=1)
NAN, INF = float("nan"), float("inf")


def of_joint(*joints, **more):
    return lambda: Robot("r", ["a", "b"], joints, **more)


def with_limits(*numbers, kind="revolute", **more):
    return of_joint(Joint("j", kind, "a", "b", limits=Limits(*numbers, **more)))


def with_actuator(kind="continuous", parameters=(), **more):
    limits = FINE if kind in ("revolute", "prismatic") else None
    return of_joint(Joint("j", kind, "a", "b", limits=limits), actuators=[Actuator("m", "j", **more)], parameters=parameters)


def with_parameter(*parameters):
    return lambda: Robot("r", parameters=parameters)


def with_link(**more):
    return lambda: Robot("r", [Link("a", **more)])


PYTHON = {
    "no name": (lambda: Robot(""), "robot: '' is not a name"),
    "slash in a name": (lambda: Robot("r", ["a/b"]), "links.a/b: 'a/b' is not a name"),
    "name twice": (lambda: Robot("r", ["a", "a"]), "links.a: 'a' is already the name of one of the links"),
    "name of a link and a joint": (of_joint(Joint("b", "fixed", "a", "b")), "joints.b: 'b' is already the name of one of the links"),
    "unknown link": (of_joint(Joint("j", "fixed", "a", "c")), "joints.j.child: there is no link named 'c'"),
    "unknown parent": (of_joint(Joint("j", "fixed", "c", "b")), "joints.j.parent: there is no link named 'c'"),
    "cycle": (of_joint(Joint("j", "fixed", "a", "b"), Joint("k", "fixed", "b", "a")), "form a cycle"),
    "own child": (lambda: Robot("r", ["a"], [Joint("j", "fixed", "a", "a")]), "joints.j: the links a -> a form a cycle"),
    "two roots": (lambda: Robot("r", ["a", "b"]), "links.b: 'b' is a second root beside 'a'"),
    "two parents": (
        lambda: Robot("r", ["a", "b", "c"], [Joint("j", "fixed", "a", "c"), Joint("k", "fixed", "b", "c"), Joint("l", "fixed", "a", "b")]),
        "joints.k.child: link 'c' is already the child of joint 'j'",
    ),
    "kind": (of_joint(Joint("j", "hinge", "a", "b")), "joints.j.kind: must be one of revolute, continuous"),
    "lower above upper": (with_limits(2, 1, 1, effort=1), "joints.j.limits.lower: lower 2 rad exceeds upper 1 rad"),
    "no limits": (of_joint(Joint("j", "revolute", "a", "b")), "joints.j.limits: a revolute joint needs limits"),
    "no velocity": (with_limits(effort=1), "joints.j.limits.velocity: a limit of velocity [rad/s] is missing"),
    "no effort": (with_limits(velocity=1, kind="prismatic"), "joints.j.limits.effort: a limit of effort [N] is missing"),
    "limits of a fixed joint": (with_limits(kind="fixed"), "joints.j.limits: a fixed joint has no limits"),
    "limits of a floating joint": (with_limits(kind="floating"), "joints.j.limits: a floating joint has no limits"),
    "bounds of a continuous joint": (with_limits(0, 1, 1, effort=1, kind="continuous"), "joints.j.limits.lower: a continuous joint has no lower"),
    "negative velocity": (with_limits(0, 1, -1, effort=1), "joints.j.limits.velocity: must be at least 0 rad/s, got -1"),
    "zero velocity": (
        of_joint(Joint("j", "revolute", "a", "b", limits=Limits(0, 1, 0, effort=1)), actuators=[Actuator("m", "j")]),
        "joints.j.limits.velocity: is 0 rad/s, so actuator 'm' could never move the joint",
    ),
    "not a number": (with_limits(NAN, 1, 1, effort=1), "joints.j.limits.lower: nan is not a finite number [rad]"),
    "infinite": (with_limits(0, 1, INF, effort=1), "joints.j.limits.velocity: inf is not a finite number [rad/s]"),
    "beyond all numbers": (with_limits(0, 10**400, 1, effort=1), "joints.j.limits.upper: a whole number of 401 digits is too large"),
    "text": (with_limits("90 deg", 1, 1, effort=1), "joints.j.limits.lower: must be a number [rad], got text '90 deg'; only files take text"),
    "flag for a number": (with_limits(True, 1, 1, effort=1), "joints.j.limits.lower: must be a number [rad], got true"),
    "limits as a dict": (of_joint(Joint("j", "revolute", "a", "b", limits={"lower": 1})), "joints.j.limits: must be a Limits, got a mapping"),
    "axis of length 0": (of_joint(Joint("j", "continuous", "a", "b", axis=(0, 0, 0))), "joints.j.axis: must not be of length 0"),
    "axis of two": (of_joint(Joint("j", "continuous", "a", "b", axis=(0, 1))), "joints.j.axis: must be 3 numbers, got 2"),
    "axis of a fixed joint": (of_joint(Joint("j", "fixed", "a", "b", axis=(0, 0, 1))), "joints.j.axis: a fixed joint has no axis"),
    "no axis of a plane": (of_joint(Joint("j", "planar", "a", "b")), "joints.j.axis: a planar joint needs the axis its plane stands on"),
    "dynamics of a fixed joint": (of_joint(Joint("j", "fixed", "a", "b", dynamics=Dynamics())), "joints.j.dynamics: a fixed joint has no dynamics"),
    "negative friction": (
        of_joint(Joint("j", "continuous", "a", "b", dynamics=Dynamics(0, -1))),
        "joints.j.dynamics.friction: must be at least 0 N.m",
    ),
    "origin": (of_joint(Joint("j", "fixed", "a", "b", Origin((0, NAN, 0)))), "joints.j.origin.xyz[1]: nan is not a finite number [m]"),
    "mimics nobody": (of_joint(Joint("j", "continuous", "a", "b", mimic=Mimic("k"))), "joints.j.mimic.joint: there is no joint named 'k'"),
    "mimics itself": (of_joint(Joint("j", "continuous", "a", "b", mimic=Mimic("j"))), "joints.j.mimic.joint: the joints j -> j follow each other"),
    "fixed mimics": (of_joint(Joint("j", "fixed", "a", "b", mimic=Mimic("j"))), "joints.j.mimic: joint 'j' is fixed"),
    "unknown joint": (of_joint(Joint("j", "fixed", "a", "b"), actuators=[Actuator("m", "k")]), "actuators.m.joint: there is no joint named 'k'"),
    "fixed joint driven": (with_actuator("fixed"), "actuators.m.joint: joint 'j' is fixed, which no actuator can drive"),
    "floating joint driven": (with_actuator("floating"), "actuators.m.joint: joint 'j' is floating, which no actuator can drive"),
    "reduction 0": (with_actuator(transmission=Transmission(0)), "actuators.m.transmission.reduction: must be above 0, got 0"),
    "reduction negative": (with_actuator(transmission=Transmission(-2)), "got -2; for a motor that turns the other way set reversed"),
    "reduction infinite": (with_actuator(transmission=Transmission(INF)), "actuators.m.transmission.reduction: inf is not a finite number"),
    "reversed by number": (with_actuator(transmission=Transmission(1, 0, 1)), "actuators.m.transmission.reversed: must be true or false"),
    "reserved option": (with_actuator(options={"context": 1}), "actuators.m.options.context: is a reserved name"),
    "option not a number": (with_actuator(options={"a": [1, {"b": NAN}]}), "actuators.m.options.a[1].b: nan is not a finite number"),
    "option not plain": (with_actuator(options={"a": object()}), "actuators.m.options.a: must be a number, text, true or false"),
    "option name": (with_actuator(options={1: 2}), "actuators.m.options: the name of an option is text, got a whole number 1"),
    "limit policy": (with_actuator(limit_policy="ignore"), "actuators.m.limit_policy: must be one of clamp, reject, got text 'ignore'"),
    "watchdog": (with_actuator(watchdog=Watchdog(0.0)), "actuators.m.watchdog.silence: must be above 0 s, got 0"),
    "reaction": (with_actuator(watchdog=Watchdog(1.0, "panic")), "actuators.m.watchdog.reaction: must be one of hold, ramp, damp, release"),
    "unknown parameter": (with_actuator(options={"a": ParameterRef("x.y")}), "actuators.m.options.a: there is no parameter named 'x.y'"),
    "parameter in another unit": (
        with_actuator(parameters=[Parameter("zero", float, 1, unit="m")], transmission=Transmission(1, ParameterRef("zero"))),
        "actuators.m.transmission.offset: parameter zero is in m; wanted is rad",
    ),
    "parameter of another type": (
        with_actuator(parameters=[Parameter("zero", str, "x")], transmission=Transmission(1, ParameterRef("zero"))),
        "actuators.m.transmission.offset: parameter zero is of type str; wanted is float",
    ),
    "default that does not fit": (
        with_actuator(parameters=[Parameter("r", float, 0)], transmission=Transmission(ParameterRef("r"))),
        "actuators.m.transmission.reduction: must be above 0, got 0",
    ),
    "sensor on two": (
        of_joint(Joint("j", "fixed", "a", "b"), sensors=[Sensor("s", link="a", joint="j")]),
        "sensors.s.link: a sensor is on a link or",
    ),
    "sensor nowhere": (lambda: Robot("r", sensors=[Sensor("s", link="a")]), "sensors.s.link: there is no link named 'a'; known: none"),
    "sensor geared to nothing": (
        lambda: Robot("r", ["a"], sensors=[Sensor("s", link="a", transmission=Transmission(2))]),
        "sensors.s.transmission: only a",
    ),
    "simulation": (lambda: Robot("r", controllers=[Controller("c", simulation="yes")]), "controllers.c.simulation: must be one of omit, mock, start"),
    "parameter path": (with_parameter(Parameter("a..b")), "parameters.a..b: 'a..b' is not the path of a parameter"),
    "parameter twice": (with_parameter(Parameter("a"), Parameter("a")), "parameters.a: this parameter is declared twice"),
    "parameter and group": (
        with_parameter(Parameter("a"), Parameter("a.b")),
        "parameters.a.b: a parameter cannot be a group as well, as 'a' would be",
    ),
    "parameter type": (with_parameter(Parameter("a", "complex")), "parameters.a.type: must be one of float, int, bool, str"),
    "lo above hi": (with_parameter(Parameter("a", float, None, 2, 1)), "parameters.a.lo: lo 2.0 exceeds hi 1.0"),
    "default outside": (with_parameter(Parameter("a", float, 3, 0, 1)), "parameters.a.default: must be at most 1.0, got 3.0"),
    "default of another type": (with_parameter(Parameter("a", int, 1.5)), "parameters.a.default: must be a whole number, got a number 1.5"),
    "switch without its type": (
        with_parameter(Parameter("flag", default=True)),
        "parameters.flag.default: must be a number, got true; for true or false give type='bool'",
    ),
    "word without its type": (with_parameter(Parameter("a", default="slow")), "got text 'slow'; for text give type='str'"),
    "default as text": (with_parameter(Parameter("a", float, "3 m", unit="m")), "parameters.a.default: must be a number [m], got text '3 m'"),
    "bounds of a switch": (with_parameter(Parameter("a", bool, True, 0, 1)), "parameters.a.lo: a parameter of type bool has no bounds"),
    "bound of a whole number": (with_parameter(Parameter("a", int, 1, 0.5)), "parameters.a.lo: the bound of a whole number is a whole number"),
    "unit of a word": (with_parameter(Parameter("a", str, "", unit="m")), "parameters.a.unit: a parameter of type str has no unit"),
    "unit that is none": (with_parameter(Parameter("a", float, unit="foo")), "parameters.a.unit: unknown unit 'foo'"),
    "unit not SI": (with_parameter(Parameter("a", float, unit="deg")), "parameters.a.unit: 'deg' is not an SI unit"),
    "mass": (with_link(inertial=Inertial(-1)), "links.a.inertial.mass: must be at least 0 kg, got -1"),
    "inertia": (with_link(inertial=Inertial(1, (-1, 0, 0, 1, 0, 1))), "links.a.inertial.inertia: ixx, iyy and izz must be at least 0"),
    "shape": (with_link(visuals=[Visual("ball")]), "links.a.visuals[0].geometry: must be a Box, Cylinder, Sphere or Mesh, got text 'ball'"),
    "size": (with_link(visuals=[Visual(Box((1, 1, -1)))]), "links.a.visuals[0].geometry.size[2]: must be at least 0 m, got -1"),
    "radius": (with_link(visuals=[Visual(Sphere(NAN))]), "links.a.visuals[0].geometry.radius: nan is not a finite number"),
    "length": (with_link(visuals=[Visual(Cylinder(1, -1))]), "links.a.visuals[0].geometry.length: must be at least 0 m"),
    "mesh": (with_link(visuals=[Visual(Mesh("a\nb"))]), "links.a.visuals[0].geometry.file: must be one line of text"),
    "colour": (with_link(visuals=[Visual(Sphere(1), material=Material("x", (0, 0, 2, 1)))]), "links.a.visuals[0].material.color: red, green, blue"),
    "not a link": (lambda: Robot("r", [3]), "links[0]: must be a Link, got a whole number 3"),
    "budget": (lambda: Robot("r", restarts=Budget(-1, 0.0)), "restarts.restarts: must be at least 0, got -1"),
    "half a restart": (lambda: Robot("r", restarts=Budget(1.5)), "restarts.restarts: must be a whole number, got 1.5"),
}


@pytest.mark.parametrize("mistake", PYTHON)
def test_a_mistake_in_python_is_told_by_path(mistake):
    build, what = PYTHON[mistake]
    with pytest.raises(ConfigError) as e:
        build()
    assert any(what in problem for problem in e.value.problems), e.value.problems
    assert what.split(":")[0] in str(e.value)


def test_all_mistakes_at_once():
    with pytest.raises(ConfigError) as e:
        Robot(
            "r",
            ["a", "b", "c"],
            [Joint("j", "revolute", "a", "x", limits=Limits(2, 1, NAN)), Joint("k", "fixed", "a", "c", limits=FINE)],
            [Actuator("m", "k", options={"context": 1}, transmission=Transmission(0, NAN))],
            parameters=[Parameter("p", float, 3, 0, 1)],
        )
    told = [problem.split(":")[0] for problem in e.value.problems]
    assert sorted(told) == sorted(
        [
            *("joints.j.limits.lower", "joints.j.limits.velocity", "joints.j.limits.effort", "joints.j.child", "joints.k.limits"),
            *("actuators.m.joint", "actuators.m.options.context", "actuators.m.transmission.reduction", "actuators.m.transmission.offset"),
            "parameters.p.default",
        ]
    )


HEAD = "robot: r\nlinks: [a, b]\njoints:\n  j:\n    kind: KIND\n    parent: a\n    child: b\n"  # 7 lines
REVOLUTE, PRISMATIC, CONTINUOUS = (HEAD.replace("KIND", kind) for kind in ("revolute", "prismatic", "continuous"))

YAML = {
    "unknown key": ("robot: r\nlink: [a]\n", "2: link: unknown key; did you mean 'links'?"),
    "no name": ("links: [a]\n", "1: robot is missing"),
    "no kind": ("robot: r\nlinks: [a, b]\njoints:\n  j: {parent: a, child: b}\n", "4: joints.j: kind is missing"),
    "key twice": ("robot: r\nlinks: [a]\nsensors:\n  s: {link: a}\n  s: {link: a}\n", "5: sensors.s: this key is given twice"),
    "name twice": ("robot: r\nlinks:\n  - a\n  - a\n", "4: links.a: 'a' is already the name of one of the links"),
    "length for an angle": (
        REVOLUTE + "    limits:\n      lower: -1 m\n      velocity: 1\n      effort: 1\n",
        "9: joints.j.limits.lower: '-1 m' is in m, which cannot be turned into rad; joint 'j' is revolute",
    ),
    "angle for a length": (
        PRISMATIC + "    limits: {velocity: 1,\n      effort: 1 N.m}\n",
        "9: joints.j.limits.effort: '1 N.m' is in N.m, which cannot be turned into N; joint 'j' is prismatic",
    ),
    "unit of an offset": (
        PRISMATIC + "    limits: {velocity: 1, effort: 1}\nactuators:\n  m:\n    joint: j\n    transmission:\n      offset: 3 deg\n",
        "13: actuators.m.transmission.offset: '3 deg' is in deg, which cannot be turned into m; joint 'j' is prismatic",
    ),
    "unit of a silence": (
        PRISMATIC + "    limits: {velocity: 1, effort: 1}\nactuators:\n  m: {joint: j, watchdog: {silence: 200 m}}\n",
        "10: actuators.m.watchdog.silence: '200 m' is in m, which cannot be turned into s$",
    ),
    "no number for a ratio": (
        CONTINUOUS + "actuators:\n  m: {joint: j, transmission: {reduction: fast}}\n",
        "9: actuators.m.transmission.reduction: 'fast' is not a number; write a number$",
    ),
    "unit of a ratio": (
        CONTINUOUS + "actuators:\n  m: {joint: j, transmission: {reduction: 2 m}}\n",
        "9: actuators.m.transmission.reduction: '2 m' is in m, but what is asked for has no unit; write the number alone$",
    ),
    "no finite ratio": (
        CONTINUOUS + "actuators:\n  m: {joint: j, transmission: {reduction: .inf}}\n",
        "9: actuators.m.transmission.reduction: inf is not a finite number$",
    ),
    "unit of a distance": (REVOLUTE + "    origin: {xyz: [0, 1 deg, 0]}\n", "8: joints.j.origin.xyz[1]: '1 deg' is in deg"),
    "lower above upper": (
        REVOLUTE + "    limits:\n      upper: 10 deg\n      lower: 20 deg\n      velocity: 1\n      effort: 1\n",
        "10: joints.j.limits.lower: lower 0.349066 rad exceeds upper 0.174533 rad",
    ),
    "no limits": (REVOLUTE, "4: joints.j.limits: a revolute joint needs limits"),
    "not a number": (REVOLUTE + "    limits: {velocity: .nan, effort: 1}\n", "8: joints.j.limits.velocity: nan is not a finite number [rad/s]"),
    "beyond all numbers": (REVOLUTE + "    limits: {velocity: 1e999, effort: 1}\n", "8: joints.j.limits.velocity: inf is not a finite number"),
    "unknown link": (REVOLUTE.replace("child: b", "child: bb"), "7: joints.j.child: there is no link named 'bb'; did you mean 'b'"),
    "reduction": (
        CONTINUOUS + "actuators:\n  m: {joint: j, transmission: {reduction: 0}}\n",
        "9: actuators.m.transmission.reduction: must be above 0",
    ),
    "reserved option": (
        CONTINUOUS + "actuators:\n  m:\n    joint: j\n    options:\n      motor_profile: 1\n",
        "12: actuators.m.options.motor_profile: is a reserved name",
    ),
    "date": (CONTINUOUS + "actuators:\n  m: {joint: j, options: {a: 2020-01-01}}\n", "9: actuators.m.options.a: must be a number, text"),
    "unknown parameter": (CONTINUOUS + "    dynamics: {damping: {parameter: x}}\n", "8: joints.j.dynamics.damping: there is no parameter named 'x'"),
    "half a reference": (
        CONTINUOUS + "    dynamics: {damping: {parameter: 3}}\n",
        "8: joints.j.dynamics.damping: must be a number or {parameter: PATH}",
    ),
    "parameter unit": ("robot: r\nparameters:\n  a: {default: 3 m, unit: rad}\n", "3: parameters.a.default: '3 m' is in m"),
    "parameter bound": ("robot: r\nparameters:\n  a: {default: 3 m,\n    unit: m, hi: 200 cm}\n", "3: parameters.a.default: must be at most 2.0 m"),
    "shape": (
        "robot: r\nlinks:\n  a:\n    visuals:\n      - geometry: {ball: 1}\n",
        "5: links.a.visuals[0].geometry: must be a mapping of one of box",
    ),
    "joints as a list": ("robot: r\nlinks: [a]\njoints: [j]\n", "3: joints: must be a mapping of names, got a list"),
    "joint as text": ("robot: r\nlinks: [a]\njoints:\n  j: hinge\n", "4: joints.j: must be a mapping, got text 'hinge'"),
    "restarts": ("robot: r\nrestarts:\n  restarts: 1.5\n", "3: restarts.restarts: must be a whole number, got a number 1.5"),
}


@pytest.mark.parametrize("mistake", YAML)
def test_a_mistake_in_yaml_is_told_by_file_line_and_path(tmp_path, mistake):
    text, what = YAML[mistake]
    file = tmp_path / "r.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as e:
        load(file)
    whole = [f"{problem}$".startswith(f"{file}:{what}") for problem in e.value.problems]
    assert any(whole), e.value.problems


def test_what_cannot_be_read_is_not_told_twice():
    text = REVOLUTE.replace("parent: a", "parent: 3").replace("kind: revolute", "kind: hinge") + "actuators: {m: {joint: j}}\n"
    with pytest.raises(ConfigError) as e:
        read_yaml(yaml_file.parse(text, "r.yaml", hold=True))
    assert len(e.value.problems) == 2
    assert [problem.split(": ")[1] for problem in e.value.problems] == ["joints.j.kind", "joints.j.parent"]


URDF_HEAD = '<robot name="r">\n<link name="a"/>\n<link name="b"/>\n'
URDF_JOINT = '<joint name="j" type="revolute">\n<parent link="a"/>\n<child link="b"/>\n{}</joint>\n'
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>\n'


def urdf(joint="", more=""):
    return f"{URDF_HEAD}{URDF_JOINT.format(joint)}{more}</robot>"


def transmission(reduction=1, joint="j"):
    kind = "<type>transmission_interface/SimpleTransmission</type>\n"
    motor = f'<actuator name="m">\n<mechanicalReduction>{reduction}</mechanicalReduction></actuator>\n'
    return f'<transmission name="t">{kind}<joint name="{joint}"/>{motor}</transmission>\n'


URDF = {
    "not xml": ("<robot", "1: not valid XML: unclosed token"),
    "not a robot": ("<sdf/>", "1: the file must hold a <robot>, got <sdf>"),
    "no name": ("<robot/>", "1: robot: <robot> has no name"),
    "xacro": ('<robot name="r" xmlns:xacro="x">\n<xacro:macro/></robot>', "1: this is a xacro file"),
    "entity": ('<!DOCTYPE robot [\n<!ENTITY a "aaa">]>\n<robot name="&a;"/>', "1: a document type (<!DOCTYPE ...>) and entities are not taken"),
    "file entity": ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="r"/>', "1: a document type"),
    "too deep": ("<robot>" + "<a>" * 5000, "1: nested too deeply"),
    "link twice": (urdf(LIMIT, '<link name="a"/>\n'), "9: links.a: given twice; first on line 2"),
    "nameless link": (urdf(LIMIT, "<link/>\n"), "9: links[2]: <link> has no name"),
    "no parent": (urdf(LIMIT).replace('<parent link="a"/>', ""), "4: joints.j.parent: <joint> has no <parent>"),
    "unknown link": (urdf(LIMIT).replace('child link="b"', 'child link="c"'), "6: joints.j.child: there is no link named 'c'"),
    "not a number": (urdf(LIMIT.replace('"1"', '"one"', 1)), "7: joints.j.limits.upper: must be a number, got 'one'"),
    "nan": (urdf(LIMIT.replace('"1"', '"nan"', 1)), "7: joints.j.limits.upper: nan is not a finite number [rad]"),
    "no limit": (urdf(), "4: joints.j.limits: a revolute joint needs limits"),
    "no bounds": (urdf('<limit velocity="1" effort="1"/>\n'), "7: joints.j.limits: lower and upper are missing, which URDF takes for 0 and 0"),
    "no velocity": (urdf('<limit lower="-1" upper="1" effort="1"/>\n'), "7: joints.j.limits.velocity: a limit of velocity"),
    "lower above upper": (urdf('<limit lower="2" upper="1" velocity="1" effort="1"/>\n'), "7: joints.j.limits.lower: lower 2 rad exceeds"),
    "limits of a fixed joint": (urdf(LIMIT).replace("revolute", "fixed"), "7: joints.j.limits: a fixed joint has no limits"),
    "axis": (urdf('<axis xyz="0 1"/>\n' + LIMIT), "7: joints.j.axis: must be 3 numbers"),
    "reduction 0": (urdf(LIMIT, transmission(0)), "11: actuators.m.transmission.reduction: must be above 0"),
    "unknown joint": (urdf(LIMIT, transmission(1, "k")), "10: actuators.m.joint: there is no joint named 'k'"),
    "differential": (urdf(LIMIT, transmission().replace("Simple", "Differential")), "9: actuators.m: only a SimpleTransmission"),
    "geometry": (
        urdf(LIMIT).replace('<link name="a"/>', '<link name="a"><visual>\n<geometry><ball/></geometry></visual></link>'),
        "3: links.a.visuals[0].geometry: must hold one of <box>",
    ),
    "unknown in ours": (urdf(LIMIT, '<pushrod>\n<actuater name="m"/></pushrod>'), "10: pushrod.actuater: <actuater> is unknown"),
    "ours twice": (urdf(LIMIT, "<pushrod/>\n<pushrod/>"), "10: pushrod: <pushrod> is given twice"),
    "no transmission": (
        urdf(LIMIT, '<pushrod>\n<actuator name="m"/></pushrod>'),
        "10: actuators.m: there is no <transmission> of an actuator named",
    ),
    "nameless actuator": (
        urdf(LIMIT, transmission().replace('actuator name="m"', "actuator") + '<pushrod>\n<actuator name="m"/></pushrod>'),
        "14: actuators.m: there is no <transmission>",
    ),
    "pathless parameter": (urdf(LIMIT, "<pushrod>\n<parameter default='1'/></pushrod>"), "10: parameters[0]: <parameter> has no path"),
    "options": (
        urdf(LIMIT, transmission() + '<pushrod>\n<actuator name="m">\n<options>{1}</options></actuator></pushrod>'),
        "15: actuators.m.options: is not JSON",
    ),
    "reference to nothing": (
        urdf(LIMIT, '<pushrod>\n<reference joint="k" field="limits.lower" parameter="p"/></pushrod>'),
        "10: joints.k.limits.lower:",
    ),
    "reference by a parameter that is not there": (
        urdf(LIMIT, '<pushrod>\n<reference joint="j" field="limits.lower" parameter="p"/></pushrod>'),
        "10: joints.j.limits.lower: there is no parameter named 'p'",
    ),
}


@pytest.mark.parametrize("mistake", URDF)
def test_a_mistake_in_urdf_is_told_by_file_line_and_path(tmp_path, mistake):
    text, what = URDF[mistake]
    file = tmp_path / "r.urdf"
    file.write_text(text)
    with pytest.raises(ConfigError) as e:
        load(file)
    assert any(problem.startswith(f"{file}:{what}") for problem in e.value.problems), e.value.problems


SOUND = urdf(LIMIT + '<mimic joint="j"/><dynamics damping="1"/>', transmission() + '<pushrod><parameter path="p" default="1"/></pushrod>')


@settings(max_examples=examples(150))
@given(
    st.integers(0, len(SOUND)), st.integers(0, 30), st.sampled_from(("", "<", ">", '"', "<a/>", "</robot>", "0", "nan", "&a;", "&#0;", "\x00", "é"))
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_any_urdf_is_a_robot_or_refused_by_line(at, length, put):
    text = SOUND[:at] + put + SOUND[at + length :]
    try:
        assert isinstance(read_urdf(parse(text, "r.urdf"), "r.urdf"), Robot)
    except ConfigError as e:
        assert all(re.match(r"r\.urdf:\d+: ", problem) for problem in e.problems), e.problems  # noqa: PT017


WORDS = ("robot", "links", "joints", "j", "a", "b", "kind", "parent", "limits", "lower", "parameter", "options", "revolute", "fixed", "3", "3 deg")
words = st.sampled_from(WORDS) | st.text(max_size=3)
data = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=12,
)
WHOLE = {
    "robot": "r",
    "links": {"a": {"visuals": [{"geometry": {"box": {"size": [1, 2, 3]}}}]}, "b": None},
    "joints": {"j": {"kind": "revolute", "parent": "a", "child": "b", "limits": {"lower": -1, "velocity": 1, "effort": {"parameter": "p"}}}},
    "actuators": {"m": {"joint": "j", "options": {"a": [1]}, "transmission": {"reduction": 2}, "watchdog": {"silence": 1}}},
    "sensors": {"s": {"link": "a"}},
    "parameters": {"p": {"default": "3 N.m", "unit": "N.m", "hi": 4}},
    "restarts": {"restarts": 2},
}


@st.composite
def disturbed(draw, value):
    """The same data with one node, anywhere, replaced by something else or dropped."""
    if not isinstance(value, (dict, list)) or not value or draw(st.integers(0, 4)) == 0:
        return draw(data)
    key = draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
    if isinstance(value, list):
        return [draw(disturbed(v)) if i == key else v for i, v in enumerate(value)]
    if draw(st.integers(0, 9)) == 0:
        return {k: v for k, v in value.items() if k != key}
    return {k: draw(disturbed(v)) if k == key else v for k, v in value.items()}


def lined(value):
    """Every path of the data on a line of its own."""
    lines = {}

    def walk(part, path):
        lines[path] = len(lines) + 1
        for key, inner in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
            walk(inner, (*path, key))

    walk(value, ())
    return lines


@settings(max_examples=examples(150))
@given(disturbed(WHOLE) | st.dictionaries(words, data, max_size=3).map(lambda more: WHOLE | more))
def test_any_data_is_a_robot_or_refused_by_line(value):
    if not isinstance(value, dict):
        return
    try:
        assert isinstance(read_yaml(yaml_file.Document("r.yaml", "", value, lined(value))), Robot)
    except ConfigError as e:
        assert all(re.match(r"r\.yaml:\d+: ", problem) for problem in e.problems), e.problems  # noqa: PT017
