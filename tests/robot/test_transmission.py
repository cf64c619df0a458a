"""A transmission loses nothing: both ways are inverses, power is the same on both sides, limits keep their order."""

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.errors import InputError, UnknownNameError
from pushrod.robot import Actuator, Joint, Limits, MotorProfile, Parameter, ParameterRef, Robot, Store, Transmission, home, resolve

values = st.floats(-1e4, 1e4)
transmissions = st.builds(Transmission, st.floats(1e-3, 1e3), st.floats(-100, 100), st.booleans())
PAIRS = ("position", "rate", "effort")


@given(transmissions, values, st.sampled_from(PAIRS))
def test_each_way_undoes_the_other(t, x, what):
    to_motor, to_joint = getattr(t, f"{what}_to_motor"), getattr(t, f"{what}_to_joint")
    scale = 1e-300 + 1e-12 * (abs(x) + abs(t.offset))
    assert math.isclose(to_joint(to_motor(x)), x, rel_tol=1e-12, abs_tol=scale)
    assert math.isclose(to_motor(to_joint(x)), x, rel_tol=1e-12, abs_tol=scale + 1e-12 * t.reduction * abs(t.offset))


@given(transmissions, values, values)
def test_power_is_the_same_on_both_sides(t, rate, effort):
    assert math.isclose(t.rate_to_motor(rate) * t.effort_to_motor(effort), rate * effort, rel_tol=1e-14, abs_tol=1e-300)


@given(transmissions, values, values)
def test_a_rate_is_the_difference_of_positions(t, x, y):
    moved = t.position_to_motor(y) - t.position_to_motor(x)
    assert math.isclose(t.rate_to_motor(y - x), moved, rel_tol=1e-9, abs_tol=1e-9 * t.reduction * (abs(x) + abs(y) + abs(t.offset)))


@given(transmissions, values, values, st.floats(0, 1))
def test_what_is_within_the_joint_is_within_the_motor(t, a, b, f):
    lower, upper = sorted((a, b))
    profile = MotorProfile.of(Limits(lower, upper), t)
    x = t.position_to_motor(min(max(lower + f * (upper - lower), lower), upper))
    assert profile.lower <= x <= profile.upper
    assert profile.lower <= profile.initial <= profile.upper


def test_an_open_end_stays_open_on_the_other_side():
    """Unlike in the source of the case, a lone end changes sides too: the joint's lower end is the reversed motor's upper end."""
    assert MotorProfile.of(Limits(lower=1.0), Transmission(2, 0, True)) == MotorProfile(None, -2.0)
    assert MotorProfile.of(Limits(upper=1.0), Transmission(2, 0, True)) == MotorProfile(-2.0, None)


@given(transmissions, values, values)
def test_homing_makes_the_motor_mean_the_joint(t, motor, joint):
    robot = Robot(
        "arm",
        ["base", "link"],
        [Joint("shoulder", "continuous", "base", "link")],
        [Actuator("motor", "shoulder", transmission=Transmission(t.reduction, ParameterRef("zero"), t.reversed))],
        parameters=[Parameter("zero", float, unit="rad")],
    )
    store = Store.of(robot)
    offset = home(robot, store, "motor", motor, joint)
    assert store.get("zero") == offset
    now = resolve(robot.actuator("motor").transmission, store)
    assert math.isclose(now.position_to_joint(motor), joint, rel_tol=1e-12, abs_tol=1e-12 * (abs(motor / t.reduction) + abs(joint)))


def test_what_cannot_be_homed_says_so():
    robot = Robot("arm", ["base", "link"], [Joint("shoulder", "continuous", "base", "link")], [Actuator("motor", "shoulder")])
    with pytest.raises(InputError, match=r"'motor' cannot be homed: its offset is fixed at 0\.0; let it be a ParameterRef"):
        home(robot, Store.of(robot), "motor", 0.0, 0.0)
    with pytest.raises(UnknownNameError, match="no actuator named 'moter'"):
        home(robot, Store.of(robot), "moter", 0.0, 0.0)


def test_records_are_values():
    t = Transmission(50, 1)
    assert t == pickle.loads(pickle.dumps(t))
    assert isinstance(t.offset, float)
    assert hash(t) == hash(Transmission(50.0, 1.0, False))
    with pytest.raises(AttributeError):
        t.offset = 2.0
