"""The pipeline behind the runtime comes to rest: by silence, abort, disarming, a driver that dies, and starts from there."""

import asyncio
import math

import pytest
from pipeline_rig import ACT, DT, SETTLING, Boat, rates, run, under_way

from pushrod.live.pipeline import AutopilotRequest, Helm, ManualRequest, Status
from pushrod.pipeline.topic import EscOutput
from pushrod.runtime import HardwareError, Message


def test_a_source_that_falls_silent_is_brought_to_rest_slewed_and_in_time() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        last = b.rt.clock.now() - DT  # the last request
        while b.gives() != (0.0, 0.0):
            assert b.rt.clock.now() <= last + ACT.timeout.ap + SETTLING + 2.0 * DT + 1e-9
            await asyncio.sleep(DT)
        assert b.rt.clock.now() > last + ACT.timeout.ap
        assert b.helm.status == Status("autopilot", "NONE", "timeout", True)
        assert max(rates(b)) <= 3.0 * DT + 1e-12

    run(body)


@pytest.mark.parametrize("ahead", [0.3, 30.0, math.inf])
def test_a_request_from_a_clock_that_is_ahead_lasts_no_longer(ahead: float) -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        now = b.rt.clock.now()
        b.rt.bus.publish(Message(AutopilotRequest(0.6, 0.3), ("ACTUATOR_REQ", "AUTOPILOT"), now + ahead, 0.0, b.rt.robot.name, "planner"))
        await asyncio.sleep(ACT.timeout.ap + SETTLING + 3.0 * DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status == Status("autopilot", "NONE", "timeout", True)

    run(body)


def test_what_is_no_request_on_a_topic_of_requests_is_told_once() -> None:
    async def body(b: Boat) -> None:
        errors = b.rt.subscribe("safety/error", [HardwareError])
        for payload in ("full ahead", ManualRequest(), AutopilotRequest(0.1, 0.0), "full ahead"):
            now = b.rt.clock.now()
            b.rt.bus.publish(Message(payload, ("ACTUATOR_REQ", "AUTOPILOT"), now, 0.0, b.rt.robot.name, "planner"))
        b.rt.bus.publish(Message("my loops", ("ACTUATOR_REQ", "AUTOPILOT", "LOOPS"), b.rt.clock.now(), 0.0, b.rt.robot.name, "planner"))  # no mistake
        await asyncio.sleep(2.0 * DT)
        told = []
        while (message := errors.poll()) is not None:
            told.append(message.payload.error)
        assert told == [
            f"a {kind} on ACTUATOR_REQ/AUTOPILOT is no request of AUTOPILOT and is ignored; send AutopilotRequest"
            for kind in ("str", "ManualRequest")
        ]

    run(body)


@pytest.mark.parametrize("who", ["operator", "pilot", "anybody"])
def test_everybody_may_abort_and_it_stays_until_it_is_cleared(who: str) -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        assert Helm(b.rt, by=who).abort().ok
        for _ in range(math.ceil(SETTLING / DT) + 1):
            b.helm.autopilot(0.6, 0.3)
            await asyncio.sleep(DT)
        assert b.gives() == (0.0, 0.0)
        assert max(rates(b)) <= 3.0 * DT + 1e-12
        assert not b.helm.switch("autopilot").ok
        assert not b.pilot.switch("idle").ok
        assert b.helm.status == Status("abort", "NONE", "abort", True)
        assert b.helm.switch("idle").ok
        assert b.helm.switch("autopilot").ok

    run(body)


def test_disarmed_the_motors_come_to_rest_by_themselves_and_the_pipeline_beside_them() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.disarm()
        start = b.rt.clock.now()
        last = b.gives()
        while b.gives() != (0.0, 0.0):
            await asyncio.sleep(DT)
            assert all(0.0 <= was - now <= DT / 0.4 + 1e-9 for was, now in zip(last, b.gives(), strict=True))
            last = b.gives()
        assert b.rt.clock.now() - start <= 0.4 + DT
        assert b.heard(EscOutput)[-1][:2] == (0.0, 0.0)
        assert b.helm.status == Status("autopilot", "NONE", "disarmed", False)

    run(body)


def test_armed_again_it_starts_from_rest() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.disarm()
        assert b.rt.arm().ok  # before the pipeline has had a tick to see that
        b.helm.autopilot(0.6, 0.3)
        await asyncio.sleep(DT)
        assert max(b.heard(EscOutput)[-1][:2]) <= 2.0 * DT + 1e-12

    run(body)


def test_a_motor_whose_driver_dies_takes_the_other_one_to_rest() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.hosts["left"].part.fail(OSError("wire cut"))
        for _ in range(math.ceil(SETTLING / DT) + 2):
            b.helm.autopilot(0.6, 0.3)
            await asyncio.sleep(DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status is not None
        assert b.helm.status.reason == "disarmed"
        assert b.rt.arm().ok
        await under_way(b)

    run(body)


def test_a_pipeline_that_dies_and_is_started_again_owns_nothing() -> None:
    async def body(b: Boat) -> None:
        await under_way(b)
        b.rt.nodes["pipeline"].part.fail(RuntimeError("a mistake"))
        for _ in range(3):
            await asyncio.sleep(DT)
        assert b.gives() == (0.0, 0.0)
        assert b.helm.status == Status("idle", "NONE", "idle", True)
        await under_way(b)

    run(body)


def test_nothing_is_sent_before_arming() -> None:
    async def body(b: Boat) -> None:
        b.helm.switch("test")
        b.helm.test(1.0, 0.0)
        await asyncio.sleep(0.3)
        assert b.gives() == (0.0, 0.0)
        assert b.rt["left"].statistics().acted == 0
        assert b.rt["left"].statistics().refused == {}  # nor tried

    run(body, arm=False)
