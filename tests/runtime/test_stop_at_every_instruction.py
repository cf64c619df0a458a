"""A stop from a signal handler works wherever it interrupts `arm`, `disarm` or `reset`: between any two bytecodes, whatever locks that thread holds.

A tracer stands for the handler: Python runs handlers between bytecodes, on the interrupted thread.
"""

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from rig import DISARMED, Servo, run

from counts import examples
from pushrod.robot.description import Actuator, Joint, Limits, Robot
from pushrod.runtime.clock import WallClock
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State

SOON = 1.0  # [s] a stop may take; where it waits for the thread it interrupts it takes 5
STRIDE = max(1, 20 // examples(1))  # bytecodes between two interruptions
BEGUN = 40  # bytecodes after which a reset has begun: an e-stop before that is one that it resets
NAMES = ("m0", "m1", "m2")


def three() -> Robot:
    joints = tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=Limits(-3.0, 3.0, velocity=1.0, effort=1.0)) for i in range(3))
    actuators = tuple(Actuator(name, f"j{i}") for i, name in enumerate(NAMES))
    return Robot("three", links=("base", "l0", "l1", "l2"), joints=joints, actuators=actuators)


def interrupted(call: Callable[[], Any], at: int, handler: Callable[[], None]) -> int:
    """Run the handler before bytecode number `at` of the runtime's code; return how many there were."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "pushrod" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == at:
                handler()
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("name", ["arm", "disarm", "reset"])
def test_a_stop_between_any_two_bytecodes(name: str) -> None:
    begin = {"arm": State.DISARMED, "disarm": State.ARMED, "reset": State.ESTOPPED}[name]

    async def body(rt: Runtime) -> None:
        def prepare() -> None:
            if begin is not State.ESTOPPED and rt.state is not State.DISARMED:
                assert (rt.reset() if rt.state is State.ESTOPPED else rt.disarm()).ok
            if begin is State.ARMED:
                assert rt.arm().ok
            if begin is State.ESTOPPED and rt.state is not begin:
                assert rt.estop("prepared").ok
            assert rt.state is begin

        def stop() -> None:
            before, began = len(DISARMED), time.monotonic()
            answer = rt.estop("signal")
            called = {options["path"][-1] for options in DISARMED[before:]}
            answers.append((at, time.monotonic() - began, set(NAMES) - called, answer))

        answers: list[tuple[int, float, set[str], Any]] = []
        at, total = 1, 2
        while at <= total:
            prepare()
            total = max(total, interrupted(getattr(rt, name), at, stop))
            assert not [answer for answer in answers if answer[1] > SOON or answer[2]]
            if answers and answers[-1][0] == at:  # not where this run had fewer bytecodes
                assert rt.state is State.ESTOPPED or (name == "reset" and at < BEGUN), at
            at += STRIDE

    run(three(), dict.fromkeys(NAMES, Servo), body, WallClock())
