"""What a command costs, where that can be told on any machine: as a multiple of a bare call, and as what it leaves behind."""

import gc
import sys
import time
from collections.abc import Callable

import pytest
from rig import Servo, robot, run

from pushrod.robot.description import Transmission
from pushrod.runtime.clock import WallClock

GEARED = Transmission(50.0, 0.1, True)


class Plain(Servo):
    def handle_command(self, payload, command):
        self.last = payload


def seconds(f: Callable[[float], object], calls: int = 200, rounds: int = 50) -> float:
    """Processor time of a call, the best of many short rounds: what else the machine does is not in it."""

    def once() -> float:
        began = time.thread_time()
        for _ in range(calls):
            f(0.5)
        return time.thread_time() - began

    return min(once() for _ in range(rounds)) / calls


def test_a_direct_command_costs_less_than_150_bare_calls() -> None:
    async def body(rt):
        rt.arm()
        return seconds(rt["motor"].direct.set_position) / seconds(lambda x: None)

    assert run(robot(GEARED), {"motor": Plain}, body, WallClock()) < 150.0


@pytest.mark.parametrize("way", ["direct", "publish"])
def test_commands_leave_nothing_behind(way: str) -> None:
    async def body(rt):
        rt.arm()
        rt.bus.subscribe(("actuator",), size=8)
        view = getattr(rt["motor"], way)

        def some() -> int:
            for k in range(2000):
                assert view.set_position(1e-3 * (k % 100), 0.5).ok
                view.set_position(float("nan"))
            gc.collect()
            return sys.getallocatedblocks()

        some()
        return some() - some()

    assert abs(run(robot(GEARED), {"motor": Plain}, body)) < 50
