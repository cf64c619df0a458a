"""A batch acts as a whole or not at all, also where a driver declines; and a declined command may be sent again."""

from typing import Any

import pytest
from rig import Servo, robot, run

from pushrod.robot.description import Actuator, Joint, Limits, Robot
from pushrod.runtime import Position, Runtime, Trajectory, Waypoint
from pushrod.runtime.result import Declined
from pushrod.runtime.simulated.kinematic import Kinematic


def pair(**actuator: Any) -> Robot:
    limits = Limits(-3.0, 3.0, velocity=1.0, acceleration=2.0, effort=10.0)
    joints = [Joint(name, "revolute", "base", f"{name}_link", limits=limits) for name in ("left", "right")]
    return Robot(
        "r",
        links=("base", "left_link", "right_link"),
        joints=joints,
        actuators=[Actuator(f"{joint.name}_motor", joint.name, **actuator) for joint in joints],
    )


class Picky(Servo):
    def check_command(self, payload: Any, command: Any) -> None:
        if payload.position < 0.0:
            raise Declined("not backwards")


class Late(Servo):
    """Declines while it acts."""

    def handle_command(self, payload: Any, command: Any) -> None:
        if payload.position < 0.0:
            raise Declined("not backwards")
        super().handle_command(payload, command)


@pytest.mark.parametrize("culprit", ["left_motor", "right_motor"])
def test_no_command_of_a_batch_acts_where_one_is_declined(culprit: str) -> None:
    servos = {"left_motor": Picky(), "right_motor": Picky()}

    async def body(rt: Runtime) -> Any:
        rt.arm()
        results = rt.send([(name, Position(-0.1 if name == culprit else 0.1)) for name in servos])
        return [result.reason for result in results]

    reasons = run(pair(), {name: lambda servo=servo: servo for name, servo in servos.items()}, body)
    assert reasons == ["declined" if name == culprit else "batch" for name in servos]
    assert all(servo.told == [] for servo in servos.values())


def test_a_driver_without_the_hook_stops_the_rest_of_the_batch_and_the_answers_are_true() -> None:
    servos = {"left_motor": Late(), "right_motor": Late()}

    async def body(rt: Runtime) -> Any:
        rt.arm()
        first = rt.send([("left_motor", Position(-0.1)), ("right_motor", Position(0.1))])
        second = rt.send([("left_motor", Position(0.2)), ("right_motor", Position(-0.2)), ("left_motor", Position(0.3))])
        return [r.reason for r in first], [r.ok for r in second], second[2].detail

    first, second, detail = run(pair(), {name: lambda servo=servo: servo for name, servo in servos.items()}, body)
    assert (first, second) == (["declined", "batch"], [True, False, False])
    assert "had acted" in detail
    assert servos["left_motor"].told == [Position(0.2)]
    assert servos["right_motor"].told == []


def test_simulated_motors_decline_a_trajectory_before_the_batch_acts() -> None:
    fast = Trajectory((Waypoint(0.0, 0.01), Waypoint(2.0, 0.02)))

    async def body(rt: Runtime) -> Any:
        rt.arm()
        results = rt.send([("left_motor", Position(1.0)), ("right_motor", fast)])
        state = await rt["left_motor"].request("state")
        return [result.reason for result in results], state["position"], rt["left_motor"].statistics().acted

    assert run(pair(limit_policy="reject"), {"left_motor": Kinematic, "right_motor": Kinematic}, body) == (["batch", "limits"], 0.0, 0)


@pytest.mark.parametrize("driver", [Picky, Late])
def test_a_declined_command_may_be_sent_again_with_its_number(driver: Any) -> None:
    servo = driver()

    async def body(rt: Runtime) -> Any:
        rt.arm()
        direct = rt["motor"].direct
        return direct.set_position(-0.1, sequence=5).reason, direct.set_position(0.1, sequence=5).ok, direct.set_position(0.1, sequence=5).reason

    assert run(robot(), {"motor": lambda: servo}, body) == ("declined", True, "sequence")


def test_a_reason_that_is_not_in_the_table_is_reported_as_declined() -> None:
    class Own(Declined):
        reason = "moon_phase"

    class Moody(Servo):
        def check_command(self, payload: Any, command: Any) -> None:
            raise Own("new moon")

    async def body(rt: Runtime) -> Any:
        rt.arm()
        answer = rt["motor"].direct.set_position(0.1)
        return answer.reason, answer.detail

    assert run(robot(), {"motor": Moody}, body) == ("declined", "new moon")


def test_a_check_that_crashes_stops_the_driver() -> None:
    class Broken(Servo):
        def check_command(self, payload: Any, command: Any) -> None:
            raise RuntimeError("wire")

    async def body(rt: Runtime) -> Any:
        rt.arm()
        return rt.send([("motor", Position(0.1))])[0].reason, rt["motor"].direct.set_position(0.1).ok

    assert run(robot(), {"motor": Broken}, body) == ("driver_error", False)
