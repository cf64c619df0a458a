"""What is asked of the pipeline behind the runtime: numbers, sticks, messages, modes, and that nobody else commands its motors."""

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipeline_rig import DT, SETTLING, Boat, boat, run, under_way

from pushrod.core.errors import InputError
from pushrod.live.payload import Throttle
from pushrod.live.pipeline import AutopilotRequest, ManualRequest, Status, Switch
from pushrod.live.pipeline.ownership import Rules, switch
from pushrod.pipeline.names import BY_NOT_FINITE, MODES, NONE
from pushrod.pipeline.topic import ActuatorReq
from pushrod.runtime import HardwareError, Message


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, "fast", None])
def test_what_is_no_number_gives_rest_and_a_report(value: Any) -> None:
    async def body(b: Boat) -> None:
        errors = b.rt.subscribe("safety/error", (HardwareError,))
        await under_way(b)
        b.helm.autopilot(value, 0.1)
        await asyncio.sleep(DT)
        assert b.heard(ActuatorReq)[-1] == ActuatorReq(0.0, 0.0, NONE, BY_NOT_FINITE)
        await asyncio.sleep(SETTLING + DT)
        assert b.gives() == (0.0, 0.0)
        message = errors.poll()
        assert message is not None
        assert "not finite" in message.payload.error
        assert errors.poll() is None  # once
        await under_way(b)

    run(body)


def test_sticks_are_read_through_their_calibration_and_a_lost_pulse_is_rest() -> None:
    async def body(b: Boat) -> None:
        assert b.pilot.switch("manual").ok
        for _ in range(100):
            b.helm.manual(1750.0, 1400.0)
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((0.5 + 0.2, 0.5 - 0.2))
        b.helm.manual(0.0, 1400.0)
        await asyncio.sleep(SETTLING + 2.0 * DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status == Status("manual", "NONE", "no_pulse", True)

    run(body)


def test_requests_come_as_messages_on_the_topics_of_their_sources() -> None:
    async def body(b: Boat) -> None:
        def say(payload: Any, topic: tuple[str, ...]) -> None:
            now = b.rt.clock.now()
            b.rt.bus.publish(Message(payload, topic, now, now, "boat", "loops"))

        b.helm.switch("autopilot")
        for _ in range(50):
            say(AutopilotRequest(0.4, 0.0), ("nav", "loops"))  # where this boat's autopilot speaks
            say(AutopilotRequest(-1.0, 0.0), ("ACTUATOR_REQ", "AUTOPILOT"))  # not here
            say(AutopilotRequest(-1.0, 0.0), ("ACTUATOR_REQ", "MANUAL"))  # nor for another
            say(ManualRequest(2000.0, 1500.0), ("ACTUATOR_REQ", "MANUAL"))  # heard, but not the owner
            await asyncio.sleep(DT)
        assert b.gives() == pytest.approx((0.4, 0.4))
        b.pilot.switch("manual")
        await asyncio.sleep(DT)
        assert b.heard(ActuatorReq)[-1].u_s_req == 1.0

    run(body, boat(topics={"AUTOPILOT": "nav/loops"}))


def test_what_nobody_understands_is_the_callers_mistake() -> None:
    async def body(b: Boat) -> None:
        with pytest.raises(LookupError, match="a pipeline answers AutopilotRequest.*got 'faster'"):
            await b.rt.request("pipeline", "faster")
        with pytest.raises(InputError, match="one number from 0 to 1 for each of left, right"):
            b.helm.announce(1.0)
        with pytest.raises(LookupError):
            b.helm.axes("AUTOPILOT", 1.0, 0.0)
        with pytest.raises(InputError, match="MANUAL asks with 2 numbers, rc_s and rc_d; got 1"):
            b.helm.manual(1500.0)
        assert (await b.rt.request("pipeline", Switch("warp", "operator"))).why.startswith("there is no mode named 'warp'")
        assert not b.rt.nodes["pipeline"].part.stopped

    run(body)


@given(st.lists(st.tuples(st.sampled_from(MODES), st.sampled_from(["operator", "pilot", "autopilot"])), max_size=20))
def test_modes_change_by_the_rules(asked: list[tuple[str, str]]) -> None:
    rules, mode = Rules(), "idle"
    for to, by in asked:
        answer = switch(rules, mode, Switch(to, by))
        if to in ("abort", mode):
            assert answer.ok
        elif mode == "abort":
            assert answer.ok == (to == "idle" and by == "operator")
        else:
            assert answer.ok == (by == "operator" or (by == "pilot" and to in ("idle", "manual")))
        assert answer.mode == (to if answer.ok else mode)
        assert bool(answer.why) != answer.ok
        mode = answer.mode


def test_the_pipeline_is_the_only_commander_of_its_motors() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        assert b.rt["left"].direct.send(Throttle(-1.0)).reason == "lease"
        assert b.rt["left"].direct.stop().ok  # a stop needs no lease

    run(body)
