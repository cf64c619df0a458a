"""Cases 1 to 15: what a driver is told and what observers see, through reductions, offsets and reversed motors.

adapted: seconds instead of milliseconds throughout (units of the design); the numbers are looked at where a user meets them, behind the gate of a
running robot, and where the joint of fixture R would clamp them, a wider joint takes its place.
"""

import math

import pytest
from fixture_r import TOPIC, Probe, drive, heard, near, robot

from pushrod.robot import Limits, MotorProfile, Transmission
from pushrod.runtime import BeginMotion, Effort, EndMotion, HardwareError, Hold, JointState, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.joint_space import to_joint_space

WIDE = Limits(-1e3, 1e3, velocity=1e3, acceleration=1e3, effort=1e3)
BOTH = Transmission(50, 0.1, True)


def told(transmission: Transmission, *payloads):
    """What the driver gets for what is asked of the joint."""
    probe = Probe()

    async def body(rt):
        rt.arm()
        for payload in payloads:
            assert rt["motor"].direct.send(payload).ok

    drive(robot(transmission, WIDE), {"motor": lambda: probe}, body)
    return probe.commands


def seen(transmission: Transmission, report, kind: type):
    """What observers see of what the driver reports."""
    probe = Probe()

    async def body(rt):
        watch = rt.subscribe(TOPIC, [kind])
        probe.context.publish(report)
        return heard(watch)

    (payload,) = drive(robot(transmission, WIDE), {"motor": lambda: probe}, body)
    return payload


def positions(transmission: Transmission, *joint: float):
    return [payload.position for payload in told(transmission, *map(Position, joint))]


def test_01_position_through_nothing() -> None:
    assert positions(Transmission(1, 0, False), 0.5, -1.2) == [0.5, -1.2]


def test_02_position_through_a_reduction() -> None:
    assert positions(Transmission(50, 0, False), 0.01) == [near(0.5)]


def test_03_position_reversed() -> None:
    assert positions(Transmission(1, 0, True), 0.5) == [near(-0.5)]


def test_04_position_with_an_offset() -> None:
    assert positions(Transmission(1, 0.1, False), 0.1, 0.3) == [near(0.0), near(0.2)]


def test_05_position_with_everything() -> None:
    assert positions(BOTH, 0.3) == [near(-10.0)]


@pytest.mark.parametrize("x", [-1.0, -0.5, 0.0, 0.1, 0.5, 1.0, 3.14])
def test_05_and_back(x: float) -> None:
    (motor,) = positions(BOTH, x)
    assert seen(BOTH, JointState(("shoulder",), (motor,)), JointState).positions == (near(x),)


def test_06_rates_ignore_the_offset() -> None:
    assert told(Transmission(50, 100, False), Velocity(0.01))[0].velocity == near(0.5)
    state = seen(Transmission(50, 100, False), JointState(("shoulder",), (), (0.5,)), JointState)
    assert state.velocities == (near(0.01),)
    assert told(Transmission(2, 0, True), Velocity(1))[0].velocity == near(-2.0)


def test_07_efforts() -> None:
    assert told(Transmission(50, 0, False), Effort(10))[0].effort == near(0.2)
    assert seen(Transmission(50, 0, False), JointState(("shoulder",), (), (), (0.2,)), JointState).efforts == (near(10.0),)
    assert told(Transmission(2, 0, True), Effort(10))[0].effort == near(-5.0)


def test_08_begin_motion() -> None:
    motion = seen(BOTH, BeginMotion(5.0, 10.0, 3.0, acceleration=10.0, peak_velocity=5.0), BeginMotion)
    assert (motion.initial_position, motion.target_position) == (near(0.0), near(-0.1))
    assert (motion.peak_velocity, motion.acceleration) == (near(0.1), near(0.2))
    assert motion.expected_arrival == 3.0
    none = seen(BOTH, BeginMotion(5.0, 10.0, 3.0), BeginMotion)
    assert (none.peak_velocity, none.acceleration, none.command_id, none.command_type) == (None, None, None, None)


def test_08_begin_motion_by_the_drivers_own_call() -> None:
    probe = Probe()

    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        probe.context.publish_begin_motion(5.0, 10.0, 3.0, peak_velocity=5.0, command_id="c", command_type="position")
        return heard(watch)

    (motion,) = drive(robot(BOTH, WIDE), {"motor": lambda: probe}, body)
    assert (motion.target_position, motion.peak_velocity, motion.command_id) == (near(-0.1), near(0.1), "c")


def test_08_end_motion_is_in_joint_space_too() -> None:
    # adapted: all reports are in joint space for those who see them; the reference leaves EndMotion in motor space
    end = seen(BOTH, EndMotion(10.0, "completed", command_id="c"), EndMotion)
    assert (end.position, end.reason, end.command_id) == (near(-0.1), "completed", "c")


def test_09_joint_state() -> None:
    state = seen(BOTH, JointState(("shoulder",), (5.0,), (2.0,), (0.4,)), JointState)
    assert (state.positions, state.velocities, state.efforts) == ((near(0.0),), (near(-0.04),), (near(-20.0),))
    assert seen(BOTH, JointState(("shoulder",)), JointState) == JointState(("shoulder",))


def test_09_the_handle_remembers_it() -> None:
    probe = Probe()

    async def body(rt):
        assert rt["motor"].joint_state is None
        probe.context.publish(JointState(("shoulder",), (5.0,)))
        return rt["motor"].joint_state

    assert drive(robot(BOTH, WIDE), {"motor": lambda: probe}, body).positions == (near(0.0),)


def test_10_trajectory() -> None:
    whole, bare = told(Transmission(1, 0, True), Trajectory((Waypoint(0.5, 0.0, 0.3, 0.1),)), Trajectory((Waypoint(0.5, 0.25),), repeat=3))
    assert whole.waypoints == (Waypoint(near(-0.5), 0.0, near(-0.3), near(-0.1)),)
    assert bare == Trajectory((Waypoint(near(-0.5), 0.25),), repeat=3)
    assert (bare.waypoints[0].velocity, bare.waypoints[0].acceleration) == (None, None)
    asked = Trajectory((Waypoint(0.5, 0.0, 0.3, 0.1), Waypoint(0.7, 1.0)), repeat="forever")
    assert told(Transmission(), asked) == [asked]


@pytest.mark.parametrize("payload", [Hold(), Stop(), Stop("decelerate")], ids=repr)
def test_11_hold_and_stop_are_unchanged(payload) -> None:
    assert told(BOTH, payload) == [payload]


@pytest.mark.parametrize("payload", [Hold(), Stop("decelerate")], ids=repr)
def test_11_hold_and_stop_are_unchanged_on_the_way_back(payload) -> None:
    # adapted: a driver does not publish commands, so the way back is asked by itself
    assert to_joint_space(payload, BOTH) == payload


def test_11_what_holds_no_motor_quantity_is_unchanged_on_its_way_out() -> None:
    error = HardwareError(("motor",), "warm")
    assert seen(BOTH, error, HardwareError) == error


@pytest.mark.parametrize(
    ("case", "limits", "transmission", "expected"),
    [
        (12, Limits(-1, 2, 5, 10, 0.5), Transmission(), MotorProfile(-1, 2, 5, 10, 0.5, 0.5)),
        (13, Limits(-1, 2, 1, None, 1), Transmission(10, 0.5, False), MotorProfile(-15, 15, 10, None, 0.1, 0.0)),
        (14, Limits(0, 1, 1, None, 1), Transmission(1, 0, True), MotorProfile(-1, 0, 1, None, 1, -0.5)),
        (15, Limits(None, None, 5, 10, 0.5), Transmission(50, 0, True), MotorProfile(None, None, 250, 500, 0.01, 0.0)),
    ],
    ids=lambda x: f"case {x}" if isinstance(x, int) else "",
)
def test_12_to_15_the_motors_limits_as_its_driver_sees_them(case: int, limits: Limits, transmission: Transmission, expected: MotorProfile) -> None:
    # adapted: cases 13 and 14 have no limits of velocity and effort; a revolute joint here needs them
    probe = Probe()

    async def body(rt):
        return probe.context.motor

    found = drive(robot(transmission, limits), {"motor": lambda: probe}, body)
    for field in MotorProfile.__slots__:
        assert getattr(found, field) == (None if getattr(expected, field) is None else near(getattr(expected, field))), field


def test_15_without_limits() -> None:
    probe = Probe()

    async def body(rt):
        return probe.context.motor

    assert drive(robot(Transmission(50, 0, True), None, "continuous"), {"motor": lambda: probe}, body) == MotorProfile(
        None, None, None, None, None, 0.0
    )


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("t", [Transmission(), Transmission(0.02, -3, True), Transmission(1e4, 1e-3, False), BOTH], ids=repr)
def test_power_is_the_same_on_both_sides(t: Transmission, kind: str) -> None:
    probe = Probe()

    async def body(rt):
        rt.arm()
        rt["motor"].direct.set_velocity(0.7)
        rt["motor"].direct.send(Effort(3))

    drive(robot(t, WIDE, kind), {"motor": lambda: probe}, body)
    v, e = probe.commands
    assert v.velocity * e.effort == pytest.approx(2.1, rel=1e-14)
    assert math.copysign(1.0, v.velocity) == (-1.0 if t.reversed else 1.0)
