"""What the page says of a machine is so: units, active faults, the command in force, and a view that nothing leaves."""

from itertools import permutations
from math import dist, pi, radians, tan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.dash.body import body_of, reach
from pushrod.dash.card import waypoints
from pushrod.dash.fault import faults
from pushrod.dash.motion_card import wrapped
from pushrod.dash.output import actual_output
from pushrod.dash.unit import Units
from pushrod.dash.watch import Watch
from pushrod.live.payload import Flight, Throttle
from pushrod.live.thruster import ThrusterState
from pushrod.live.world_sensor import WorldTold
from pushrod.net.link import Link
from pushrod.robot.kinematics import forward
from pushrod.runtime.message import Command, JointState, Message, Outcome, Transition
from pushrod.runtime.payload import Hold, Position, Stop
from pushrod.runtime.result import ACCEPTED, Clamped
from pushrod.sim import machine


def watch(**fields):
    made = Watch("arm", Link(), "test")
    made.parameters = [{"path": f"fault.{path.replace('__', '.')}", "value": value} for path, value in fields.items()]
    return made


def outcome(payload, result=ACCEPTED, t=0.0):
    return Message(Outcome(Command(payload, "ann", t), result), ("actuator", "base", "motor"), t, t, "arm")


def seen(one, payload, result=ACCEPTED):
    one._take(outcome(payload, result))


@given(st.floats(-1e3, 1e3), st.sampled_from(["rad", "rad/s", "m", "-"]))
def test_a_number_has_no_sign_at_zero_and_its_unit_beside_it(x, unit):
    units = Units()
    for degrees in (True, False):
        units.switch(degrees)
        scale = units.of(unit)
        shown = scale.figure(x)
        number, _, word = shown.partition(" ")
        assert float(number) == pytest.approx(scale.factor * x, abs=0.51 * 10.0**-scale.digits)
        assert not (number.startswith("-") and float(number) == 0.0)
        assert word == ("" if unit == "-" else scale.unit)
        assert scale.unit.startswith("deg") is (degrees and unit.startswith("rad"))


def test_the_speed_of_a_shaft_stays_in_rad_per_s():
    assert Units().of_channel("world/left.n", "rad/s").unit == "rad/s"
    assert Units().of_channel("world/yaw_rate", "rad/s").unit == "deg/s"


def test_waypoints_are_typed_in_the_units_of_the_page():
    (point,) = waypoints("1 90", Units().of("rad").factor)
    assert (point.time, point.position) == (1.0, pytest.approx(pi / 2))


def test_a_heading_is_within_half_a_turn():
    assert wrapped("psi", 3.0 * pi / 2) == pytest.approx(-pi / 2)
    assert wrapped("steer_ach", 7.0) == 7.0
    assert wrapped("yaw", None) is None


def test_a_fault_is_active_from_its_start_to_its_end():
    one = watch(steer__kind="stuck", steer__at=5.0, steer__until=8.0, brake__kind="none", brake__at=0.0, brake__until=1e9)
    for t, active in ((0.0, False), (5.0, True), (7.9, True), (8.0, False)):
        one.world_time = t
        assert faults(one, Units()) == ({"steer": "stuck"} if active else {})


def test_a_fault_says_how_much_is_left():
    one = watch(
        a__kind="loss", a__effectiveness=0.25, b__kind="bias", b__bias=-0.1, c__kind="delay", c__extra_delay=0.2, d__kind="stuck"
    )  # fmt: skip
    assert faults(one, Units()) == {"a": "loss, 25% left", "b": "bias -0.1", "c": "delay +0.2 s", "d": "stuck"}


@pytest.mark.parametrize(
    ("channel", "outputs", "degrees", "words"),
    [
        ("steer", {"steer_req": "rad", "steer_ach": "rad"}, True, "bias +5.73 deg"),
        ("steer", {"steer_req": "rad", "steer_ach": "rad"}, False, "bias +0.1 rad"),
        ("torque_x", {"torque_req_x": "N.m", "torque_ach_x": "N.m"}, True, "bias +0.1 N.m"),
        ("elbow", {"elbow.q_req": "rad", "elbow.q": "rad", "elbow.torque_req": "N.m", "elbow.torque": "N.m"}, True, "bias +0.1 N.m"),
        ("e0", {"pipe.u.e0": "-"}, True, "bias +0.1"),
    ],
)
def test_a_bias_has_the_unit_of_its_signal(channel, outputs, degrees, words):
    one = watch(**{f"{channel}__kind": "bias", f"{channel}__bias": 0.1})
    n = len(outputs)
    one.world = WorldTold("m", "m", tuple(outputs), tuple(outputs.values()), ("",) * n, ((),) * n)
    one.now = dict.fromkeys(outputs, 0.0)
    units = Units()
    units.switch(degrees)
    assert faults(one, units) == {channel: words}


@given(st.floats(-10.0, 10.0), st.sampled_from(["rad", "rad/s", "m"]))
def test_a_value_that_is_entered_as_it_is_shown_is_unchanged(x, unit):
    scale = Units().of(unit)
    assert scale.entered(scale.editable(x), x) == x


def test_a_bound_that_is_entered_as_it_is_shown_is_that_bound():
    scale = Units().of("rad")
    assert scale.entered(28.6479, 0.1, 0.0, 0.5) == 0.5
    assert scale.entered(90.0, 0.1, 0.0, 2.0) == pytest.approx(pi / 2)
    assert Units().of_channel("world.rotor.n_max", "rad/s").unit == "rad/s"


def test_the_actual_output_of_a_thruster_is_what_its_rotor_shows_else_what_it_reports():
    one = watch()
    one.thrusters = {"left": ThrusterState(0.8, 0.5), "right": ThrusterState(0.3), "bow": ThrusterState(0.0, 0.0)}
    assert [actual_output(one, name) for name in ("left", "right", "bow", "stern")] == [pytest.approx(0.4), 0.3, None, None]
    one.parameters = [{"path": f"world.left.{name}", "value": value} for name, value in (("n_max", 300.0), ("dead", 0.1))]
    for n, u in ((0.0, 0.0), (0.3, 0.0), (300.0, 1.0), (-150.0, -0.55)):
        one.now = {"left.n": n}
        assert actual_output(one, "left") == pytest.approx(u)


def test_an_actuator_that_reports_a_fault_of_its_own_counts():
    one = watch()
    one.thrusters = {"left": ThrusterState(0.1, 0.5), "right": ThrusterState(0.1, 1.0), "bow": ThrusterState(0.0)}
    assert faults(one, Units()) == {"left": "reports 50% health"}


def test_the_command_in_force_is_the_last_that_was_accepted_whoever_sent_it():
    one = watch()
    seen(one, Throttle(0.99))
    assert one.asked["motor"] == Throttle(0.99)
    seen(one, Position(9.0), Clamped(Position(9.0), Position(1.0)))
    assert one.asked["motor"] == Position(1.0)
    seen(one, Stop())
    assert "motor" not in one.asked
    seen(one, Flight(3.0, 0.1, 0.2, 0.3))
    seen(one, Hold())
    assert one.asked["motor"] == Flight(3.0, 0.0, 0.0, 0.3)
    one._take(Message(Transition("armed", "disarmed", ""), ("safety",), 0.0, 0.0, "arm"))
    assert one.asked == {}


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_command_in_force_does_not_depend_on_the_order_in_which_messages_arrive(order):
    """Stops are sent at once, commands at intervals: a command may arrive after the stop that ended it."""
    messages = [
        outcome(Throttle(0.5), t=1.0),
        outcome(Stop(), t=2.0),
        outcome(Throttle(0.7), t=3.0),
        Message(Transition("armed", "disarmed", ""), ("safety",), 4.0, 4.0, "arm"),
    ]
    for newest, in_force in ((1, {"motor": Throttle(0.5)}), (2, {}), (3, {"motor": Throttle(0.7)}), (4, {})):
        one = watch()
        for i in order:
            if i < newest:
                one._take(messages[i])
        assert one.asked == in_force


@given(st.floats(-pi, pi), st.floats(-pi, pi))
def test_no_part_of_the_arm_leaves_the_picture(q1, q2):
    one = watch()
    one.described = machine.load("arm").robot
    one.joints = {name: JointState((name,), (q,)) for name, q in (("shoulder", q1), ("elbow", q2))}
    body = body_of(one)
    assert body is not None
    tip = forward(one.described, {"shoulder": q1, "elbow": q2})["tip"].position
    slope = tan(radians(75.0 / 2.0))  # of the upper edge of the picture
    for place in (tip, *(at.position for _, at in body.pose(one))):
        away = tuple(p - e for p, e in zip(place, body.eye, strict=True))
        ahead = tuple(t - e for t, e in zip(body.to, body.eye, strict=True))
        along = sum(a * b for a, b in zip(away, ahead, strict=True)) / dist(body.to, body.eye)
        across = (dist(place, body.eye) ** 2 - along**2) ** 0.5
        assert across < along * slope
        assert dist(place, body.to) <= body.reach


def test_the_reach_of_an_arm_is_the_length_of_its_links():
    assert reach(machine.load("arm").robot) == pytest.approx(0.65)
