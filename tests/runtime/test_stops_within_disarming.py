"""A disarm function that stops the robot itself or raises oddly, and a shutdown that is interrupted: the stop ends, and all is closed."""

import asyncio
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from rig import Servo, run

from pushrod.guard.settings import Guard
from pushrod.robot.description import Actuator, Joint, Limits, Robot
from pushrod.runtime.arming import NotSafeError
from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State

CALLS: list[str] = []
RUNTIMES: list[Runtime] = []


def two() -> Robot:
    joints = tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=Limits(-3.0, 3.0, velocity=1.0, effort=1.0)) for i in range(2))
    return Robot("two", links=("base", "l0", "l1"), joints=joints, actuators=(Actuator("m0", "j0"), Actuator("m1", "j1")))


def stop_again(options: dict[str, Any]) -> None:
    CALLS.append(options["path"][-1])
    if RUNTIMES:
        RUNTIMES[0].estop("from a disarm function")


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise SystemExit


def raise_unreadable(options: dict[str, Any]) -> None:
    raise UnreadableError


class Stopping(Servo):
    disarm = "test_stops_within_disarming:stop_again"


class Unreadable(Servo):
    disarm = "test_stops_within_disarming:raise_unreadable"


@pytest.fixture(autouse=True)
def _nothing_before() -> Iterator[None]:
    CALLS.clear()
    yield
    RUNTIMES.clear()


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
@pytest.mark.parametrize("verb", ["estop", "disarm", "fault"])
def test_a_disarm_function_that_stops_the_robot_is_called_once_for_each_stop(clock: Any, verb: str) -> None:
    async def body(rt: Runtime) -> None:
        RUNTIMES.append(rt)
        assert rt.arm().ok
        CALLS.clear()
        began = time.monotonic()
        answer = {"estop": rt.estop, "disarm": rt.disarm, "fault": rt.arming.fault}[verb]("test")
        assert time.monotonic() - began < 1.0
        assert answer.failures == {}
        assert rt._decisions.settled() == {}
        assert rt.state is State.ESTOPPED  # of the stop inside
        assert sorted(CALLS) == ["m0", "m1"]
        RUNTIMES.clear()
        assert rt.reset().ok
        assert rt.arm().ok

    run(two(), {"m0": Stopping, "m1": Stopping}, body, clock())


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_an_error_that_ends_the_program_when_it_is_printed(clock: Any) -> None:
    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        began = time.monotonic()
        answer = rt.estop("test")
        assert time.monotonic() - began < 1.0
        assert list(answer.failures) == ["base/j0/m0"]
        assert "UnreadableError" in answer.failures["base/j0/m0"]

    with pytest.raises(NotSafeError, match="base/j0/m0"):
        run(two(), {"m0": Unreadable, "m1": Servo}, body, clock())


class Interrupted(Servo):
    def terminate(self, reason: str) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_in_terminate_leaves_nothing_behind() -> None:
    guards: list[int] = []

    async def once(driver: type[Servo]) -> None:
        async with Runtime(two(), {"m0": driver, "m1": driver}, guard=Guard(limit=5.0)) as rt:
            assert rt.arm().ok
            guards.append(rt._guarding._guard.pid)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(once(Interrupted))
    deadline = time.monotonic() + 5.0
    while os.path.exists(f"/proc/{guards[0]}") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{guards[0]}")
    asyncio.run(once(Servo))  # its name is free again
