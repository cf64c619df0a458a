"""The conformance cases of actuators that speak of transmissions, motor profiles, addresses, parameters, units and kinematics, by their numbers."""

import math

import pytest

from pushrod.config.unit import to_si
from pushrod.core.errors import ConfigError, ParameterError, UnknownNameError
from pushrod.robot import (
    Actuator,
    Joint,
    Limits,
    MotorProfile,
    Origin,
    Parameter,
    ParameterRef,
    Robot,
    Store,
    Transmission,
    actuator_paths,
    find,
    forward,
    resolve,
)

NEAR = 1e-9


def near(x):
    return pytest.approx(x, abs=NEAR)


def test_case_1_position_through_nothing():
    t = Transmission(1, 0, False)
    assert t.position_to_motor(0.5) == 0.5
    assert t.position_to_motor(-1.2) == -1.2


def test_case_2_position_through_a_reduction():
    assert Transmission(50, 0, False).position_to_motor(0.01) == near(0.5)


def test_case_3_position_reversed():
    assert Transmission(1, 0, True).position_to_motor(0.5) == near(-0.5)


def test_case_4_position_with_an_offset():
    t = Transmission(1, 0.1, False)
    assert t.position_to_motor(0.1) == near(0.0)
    assert t.position_to_motor(0.3) == near(0.2)


def test_case_5_position_with_everything_and_back():
    t = Transmission(50, 0.1, True)
    assert t.position_to_motor(0.3) == near(-10.0)
    for x in (-1.0, -0.5, 0.0, 0.1, 0.5, 1.0, 3.14):
        assert t.position_to_joint(t.position_to_motor(x)) == near(x)


def test_case_6_rate():
    t = Transmission(50, 100, False)
    assert t.rate_to_motor(0.01) == near(0.5)
    assert t.rate_to_joint(0.5) == near(0.01)
    assert Transmission(2, 0, True).rate_to_motor(1.0) == near(-2.0)


def test_case_7_effort():
    t = Transmission(50, 0, False)
    assert t.effort_to_motor(10.0) == near(0.2)
    assert t.effort_to_joint(0.2) == near(10.0)
    assert Transmission(2, 0, True).effort_to_motor(10.0) == near(-5.0)


def test_cases_8_and_9_motor_to_joint():
    """What the messages that leave a driver are made of; the messages themselves belong to the runtime."""
    t = Transmission(50, 0.1, True)
    assert t.position_to_joint(5.0) == near(0.0)
    assert t.position_to_joint(10.0) == near(-0.1)
    assert abs(t.rate_to_joint(5.0)) == near(0.1)
    assert abs(t.rate_to_joint(10.0)) == near(0.2)
    assert t.rate_to_joint(2.0) == near(-0.04)
    assert t.effort_to_joint(0.4) == near(-20.0)


def test_case_12_profile_without_transmission():
    limits = Limits(-1, 2, 5, 10, 0.5)
    assert MotorProfile.of(limits) == MotorProfile(-1.0, 2.0, 5.0, 10.0, 0.5, 0.5)


def test_case_13_profile_geared_with_offset():
    profile = MotorProfile.of(Limits(-1, 2), Transmission(10, 0.5, False))
    assert (profile.lower, profile.upper, profile.initial) == (near(-15.0), near(15.0), near(0.0))


def test_case_14_profile_reversed():
    profile = MotorProfile.of(Limits(0, 1), Transmission(1, 0, True))
    assert (profile.lower, profile.upper, profile.initial) == (near(-1.0), near(0.0), near(-0.5))


def test_case_15_profile_magnitudes_and_nothing():
    profile = MotorProfile.of(Limits(None, None, 5, 10, 0.5), Transmission(50, 0, True))
    assert (profile.velocity, profile.acceleration, profile.effort) == (near(250.0), near(500.0), near(0.01))
    assert MotorProfile.of(None, Transmission(50, 0, True)) == MotorProfile(None, None, None, None, None, 0.0)
    assert MotorProfile.of(Limits()) == MotorProfile()


def two_joints():
    limits = Limits(-math.pi, math.pi, math.radians(60), effort=10)
    return Robot(
        "arm",
        links=["base", "arm_link", "forearm"],
        joints=[
            Joint("shoulder", "revolute", "base", "arm_link", limits=limits),
            Joint("elbow", "revolute", "arm_link", "forearm", limits=limits),
        ],
        actuators=[Actuator("motor", "shoulder"), Actuator("forearm_motor", "elbow")],
    )


def test_case_24_addresses():
    known = actuator_paths(two_joints())
    assert find(known, "motor") == ("base", "shoulder", "motor")
    whole = ("base", "shoulder", "arm_link", "elbow", "forearm_motor")
    for address in ("forearm_motor", "elbow/forearm_motor", ["arm_link", "elbow", "forearm_motor"], whole):
        assert find(known, address) == whole
    with pytest.raises(UnknownNameError, match=r"no actuator named 'motr'; did you mean 'motor'.*known: forearm_motor, motor"):
        find(known, "motr")
    with pytest.raises(UnknownNameError, match=r"no actuator at elbow/motor; 'motor' is at base/shoulder/motor"):
        find(known, "elbow/motor")
    with pytest.raises(UnknownNameError):
        find(known, ())


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (Parameter("gain", float, 0.5, 0, 1), [(0.75, 0.75)], [-0.5, 1000.0, "nope"]),
        (Parameter("offset", float, 0.0, lo=-1), [(1e6, 1e6)], [-2.0]),
        (Parameter("tap_duration", int, 10, hi=127), [(-1_000_000, -1_000_000)], [128, 1.5]),
        (Parameter("reach", float, 0.5, hi=1, unit="m"), [("30 cm", 0.3)], ["3 m", "3 rad"]),
    ],
    ids=lambda x: x.path if isinstance(x, Parameter) else "",
)
def test_case_35_bounds(parameter, good, bad):
    store = Store([parameter])
    for value in bad:
        with pytest.raises(ParameterError, match=parameter.path):
            store.set(parameter.path, value)
        assert store.get(parameter.path) == parameter.default
    for value, held in good:
        store.set(parameter.path, value)
        assert store.get(parameter.path) == held


def test_case_36_set_many_sets_all_or_nothing():
    store = Store([Parameter("kp", float, 1.0), Parameter("ki", float, 0.1)])
    with pytest.raises(ParameterError) as e:
        store.set_many({"kp": 2.0, "ki": "invalid"})
    assert store.get("kp") == 1.0
    assert len(e.value.problems) == 1
    assert e.value.problems[0].startswith("ki:")


def test_case_37_notification():
    store = Store([Parameter("kp", float), Parameter("other", float, 0.0)])
    seen = []
    store.watch("kp", seen.extend)
    store.set("kp", 1.0)
    store.set("other", 3.0)
    store.set("kp", 2.0)
    assert seen == [("kp", None, 1.0, "local"), ("kp", 1.0, 2.0, "local")]


def test_case_38_unknown_paths_and_startup():
    declared = [Parameter("motion.max_speed", float, 1.0), Parameter("motion.acceleration", float, 0.5)]
    store = Store(declared, startup={"motion.max_speed": 5.0})
    assert (store.get("motion.max_speed"), store.get("motion.acceleration")) == (5.0, 0.5)
    with pytest.raises(UnknownNameError, match="unregistered parameter"):
        store.set("nothing.here", 1.0)
    with pytest.raises(UnknownNameError, match="unknown parameter.*known: acceleration, max_speed"):
        store.set("motion.max_sped", 1.0)
    with pytest.raises(ConfigError, match=r"motion\.max_sped"):
        Store(declared, startup={"motion.max_sped": 5.0})


def test_case_39_an_option_follows_its_parameter():
    store = Store([Parameter("motion.max_effort", float, 10.0, unit="N.m")])
    actuator = Actuator("motor", "shoulder", options={"max_effort": ParameterRef("motion.max_effort")})
    seen = [resolve(actuator.options, store)]
    store.watch("motion", lambda changes: seen.append(resolve(actuator.options, store)))
    store.set("motion.max_effort", "20 N.m")
    assert seen == [{"max_effort": 10.0}, {"max_effort": 20.0}]


def test_units():
    assert to_si("180 deg", "rad") == math.pi
    assert to_si("100 cm", "m") == 1.0


def test_kinematics():
    limits = Limits(-math.pi, math.pi, 1, effort=1)
    y = (0, 1, 0)
    arm = Robot(
        "arm",
        links=["base", "upper", "fore", "tip"],
        joints=[
            Joint("joint1", "revolute", "base", "upper", axis=y, limits=limits),
            Joint("joint2", "revolute", "upper", "fore", Origin((1, 0, 0)), y, limits),
            Joint("end", "fixed", "fore", "tip", Origin((1, 0, 0))),
        ],
    )
    assert forward(arm)["tip"].position == near((2, 0, 0))
    assert forward(arm, {"joint1": math.pi / 2})["tip"].position == near((0, 0, -2))
    assert forward(arm, {"joint2": math.pi / 2})["tip"].position == near((1, 0, -1))
