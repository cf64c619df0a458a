"""Simulated motors behind the gate of a runtime: joint space outside, motor space inside."""

import asyncio
import math
from dataclasses import replace

import pytest

from pushrod.robot.description import Actuator, Joint, Limits, Robot, Transmission
from pushrod.runtime.bus import Subscription
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.message import BeginMotion, EndMotion, JointState
from pushrod.runtime.payload import Waypoint
from pushrod.runtime.runtime import Runtime
from pushrod.runtime.simulated import Kinematic

DEG = math.pi / 180.0
GEARED = Transmission(50.0, 45.0 * DEG, True)


def one_joint(transmission: Transmission | None = None, limits: Limits | None = None) -> Robot:
    limits = limits or Limits(-math.pi, math.pi, velocity=60.0 * DEG, acceleration=120.0 * DEG, effort=10.0)
    return Robot(
        "r",
        links=("base", "arm"),
        joints=(Joint("shoulder", "revolute", "base", "arm", limits=limits),),
        actuators=(Actuator("motor", "shoulder", "pushrod.runtime.simulated:Kinematic", transmission=transmission or Transmission()),),
    )


def run(robot: Robot, body):
    clock = SteppedClock()

    async def main():
        async with Runtime(robot, clock=clock) as rt:
            return await body(rt, rt.bus.subscribe(("actuator",)))

    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        return runner.run(main())


def heard(watch: Subscription, kind: type) -> list:
    found = []
    while (m := watch.poll()) is not None:
        if isinstance(m.payload, kind):
            found.append(m.payload)
    return found


def test_refused_while_disarmed() -> None:
    async def body(rt, watch):
        result = rt["motor"].direct.set_position(1.0)
        await asyncio.sleep(0.1)
        return result, heard(watch, BeginMotion)

    result, begun = run(one_joint(), body)
    assert (result.reason, begun) == ("not_armed", [])


def test_through_a_reversed_gear() -> None:
    target = math.pi / 4.0 + 0.01

    async def body(rt, watch):
        rt.arm()
        rt["motor"].direct.set_position(target, id="go")
        end = await rt.motion("motor", "go")
        return end, watch, heard(watch, object)

    end, _, said = run(one_joint(GEARED), body)
    begin = next(p for p in said if isinstance(p, BeginMotion))
    assert begin.target_position == pytest.approx(target, abs=1e-9)
    assert begin.peak_velocity is not None
    assert 0.0 < begin.peak_velocity <= 60.0 * DEG + 1e-9
    assert (end.reason, end.position) == ("completed", pytest.approx(target, abs=1e-9))
    last = [p for p in said if isinstance(p, JointState)][-1]
    assert last.names == ("shoulder",)
    assert begin.initial_position == pytest.approx(0.0, abs=1e-12)  # the middle of the travel, in joint space too


def test_retargeted_on_the_way() -> None:
    async def body(rt, watch):
        rt.arm()
        servo = rt["motor"].direct
        servo.set_position(1.0)
        await asyncio.sleep(0.05)
        servo.set_position(0.5)
        return heard(watch, BeginMotion)

    limits = Limits(-math.pi, math.pi, velocity=10.0 * DEG, effort=10.0)
    first, second = run(one_joint(limits=limits), body)
    assert first.initial_position == 0.0
    assert second.initial_position == pytest.approx(0.0087, abs=1e-4)


def test_a_target_beyond_the_travel_is_clamped_and_said_to_be() -> None:
    async def body(rt, watch):
        rt.arm()
        result = rt["motor"].direct.set_position(3.0)
        return result, heard(watch, BeginMotion)

    result, (begin,) = run(one_joint(limits=Limits(-90.0 * DEG, 90.0 * DEG, velocity=1.0, effort=1.0)), body)
    assert (result.ok, result.done.position) == (True, pytest.approx(1.5708, abs=1e-4))
    assert begin.target_position == pytest.approx(1.5708, abs=1e-4)


def test_disarming_stops_what_moves() -> None:
    async def body(rt, watch):
        rt.arm()
        rt["motor"].direct.set_velocity(1.0, id="go")
        await asyncio.sleep(0.7)
        answer = rt.disarm()
        before = await rt["motor"].request("state")
        await asyncio.sleep(1.0)
        return answer, before, await rt["motor"].request("state"), heard(watch, EndMotion)

    answer, before, after, (end,) = run(one_joint(), body)
    assert answer.ok
    assert (before["velocity"], after) == (0.0, before)
    assert (end.reason, end.detail, end.command_id) == ("cancelled", "disarmed", "go")


def test_a_fault_stops_this_actuator_and_a_new_driver_takes_its_place() -> None:
    async def body(rt, watch):
        rt.arm()
        rt["motor"].direct.set_velocity(1.0, id="go")
        await asyncio.sleep(0.5)
        await rt["motor"].request({"fault": "overheated"})
        result = rt["motor"].direct.set_position(0.0)
        await asyncio.sleep(0.1)
        rt.arm()
        again = rt["motor"].direct.set_position(0.1, id="again")
        end = await rt.motion("motor", "again", timeout=5.0)
        return result, again, end, heard(watch, EndMotion)

    result, again, end, ends = run(one_joint(), body)
    assert (result.reason, "overheated" in result.detail) == ("driver_error", True)
    assert again.ok
    assert end.reason == "completed"
    assert (ends[0].reason, ends[0].message) == ("fault", "overheated")


def test_a_trajectory_to_its_end() -> None:
    async def body(rt, watch):
        rt.arm()
        points = [Waypoint(0.3, 1.0), Waypoint(-0.3, 2.5), Waypoint(0.0, 4.0)]
        rt["motor"].direct.follow_trajectory(points, id="path")
        await asyncio.sleep(2.5)
        middle = await rt["motor"].request("state")
        end = await rt.motion("motor", "path")
        return middle, end, rt.clock.now()

    middle, end, t = run(one_joint(), body)
    assert middle["position"] == pytest.approx(-0.3)
    assert (end.reason, end.position, t) == ("completed", pytest.approx(0.0, abs=1e-12), pytest.approx(4.0))


def test_the_same_run_says_the_same_twice() -> None:
    async def body(rt, watch):
        rt.arm()
        servo = rt["motor"].direct
        for k in range(20):
            servo.set_position(math.sin(k), id=f"n{k}")
            await asyncio.sleep(0.137)
        said = []
        while (m := watch.poll()) is not None:
            said.append((m.time, m.payload))
        return said

    first = run(one_joint(GEARED), body)
    assert first == run(one_joint(GEARED), body)
    assert len(first) > 150


def test_the_class_can_be_named_or_given() -> None:
    async def body(rt, watch):
        return type(rt.hosts["motor"].part.driver.driver)

    assert run(one_joint(), body) is Kinematic


def test_a_trajectory_that_is_too_fast_between_its_points_is_accepted_slower_and_says_so() -> None:
    async def body(rt, watch):
        rt.arm()
        answer = rt["motor"].direct.follow_trajectory([Waypoint(0.0, 0.5), Waypoint(1.0, 0.6)], id="rush")
        end = await rt.motion("motor", "rush", timeout=60.0)
        return type(answer).__name__, answer.info["slower"], end.position, rt.clock.now()

    kind, slower, position, seconds = run(one_joint(), body)
    assert (kind, position) == ("Accepted", pytest.approx(1.0))
    assert slower > 5.0
    assert seconds == pytest.approx(0.6 * slower)


def test_where_what_is_beyond_the_limits_is_rejected_such_a_trajectory_is_too_and_the_motion_under_way_goes_on() -> None:
    async def body(rt, watch):
        rt.arm()
        rt["motor"].direct.set_position(0.5, id="first")
        answer = rt["motor"].direct.follow_trajectory([Waypoint(0.0, 0.5), Waypoint(1.0, 0.6)], id="rush")
        end = await rt.motion("motor", "first", timeout=60.0)
        slow = rt["motor"].direct.follow_trajectory([Waypoint(0.5, 1.0), Waypoint(1.0, 60.0)])
        return answer, end, slow

    robot = one_joint()
    motor = replace(robot.actuators[0], limit_policy="reject")
    answer, end, slow = run(replace(robot, actuators=(motor,)), body)
    assert answer.reason == "limits"
    assert "within the limits it would take" in answer.detail
    assert (end.reason, end.position) == ("completed", pytest.approx(0.5))
    assert slow.ok
