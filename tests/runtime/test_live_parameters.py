"""Parameters while a robot runs: checked as a whole, handed to whom they concern once, told to observers, kept."""

import asyncio
from typing import Any

import msgspec
import pytest
from rig import DISARMED, Servo, run

from pushrod.core.errors import ConfigError, ParameterError
from pushrod.robot.description import Actuator, Joint, Limits, Parameter, ParameterRef, Robot, Transmission
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.message import ParameterChanged
from pushrod.runtime.runtime import Runtime


class Options(msgspec.Struct, frozen=True):
    max_effort: float
    gain: float = 1.0


class Tuned(Servo):
    options = Options

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[float, float | None]] = []

    def init(self, context: Any, options: Options) -> None:
        super().init(context, options)
        self.heard.append((options.max_effort, context.motor.upper))

    def handle_options(self, context: Any, options: Options) -> None:
        self.heard.append((options.max_effort, context.motor.upper))


PARAMETERS = (
    Parameter("motion.effort", "float", 10.0, lo=0.0, hi=100.0, unit="N.m"),
    Parameter("motion.top", "float", 2.0, lo=-3.0, hi=3.0, unit="rad"),
    Parameter("gear.offset", "float", 0.0, lo=-1.0, hi=1.0, unit="rad"),
    Parameter("other", "float", 0.0),
)


def tuned() -> Robot:
    limits = Limits(-3.0, ParameterRef("motion.top"), velocity=1.0, acceleration=2.0, effort=10.0)
    gear = Transmission(50.0, ParameterRef("gear.offset"), True)
    return Robot(
        "r",
        links=("base", "arm"),
        joints=(Joint("shoulder", "revolute", "base", "arm", limits=limits),),
        actuators=(Actuator("motor", "shoulder", transmission=gear, options={"max_effort": ParameterRef("motion.effort")}),),
        parameters=PARAMETERS,
    )


def test_options_limits_and_transmission_follow_a_change_and_the_driver_is_told_once() -> None:
    servo = Tuned()

    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("param",))
        rt.arm()
        before = rt["motor"].direct.set_position(5.0).done.position
        rt.parameters.set_many({"motion.effort": 20.0, "motion.top": 1.0, "gear.offset": 0.5})
        after = rt["motor"].direct.set_position(5.0).done.position
        rt.parameters.set("other", 1.0)
        told = []
        while (m := watch.poll()) is not None:
            told.append((m.topic, m.payload))
        return before, after, told

    before, after, told = run(tuned(), {"motor": lambda: servo}, body)
    assert (before, after) == (2.0, 1.0)
    assert [p.position for p in servo.told] == [-100.0, -25.0]
    # reversed: the motor's upper end is the joint's lower one
    assert servo.heard == [(10.0, 150.0), (20.0, 175.0)]
    assert told[0] == (("param", "motion", "effort"), ParameterChanged("motion.effort", 10.0, 20.0, "local"))
    assert [payload.path for _, payload in told] == ["motion.effort", "motion.top", "gear.offset", "other"]
    assert DISARMED[-1]["max_effort"] == 20.0  # safety knows the options as they are now


def test_a_set_the_driver_would_not_take_changes_nothing() -> None:
    class Narrow(msgspec.Struct, frozen=True):
        max_effort: "float"

        def __post_init__(self) -> None:
            if self.max_effort > 50.0:
                raise ValueError("the motor burns above 50 N.m")

    class Careful(Tuned):
        options = Narrow

    servo = Careful()

    async def body(rt: Runtime) -> Any:
        with pytest.raises(ParameterError, match=r"base/shoulder/motor: options: the motor burns above 50 N\.m"):
            rt.parameters.set_many({"motion.effort": 60.0, "motion.top": 1.0})
        with pytest.raises(ParameterError, match="must be at least"):
            rt.parameters.set("motion.top", -3.0 - 1e-9)
        return rt.parameters.get("motion.effort"), rt.parameters.get("motion.top")

    assert run(tuned(), {"motor": lambda: servo}, body) == (10.0, 2.0)
    assert servo.heard == [(10.0, 150.0)]


def test_values_are_kept_and_start_up_wins(tmp_path: Any) -> None:
    file = tmp_path / "kept.json"

    def once(startup: dict[str, Any], change: dict[str, Any]) -> Any:
        async def main() -> Any:
            async with Runtime(tuned(), {"motor": Tuned}, clock=clock, persisted=file, startup=startup) as rt:
                rt.parameters.set_many(change)
                return dict(rt.parameters.snapshot())

        clock = SteppedClock()
        with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
            return runner.run(main())

    once({}, {"motion.effort": 30.0})
    assert once({}, {})["motion.effort"] == 30.0
    assert once({"motion.effort": 40.0}, {})["motion.effort"] == 40.0
    file.write_text("{ torn")
    assert once({}, {})["motion.effort"] == 10.0


def test_options_nobody_takes_are_named() -> None:
    with pytest.raises(
        ConfigError, match="^base/shoulder/motor: its driver takes no options, got max_effort: let its class declare them, `options = Options`"
    ):
        run(tuned(), {"motor": Servo}, lambda rt: asyncio.sleep(0))


def test_a_driver_that_stops_over_its_options_is_made_safe() -> None:
    class Sensitive(Tuned):
        def handle_options(self, context: Any, options: Options) -> None:
            raise ValueError("not while I run")

    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt.parameters.set("motion.effort", 11.0)
        return rt["motor"].direct.set_position(0.1)

    answer = run(tuned(), {"motor": Sensitive}, body)
    assert answer.reason == "stopped"
    assert "not while I run" in answer.detail
    assert DISARMED
