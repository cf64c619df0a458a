"""One robot, however it is said: Python, YAML and URDF give equal records, and no way of writing loses anything."""

import dataclasses
import json
import math
import pickle
import warnings

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import robots

from counts import examples
from pushrod.config import yaml_file
from pushrod.core.errors import DescriptionWarning, PushrodError
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
    Reaction,
    Robot,
    Sensor,
    Sphere,
    Transmission,
    Visual,
    Watchdog,
    load,
    resolve,
    schema,
    to_urdf,
)
from pushrod.robot.reference import references
from pushrod.robot.robot_file import read_yaml
from pushrod.robot.store import Store
from pushrod.robot.urdf_file import read_urdf
from pushrod.robot.xml_file import parse

VALID = jsonschema.Draft202012Validator(schema())
SHAPES = {Box: "box", Cylinder: "cylinder", Sphere: "sphere", Mesh: "mesh"}


def said(value):
    """A record as the plain data a file would hold."""
    if isinstance(value, ParameterRef):
        return {"parameter": value.path}
    if type(value) in SHAPES:
        return {SHAPES[type(value)]: {f.name: said(getattr(value, f.name)) for f in dataclasses.fields(value)}}
    if isinstance(value, (Watchdog, Budget)):
        return value._asdict()
    if dataclasses.is_dataclass(value):
        fields = [f.name for f in dataclasses.fields(value) if getattr(value, f.name) is not None]
        keyed = isinstance(value, (Link, Joint, Actuator, Sensor, Controller, Parameter))  # by name, which is said before
        return {name: said(getattr(value, name)) for name in fields[1 if keyed else 0 :]}
    if isinstance(value, tuple):
        return [said(part) for part in value]
    return {key: said(part) for key, part in value.items()} if hasattr(value, "items") else value


def file_of(robot):
    sections = ("links", "joints", "actuators", "sensors", "controllers")
    data = {section: {item.name: said(item) for item in getattr(robot, section)} for section in sections}
    return {"robot": robot.name, **data, "parameters": {p.path: said(p) for p in robot.parameters}, "restarts": robot.restarts._asdict()}


def yaml_of(robot):
    """JSON is YAML, but for the way it spells characters beyond the basic plane."""
    text = json.dumps(file_of(robot), ensure_ascii=False, indent=1)
    return "".join(c if c.isprintable() or c == "\n" else f"\\U{ord(c):08x}" for c in text)


@settings(max_examples=examples(60))
@given(robots())
def test_urdf_gives_the_same_robot_back(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing of ours is left out
        assert read_urdf(parse(to_urdf(robot))) == robot


@settings(max_examples=examples(40))
@given(robots())
def test_yaml_gives_the_same_robot_back_and_its_schema_takes_it(robot):
    document = yaml_file.parse(yaml_of(robot), "robot.yaml", hold=True)
    assert read_yaml(document) == robot
    VALID.validate(document.data)


@settings(max_examples=examples(20))
@given(robots())
def test_a_robot_is_a_value(robot):
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot
    assert hash(again) == hash(robot)


@settings(max_examples=examples(30))
@given(robots(), st.randoms())
def test_no_reference_is_left_once_resolved(robot, random):
    store = Store.of(robot)
    for p in robot.parameters:
        if p.default is None:
            store.set(p.path, {"float": p.lo or p.hi or 0.0, "int": p.lo or p.hi or 0, "bool": True, "str": "x"}[p.type])
    resolved = resolve(robot, store)
    assert references(resolved) == frozenset()
    assert [a.name for a in resolved.actuators] == [a.name for a in robot.actuators]


ARM_YAML = """
robot: arm
links:
  base:
    inertial: {mass: 2 kg, inertia: [1, 0, 0, 2, 0, 3], origin: {xyz: [0, 0, 5 cm]}}
    visuals: [{geometry: {box: {size: [10 cm, 0.2, 0.3]}}, material: {name: blue, color: [0, 0, 1, 50 %]}}]
  upper:
joints:
  shoulder:
    kind: revolute
    parent: base
    child: upper
    origin: {xyz: [0, 0, 10 cm], rpy: [0, 0, 90 deg]}
    axis: [0, 1, 0]
    limits: {lower: -90 deg, upper: 90 deg, velocity: 60 rpm, acceleration: 180 deg/s2, effort: {parameter: shoulder.torque}}
    dynamics: {damping: 0.1, friction: 5 mN.m}
actuators:
  motor:
    joint: shoulder
    driver: my.module:Driver
    options: {id: 3, gains: [1, {parameter: shoulder.torque}]}
    transmission: {reduction: 50, offset: 45 deg, reversed: true}
    limit_policy: reject
    watchdog: {silence: 200 ms, reaction: ramp}
    restart: false
sensors:
  imu: {link: base, driver: my.module:Imu}
  encoder: {joint: shoulder, transmission: {offset: 1 deg}}
controllers:
  balance: {driver: my.module:Balance, simulation: start}
parameters:
  shoulder.torque: {default: 10 N.m, lo: 0, hi: 20 N.m, unit: N.m, doc: what the gears bear}
  name: {type: str, default: arm}
restarts: {restarts: 5, seconds: 1 min}
"""

ARM = Robot(
    "arm",
    links=[
        Link(
            "base",
            Inertial(2, (1, 0, 0, 2, 0, 3), Origin((0, 0, 0.05))),
            [Visual(Box((0.1, 0.2, 0.3)), material=Material("blue", (0, 0, 1, 0.5)))],
        ),
        "upper",
    ],
    joints=[
        Joint(
            "shoulder",
            "revolute",
            "base",
            "upper",
            Origin((0, 0, 0.1), (0, 0, math.pi / 2)),
            (0, 1, 0),
            Limits(-math.pi / 2, math.pi / 2, 2 * math.pi, math.pi, ParameterRef("shoulder.torque")),
            Dynamics(0.1, 0.005),
        )
    ],
    actuators=[
        Actuator(
            "motor",
            "shoulder",
            "my.module:Driver",
            {"id": 3, "gains": [1, ParameterRef("shoulder.torque")]},
            Transmission(50, math.pi / 4, True),
            "reject",
            Watchdog(0.2, Reaction.RAMP),
            restart=False,
        )
    ],
    sensors=[Sensor("imu", "my.module:Imu", link="base"), Sensor("encoder", joint="shoulder", transmission=Transmission(offset=math.radians(1)))],
    controllers=[Controller("balance", "my.module:Balance", simulation="start")],
    parameters=[Parameter("shoulder.torque", float, 10, 0, 20, "N.m", "what the gears bear"), Parameter("name", str, "arm")],
    restarts=Budget(5, 60.0),
)


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".urdf"])
def test_files_say_the_same_as_python(tmp_path, suffix):
    file = tmp_path / f"arm{suffix}"
    file.write_text(to_urdf(ARM) if suffix == ".urdf" else ARM_YAML)
    assert load(file) == ARM
    assert load(str(file)) == ARM


def test_the_schema_takes_what_people_write_and_refuses_what_they_should_not():
    data = yaml_file.parse(ARM_YAML).data
    VALID.check_schema(schema())
    VALID.validate(data)
    data["joints"]["shoulder"]["limits"]["lower"] = [1]
    data["actuators"]["motor"]["limit_polcy"] = "clamp"
    assert len(list(VALID.iter_errors(data))) == 2


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(PushrodError, match=r"arm\.toml: a robot file ends in \.yaml or \.urdf"):
        load(tmp_path / "arm.toml")
    with pytest.raises(PushrodError, match=r"gone\.urdf: cannot be read: No such file"):
        load(tmp_path / "gone.urdf")


def test_urdf_as_other_tools_write_it():
    text = """<?xml version="1.0"?>
<robot name="gripper" xmlns:gazebo="http://example.org/gazebo">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"><visual><geometry><sphere radius="0.1"/></geometry><material name="grey"/></visual></link>
  <link name="left"/><link name="right"/>
  <joint name="slide" type="prismatic">
    <parent link="base"/><child link="left"/>
    <limit upper="0.04" velocity="0.1" effort="20"/>
    <safety_controller k_velocity="10"/>
  </joint>
  <joint name="follow" type="prismatic">
    <parent link="base"/><child link="right"/><axis xyz="-1 0 0"/>
    <limit lower="0" upper="0.04" velocity="0.1" effort="20"/>
    <mimic joint="slide" multiplier="-1"/>
  </joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type>
    <joint name="slide"><hardwareInterface>x</hardwareInterface></joint>
    <actuator name="motor"><mechanicalReduction>-20</mechanicalReduction></actuator>
  </transmission>
  <gazebo reference="left"/>
</robot>"""
    with pytest.warns(DescriptionWarning, match=r"left out: <gazebo> \(line 20\); <safety_controller> \(line 9\)"):
        robot = read_urdf(parse(text), "gripper.urdf")
    assert robot == Robot(
        "gripper",
        [Link("base", visuals=[Visual(Sphere(0.1), material=Material("grey", (0.5, 0.5, 0.5, 1)))]), "left", "right"],
        [
            Joint("slide", "prismatic", "base", "left", axis=(1, 0, 0), limits=Limits(0, 0.04, 0.1, effort=20)),
            Joint("follow", "prismatic", "base", "right", axis=(-1, 0, 0), limits=Limits(0, 0.04, 0.1, effort=20), mimic=Mimic("slide", -1)),
        ],
        [Actuator("motor", "slide", transmission=Transmission(20, 0, True))],
    )


def test_a_plain_robot_is_plain_urdf():
    robot = Robot("r", ["a", "b"], [Joint("j", "continuous", "a", "b")], [Actuator("m", "j")])
    assert "pushrod" not in to_urdf(robot)
    assert "unbounded" not in to_urdf(robot)
    assert read_urdf(parse(to_urdf(robot))) == robot


def test_other_tools_see_the_default_of_a_parameter():
    text = to_urdf(ARM)
    assert 'effort="10.0"' in text
    assert "<mechanicalReduction>-50.0</mechanicalReduction>" in text
    assert "<offset>0.7853981633974483</offset>" in text
    assert 'acceleration="3.141592653589793"' in text
