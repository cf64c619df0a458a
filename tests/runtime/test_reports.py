"""What a part may publish: reports of joints there are, and structs of its own; all else is refused where it is published."""

import asyncio
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from rig import Servo, robot, run

from pushrod.core.errors import InputError
from pushrod.robot.description import Controller, Sensor
from pushrod.runtime import Command, EndMotion, JointState, Position
from pushrod.runtime.simulated import OpenLoopEstimator


class Temperature(msgspec.Struct, frozen=True):
    celsius: float


class Quiet:
    def init(self, context: Any, options: Any) -> None:
        self.context = context


NOT_REPORTS = [
    (5, "5 is not published; a part publishes JointState, BeginMotion, EndMotion, or a msgspec Struct of its own"),
    ("warm", "'warm' is not published"),
    ({"celsius": 5.0}, "is not published"),
    (Position(0.5), "Position is not published: it is a command; send it with context.actuator"),
    (Command(Position(0.5), "me", 0.0), "Command is not published: it is a command"),
    (JointState(("sholder",), (1.0,)), "JointState is not published: there is no joint 'sholder' here; did you mean 'shoulder'. known: shoulder"),
    (JointState(("shoulder", "elbow"), (1.0, 2.0)), "there is no joint 'elbow' here"),
]


@pytest.mark.parametrize("part", ["motor", "sensor", "controller"])
@pytest.mark.parametrize(("payload", "why"), NOT_REPORTS, ids=range(len(NOT_REPORTS)))
def test_what_is_no_report_is_refused_where_it_is_published(part: str, payload: Any, why: str) -> None:
    parts = {"motor": Servo(), "sensor": Quiet(), "controller": Quiet()}
    whole = replace(robot(), sensors=(Sensor("sensor"),), controllers=(Controller("controller"),))

    async def body(rt):
        watch = rt.subscribe()
        with pytest.raises(InputError, match=why):
            parts[part].context.publish(payload)
        return watch.poll()

    assert run(whole, {name: lambda p=p: p for name, p in parts.items()}, body) is None


def test_structs_of_ones_own_and_sound_reports_pass() -> None:
    servo, sensor = Servo(), Quiet()

    async def body(rt):
        watch = rt.subscribe()
        for payload in (Temperature(40.0), JointState(("shoulder",), (1.0,)), EndMotion(1.0, "completed")):
            servo.context.publish(payload)
            sensor.context.publish(payload)
        return sum(1 for _ in iter(watch.poll, None))

    assert run(replace(robot(), sensors=(Sensor("sensor"),)), {"motor": lambda: servo, "sensor": lambda: sensor}, body) == 6


def test_an_estimator_that_sits_on_no_joint_tells_of_that_of_its_actuator_also_by_a_tail_of_its_path() -> None:
    whole = replace(robot(), sensors=(Sensor("estimator", options={"actuator": "shoulder/motor"}),))
    servo = Servo()

    async def body(rt):
        watch = rt.subscribe("sensor", JointState)
        servo.context.publish(EndMotion(0.25, "completed"))
        await asyncio.sleep(0.01)
        return watch.poll().payload

    assert run(whole, {"motor": lambda: servo, "estimator": OpenLoopEstimator}, body) == JointState(("shoulder",), (0.25,), (0.0,))
