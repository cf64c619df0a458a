"""Where things are in a robot, and its frozen options."""

import pickle

import pytest

from pushrod.core.errors import UnknownNameError
from pushrod.robot import Actuator, Controller, Joint, Robot, Sensor, find, paths
from pushrod.robot.options import Frozen, plain

ROBOT = Robot(
    "r",
    ["base", "arm", "hand"],
    [Joint("shoulder", "continuous", "base", "arm"), Joint("wrist", "continuous", "arm", "hand")],
    [Actuator("motor", "wrist")],
    [Sensor("imu", link="hand"), Sensor("encoder", joint="shoulder"), Sensor("battery")],
    [Controller("balance")],
)


def test_every_thing_has_its_path_from_the_root():
    assert paths(ROBOT) == {
        "base": ("base",),
        "shoulder": ("base", "shoulder"),
        "arm": ("base", "shoulder", "arm"),
        "wrist": ("base", "shoulder", "arm", "wrist"),
        "hand": ("base", "shoulder", "arm", "wrist", "hand"),
        "motor": ("base", "shoulder", "arm", "wrist", "motor"),
        "imu": ("base", "shoulder", "arm", "wrist", "hand", "imu"),
        "encoder": ("base", "shoulder", "encoder"),
        "battery": ("battery",),
        "balance": ("balance",),
    }


def test_a_tail_will_do_and_a_head_will_not():
    known = paths(ROBOT)
    assert find(known, "hand/imu", "sensor") == known["imu"]
    for wrong in ("base/imu", "x/base/shoulder/encoder", ""):
        with pytest.raises(UnknownNameError, match="no sensor"):
            find(known, wrong, "sensor")


def test_things_are_found_by_name():
    assert ROBOT.link("arm") is ROBOT.links[1]
    assert ROBOT.joint("wrist") is ROBOT.joints[1]
    assert ROBOT.actuator("motor") is ROBOT.actuators[0]
    assert ROBOT.sensor("battery") is ROBOT.sensors[2]
    with pytest.raises(UnknownNameError, match="no joint named 'wrst'; did you mean 'wrist'"):
        ROBOT.joint("wrst")


def test_options_stay_as_they_are():
    given = {"gains": [1, {"kp": 2}], "name": "x"}
    actuator = Actuator("m", "j", options=given)
    given["gains"][1]["kp"] = 3
    assert actuator.options == {"gains": (1, {"kp": 2}), "name": "x"}
    with pytest.raises(TypeError):
        actuator.options["name"] = "y"
    with pytest.raises(AttributeError):
        actuator.options.clear()
    assert pickle.loads(pickle.dumps(actuator.options)) == actuator.options
    assert hash(Frozen({"a": 1, "b": [2]})) == hash(Frozen({"b": [2], "a": 1}))
    copy = plain(actuator.options)
    assert copy == {"gains": [1, {"kp": 2}], "name": "x"}
    copy["gains"].append(3)
    assert len(actuator.options["gains"]) == 2
