"""Stops at the end of the interpreter, from signal handlers on the stepped clock, and beside foreign code that hangs."""

import asyncio
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest
from rig import DISARMED, Servo, robot, run

from pushrod.core.plain_function import discard, is_deferred
from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.message import BeginMotion, JointState
from pushrod.runtime.motions import GRACE, REMEMBERED, SILENT
from pushrod.runtime.payload import Position, Trajectory, Waypoint
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State

AT_EXIT = """
    import asyncio, atexit, sys, threading, time
    sys.path.insert(0, {rig!r})
    from rig import Servo, robot
    from pushrod.runtime.runtime import Runtime

    rt = None

    def last():
        if {late!r} == "atexit":
            rt.arm()
        print(rt.state.value, [host.gate.epoch for host in rt.hosts.values()])

    def keep_arming():
        while True:
            rt.arm()
            time.sleep(1e-4)

    async def begin():
        global rt
        rt = Runtime(robot(), {{"motor": Servo}}, guard=False)
        await rt.__aenter__()
        if {late!r} != "never armed":
            assert rt.arm().ok

    atexit.register(last)  # before the runtime's own handler, so that it runs after it
    asyncio.new_event_loop().run_until_complete(begin())
    if {late!r} in ("thread", "never armed"):
        threading.Thread(target=keep_arming, daemon=True).start()
        time.sleep(0.02 if {late!r} == "thread" else 0.0)
"""


@pytest.mark.parametrize("late", ["atexit", "thread", "never armed"])
def test_nothing_is_armed_after_the_interpreter_has_begun_to_end(late: str) -> None:
    rig = str(__file__).rpartition("/")[0]
    program = textwrap.dedent(AT_EXIT.format(rig=rig, late=late))
    for _ in range(1 if late == "atexit" else 5):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout.split("\n")[-2] == "disarmed [0]", done.stdout + done.stderr


def test_on_the_stepped_clock_an_e_stop_from_a_signal_handler_stays() -> None:
    """The handler interrupts `reset` at any moment; where it came after `reset` had begun, the robot stays e-stopped."""

    async def body(rt: Runtime) -> int:
        n, during, lost = 0, 0, 0
        fired: list[bool] = []

        def handle(number: int, frame: Any) -> None:
            fired.append(rt.arming.is_busy)
            rt.estop("signal")

        before = signal.signal(signal.SIGALRM, handle)
        try:
            ends = time.monotonic() + 2.0
            while time.monotonic() < ends:
                fired.clear()
                rt.estop("first")
                n += 1
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + n % 100))
                rt.reset()
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                if fired and fired[0]:
                    during += 1
                    lost += rt.state is not State.ESTOPPED
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        assert lost == 0
        return during

    assert run(robot(), {"motor": Servo}, body) > 10


def test_on_the_stepped_clock_a_stop_from_inside_a_call_is_served_again_after_it() -> None:
    answers, calls = [], []

    class Stopping(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            before = len(DISARMED)
            answers.append(rt_now[0].estop("signal"))
            calls.append(len(DISARMED) - before)

    rt_now: list[Runtime] = []

    async def body(rt: Runtime) -> None:
        rt_now.append(rt)
        rt.arm()
        before = len(DISARMED)
        rt["motor"].direct.set_position(0.1)
        calls.append(len(DISARMED) - before)

    run(robot(), {"motor": Stopping}, body)
    assert calls == [1, 2]
    assert (answers[0].ok, answers[0].state) == (False, State.ESTOPPED)
    assert list(answers[0].failures.values()) == ["still being made safe"]


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
@pytest.mark.parametrize(
    "payload",
    [
        Trajectory((Waypoint(0.1, 1.0),), repeat=10**400),
        Trajectory((Waypoint(0.1, 5e-324),)),
        Trajectory((Waypoint(0.1, 1.0), Waypoint(0.2, 1.0 + 1e-12))),
        Trajectory((Waypoint(0.1, 1e300),)),
        Position(0.1, duration=1e308),
        Position(0.1, duration=5e-324),
    ],
    ids=["repeat", "first time", "two times", "last time", "long", "short"],
)
def test_times_that_no_clock_can_count_are_malformed(payload: Any, clock: Any) -> None:
    async def body(rt: Runtime) -> list[Any]:
        rt.arm()
        return [rt["motor"].direct.send(payload, id=str(i)) for i in range(5)] + [rt.state]

    made = clock()

    async def main() -> list[Any]:
        async with Runtime(robot(), clock=made, simulation=True) as rt:
            return await body(rt)

    with asyncio.Runner(loop_factory=made.loop_factory) as runner:
        *results, state = runner.run(main())
    assert [one.reason for one in results] == ["malformed"] * 5
    assert state is State.ARMED


def test_motions_that_a_driver_begins_itself_end_and_are_bounded() -> None:
    class Restless(Servo):
        def init(self, context: Any, options: Any) -> None:
            super().init(context, options)
            context.call_later(0.01, self.move)

        def move(self) -> None:
            for n in range(3 * REMEMBERED):
                self.context.publish(BeginMotion(0.0, 1.0, self.context.now() + 0.1, f"own {n}"))

    async def body(rt: Runtime) -> Any:
        rt.arm()
        host = next(iter(rt.hosts.values()))
        await asyncio.sleep(0.02)
        assert len(host.motions.open) == REMEMBERED
        await asyncio.sleep(0.1 + SILENT + GRACE)
        return len(host.motions.open), host.ended[f"own {3 * REMEMBERED - 1}"].detail

    assert run(robot(), {"motor": Restless}, body) == (0, "silent")


def test_a_timer_of_a_driver_that_hangs_keeps_no_motion_open() -> None:
    leave = threading.Event()

    class Hanging(Servo):
        def init(self, context: Any, options: Any) -> None:
            super().init(context, options)
            context.call_later(0.0, lambda: leave.wait(10.0))

    async def body(rt: Runtime) -> None:
        rt.arm()
        host = next(iter(rt.hosts.values()))
        host.motions.accept(_command("one"))
        host.motions.accept(_command("two"))
        host.motions.acted(_command("three"))
        ends = time.monotonic() + 20 * GRACE
        while len(host.ended) < 2 and time.monotonic() < ends:
            await asyncio.sleep(0.01)
        leave.set()
        assert {end.detail for end in host.ended.values()} == {"superseded"}

    run(robot(), {"motor": Hanging}, body, WallClock())


def _command(id: str) -> Any:
    from pushrod.runtime.message import Command

    return Command(Position(0.1), "test", 0.0, id=id)


@pytest.mark.parametrize("how", ["e-stop", "crash"])
def test_an_observer_that_hangs_keeps_no_motion_open(how: str) -> None:
    leave = threading.Event()

    class Fragile(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            if payload.position == 0.2:
                raise OSError("wire cut")

    async def body(rt: Runtime) -> None:
        rt.arm()
        host = next(iter(rt.hosts.values()))
        assert rt["motor"].direct.set_position(0.1, id="one").ok
        rt.bus.subscribe("safety" if how == "crash" else "state_machine", notify=lambda: leave.wait(10.0) and None)
        if how == "crash":
            rt["motor"].direct.set_position(0.2)
        else:
            rt.estop("smoke")
        ends = time.monotonic() + 20 * GRACE
        while not host.ended and time.monotonic() < ends:
            await asyncio.sleep(0.01)
        leave.set()
        assert host.ended["one"].detail == ("driver_failed" if how == "crash" else "disarmed")

    run(robot(), {"motor": Fragile}, body, WallClock())


@pytest.mark.parametrize("odd", [np.timedelta64(1, "s"), np.timedelta64("NaT"), 10**400], ids=["duration", "no duration", "huge"])
def test_what_only_claims_to_be_a_number_is_refused(odd: Any) -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        motor = rt["motor"]
        for field in ("validity",) if type(odd) is int else ("validity", "sequence", "priority"):
            assert motor.direct.set_position(0.1, **{field: odd}).reason == "malformed", field
        assert motor.direct.set_position(odd).reason == "malformed"
        assert motor.direct.set_position(0.1, velocity=odd).reason == "malformed"
        assert motor.direct.set_position(0.1, duration=odd).reason == "malformed"
        assert JointState(("j",), (odd,)).problem().startswith("positions, element 0 must be ")

    run(robot(), {"motor": Servo}, body)


class Deferred:
    async def __call__(self, options: Any) -> None: ...


class Stepping:
    def __call__(self, options: Any) -> Any:
        yield


class Plain:
    def __call__(self, options: Any) -> None: ...


def test_functions_that_do_not_run_when_they_are_called() -> None:
    async def waits() -> None: ...

    async def streams() -> Any:
        yield

    def steps() -> Any:
        yield

    assert all(map(is_deferred, (waits, streams, steps, Deferred(), Stepping())))
    assert not any(map(is_deferred, (print, Plain(), Plain, len, lambda: None)))
    assert [discard(one) for one in (None, 1, "text", waits(), steps(), streams())] == [
        "",
        "",
        "",
        "a coroutine",
        "a generator",
        "an async generator",
    ]
