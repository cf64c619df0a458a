"""A wait that was too long says what it waited for, how long, and what to do."""

import asyncio
import threading
from dataclasses import replace

import pytest
from rig import Servo, robot, run

from pushrod.core.errors import InputError
from pushrod.robot.description import Sensor
from pushrod.runtime import WallClock


def test_a_motion_that_does_not_end_is_named() -> None:
    async def body(rt):
        with pytest.raises(
            TimeoutError, match=r"^base/shoulder/motor: the motion 'lift' has not ended within 2.5 s; see whether its command was accepted"
        ):
            await rt.motion("motor", "lift", timeout=2.5)
        assert rt.clock.now() == 2.5

    run(robot(), {"motor": Servo}, body)


def test_a_request_that_is_not_answered_is_named() -> None:
    ready = threading.Event()

    class Slow(Servo):
        blocking = True

        def handle_request(self, request):
            assert ready.wait(5.0)
            return "ready"

    async def body(rt):
        with pytest.raises(TimeoutError, match=r"^base/shoulder/motor has not answered the request 'calibrate' within 0.02 s; its driver is still"):
            await rt["motor"].request("calibrate", timeout=0.02)
        ready.set()
        assert await rt["motor"].request("calibrate") == "ready"

    run(robot(), {"motor": Slow}, body, WallClock())


def test_a_timeout_of_the_driver_itself_passes_as_it_is() -> None:
    class Deaf(Servo):
        def handle_request(self, request):
            raise TimeoutError("no answer on the bus")

    async def body(rt):
        with pytest.raises(TimeoutError, match="^no answer on the bus$"):
            await rt["motor"].request("calibrate")
        with pytest.raises(TimeoutError, match="^no answer on the bus$"):
            await rt.request("sensor", "calibrate")

    run(replace(robot(), sensors=(Sensor("sensor"),)), {"motor": Deaf, "sensor": Deaf}, body)


@pytest.mark.parametrize("timeout", [-1.0, "5", float("nan"), True], ids=repr)
def test_a_timeout_that_is_none_is_refused(timeout) -> None:
    async def body(rt):
        with pytest.raises(InputError, match="timeout must be a number of seconds, not negative, or None for no limit"):
            await rt.motion("motor", "lift", timeout=timeout)

    run(robot(), {"motor": Servo}, body)


def test_a_wait_that_is_cancelled_is_cancelled() -> None:
    async def body(rt):
        waiting = asyncio.create_task(rt.motion("motor", "lift", timeout=5.0))
        await asyncio.sleep(1.0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    run(robot(), {"motor": Servo}, body)
