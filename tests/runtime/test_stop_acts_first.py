"""A stop acts first and reports afterwards: nothing an observer, a log, the guard, arming or a driver does delays it or prevents it."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rig import DISARMED, Servo, robot, run

from pushrod.guard.settings import Guard
from pushrod.robot.description import Actuator, Joint, Limits, Robot
from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.payload import Position, Waypoint
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State
from pushrod.safety.watchdog import Reaction, Watchdog

SOON = 0.2  # [s] a stop may take here, beside other work of the machine


def many(n: int, **actuator: Any) -> Robot:
    joints = tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=Limits(-3.0, 3.0, velocity=1.0, effort=1.0)) for i in range(n))
    return Robot(
        "many", links=("base", *(f"l{i}" for i in range(n))), joints=joints, actuators=tuple(Actuator(f"m{i}", f"j{i}", **actuator) for i in range(n))
    )


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class SlowText(Exception):  # noqa: N818
    def __str__(self) -> str:
        time.sleep(5.0)
        return "slow"


@pytest.mark.parametrize(
    "cause", ["text", None, OSError("wire cut"), OSError(Hostile()), Hostile(), SlowText("x"), 5, b"\xff", float("nan"), ["x"], Servo]
)
@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_any_reason_will_do(cause: Any, clock: Any) -> None:
    async def body(rt: Runtime) -> tuple[Any, float, int]:
        assert rt.arm().ok
        before, began = len(DISARMED), time.monotonic()
        answer = rt.estop(cause)
        return answer, time.monotonic() - began, len(DISARMED) - before

    answer, took, calls = run(robot(), {"motor": Servo}, body, clock())
    assert (answer.ok, answer.state, calls) == (True, State.ESTOPPED, 1)
    assert took < 1.0


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), -1.0, "5", None, 10**400], ids=["nan", "inf", "negative", "text", "none", "huge"])
def test_any_limit_will_do(limit: Any) -> None:
    async def body(rt: Runtime) -> Any:
        assert rt.arm().ok
        return rt.disarm(limit=limit)

    assert run(robot(), {"motor": Servo}, body).ok


def test_arguments_that_do_not_exist_stop_all_the_same() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        assert rt.disarm("x", 1.0, "more", within="soon").ok
        assert rt.estop(why="smoke").state is State.ESTOPPED
        assert rt.arming.causes == ("smoke",)

    run(robot(), {"motor": Servo}, body)


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_an_observer_that_raises_stops_nothing(clock: Any) -> None:
    async def body(rt: Runtime) -> None:
        def raises() -> None:
            raise OSError("an observer failed")

        assert rt.arm().ok
        rt.subscribe(())._notify = raises
        before = len(DISARMED)
        assert rt.estop("button").ok
        assert len(DISARMED) == before + 1
        assert rt.reset().ok
        assert rt.arm().ok

    run(robot(), {"motor": Servo}, body, clock())


def test_an_observer_that_hangs_delays_nothing() -> None:
    leave = threading.Event()

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        rt.bus.subscribe((), notify=lambda: leave.wait(5.0) and None)
        began = time.monotonic()
        assert rt.estop("button").ok
        assert rt.disarm().ok
        assert time.monotonic() - began < SOON + 0.2
        assert rt.state is State.ESTOPPED
        leave.set()

    run(robot(), {"motor": Servo}, body, WallClock())


def test_a_log_that_blocks_delays_nothing() -> None:
    leave = threading.Event()

    class Blocking(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            leave.wait(5.0)

    class Stuck(Servo):
        disarm = "rig:torque_stuck"

    async def body(rt: Runtime) -> float:
        assert rt.arm().ok
        log = logging.getLogger("pushrod.runtime")
        handler = Blocking()
        log.addHandler(handler)
        try:
            began = time.monotonic()
            assert not rt.disarm().ok  # which is logged
            return time.monotonic() - began
        finally:
            log.removeHandler(handler)
            leave.set()

    with pytest.raises(Exception, match="actuators that are not proven safe"):
        assert run(robot(), {"motor": Stuck}, body, WallClock()) < SOON + 0.2


def until(true: Callable[[], bool], limit: float = 2.0) -> None:
    """Try until it is true; for a test that runs on the event loop's own thread."""
    ends = time.monotonic() + limit
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.001)


def test_a_stop_from_a_signal_handler_wherever_the_main_thread_is() -> None:
    """The main thread publishes, commands and arms; the handler interrupts it at any moment, with the locks it holds."""
    stops: list[Any] = []

    async def body(rt: Runtime) -> None:
        rt.bus.subscribe((), size=4)
        handler = signal.signal(signal.SIGALRM, lambda number, frame: stops.append(rt.estop("signal")))
        try:
            for n in range(60):
                until(lambda: rt.reset().ok or rt.state is State.DISARMED)  # a command that was interrupted is still being made safe
                assert rt.arm().ok
                began = len(stops)
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 2e-5 * n)
                while len(stops) == began:
                    rt["motor"].publish.set_position(0.1)
                    rt.report_error(("x",), "y")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, handler)

    run(robot(), {"motor": Servo}, body, WallClock())
    assert len(stops) == 60
    assert {stop.state for stop in stops} == {State.ESTOPPED}


@pytest.mark.parametrize("stop", ["estop", "disarm"])
def test_arming_yields_to_a_stop(stop: str) -> None:
    inside, leave = threading.Event(), threading.Event()

    async def body(rt: Runtime) -> None:
        def slow() -> list[str]:
            inside.set()
            leave.wait(5.0)
            return []

        rt.checks.append(slow)
        answers: list[Any] = []
        thread = threading.Thread(target=lambda: answers.append(rt.arm()))
        thread.start()
        inside.wait(5.0)
        began = time.monotonic()
        assert getattr(rt, stop)("button").ok
        assert time.monotonic() - began < SOON
        leave.set()
        thread.join()
        assert (answers[0].ok, answers[0].refusal) == (False, "stopped")
        assert not rt["motor"].direct.set_position(0.1).ok

    run(robot(), {"motor": Servo}, body, WallClock())


def test_an_estop_during_a_reset_stays() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        rt.estop("first")

        def is_gone() -> bool:
            rt.estop("second")
            return True

        assert (rt.reset(is_gone).refusal, rt.state) == ("stopped", State.ESTOPPED)
        assert rt.arming.causes == ("first", "second")
        assert rt.reset().ok

    run(robot(), {"motor": Servo}, body)
    run(robot(), {"motor": Servo}, body, WallClock())


def test_neither_reset_nor_arm_while_an_estop_is_making_safe() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        disarmer = next(iter(rt._disarmers.values()))
        inside, leave = threading.Event(), threading.Event()

        def slow(options: dict[str, Any]) -> None:
            inside.set()
            leave.wait(5.0)

        disarmer.disarm = slow
        thread = threading.Thread(target=lambda: rt.estop("button"))
        thread.start()
        inside.wait(5.0)
        while rt.state is not State.ESTOPPED:
            await asyncio.sleep(0.001)
        assert rt.reset().refusal == "not_safe"
        assert not rt.arm().ok
        leave.set()
        thread.join()
        assert rt.reset().ok

    run(robot(), {"motor": Servo}, body, WallClock())


def test_a_timer_that_sleeps_does_not_keep_the_robot_armed() -> None:
    class Sleepy(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            self.context.call_later(0.0, lambda: time.sleep(1.0))

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        rt["motor"].direct.set_position(0.1)
        await asyncio.sleep(0.1)

        @rt.loop(hz=100)
        def control(k: int) -> None:
            raise RuntimeError("lost")

        began = time.monotonic()
        while rt.state is State.ARMED or not DISARMED:
            await asyncio.sleep(0.001)
        assert time.monotonic() - began < SOON

    with pytest.raises(RuntimeError, match="lost") as caught:
        run(robot(), {"motor": Sleepy}, body, WallClock())
    assert "a call is still in flight" in caught.value.__notes__[0]  # what sleeps is in a call


def test_a_driver_that_hangs_in_its_reaction_delays_no_other_watchdog() -> None:
    leave = threading.Event()
    held: dict[str, float] = {}

    class Slow(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            if not isinstance(payload, Position):
                held[self.context.path[-1]] = time.monotonic()
                if self.context.path[-1] == "m0":
                    leave.wait(5.0)

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        for i in range(3):
            rt[f"m{i}"].direct.set_position(0.1)
        began = time.monotonic()
        while len(held) < 3:
            await asyncio.sleep(0.001)
            assert time.monotonic() - began < 1.0
        while not any("m0" in options["path"] for options in DISARMED):  # one that does not react is made safe
            await asyncio.sleep(0.001)
            assert time.monotonic() - began < 1.5
        leave.set()

    run(many(3, watchdog=Watchdog(0.1, Reaction.HOLD)), {f"m{i}": Slow for i in range(3)}, body, WallClock())


class Streaming(Servo):
    """Writes set-points from its own tick."""

    tick_hz = 500.0
    writes: list[float]

    def __init__(self) -> None:
        super().__init__()
        self.writes, self.reads, self.arming = [], 0, []

    def read(self, now: float) -> None:
        self.reads += 1

    def tick(self, now: float) -> None:
        self.writes.append(now)

    def handle_arming(self, armed: bool) -> None:
        self.arming.append(armed)


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_a_disarmed_driver_does_not_tick(clock: Any, blocking: bool) -> None:
    driver = Streaming()
    driver.blocking = blocking  # type: ignore[attr-defined]

    async def body(rt: Runtime) -> None:
        await asyncio.sleep(0.05)
        assert driver.writes == []
        assert driver.reads > 0
        assert not driver.context.armed()
        rt.arm()
        await asyncio.sleep(0.05)
        assert driver.writes
        assert driver.context.armed()
        assert rt.estop("button").ok
        after, reads = len(driver.writes), driver.reads
        await asyncio.sleep(0.1)
        assert len(driver.writes) == after
        assert driver.reads > reads
        assert driver.arming == [True, False]

    run(robot(), {"motor": lambda: driver}, body, clock())


def test_a_long_trajectory_does_not_come_after_the_stop() -> None:
    servo = Servo()
    points = tuple(Waypoint(0.1, 1e-3 * (k + 1)) for k in range(200_000))

    async def body(rt: Runtime) -> None:
        rt.arm()
        began = threading.Event()
        results: list[Any] = []

        def send() -> None:
            began.set()
            results.append(rt["motor"].direct.follow_trajectory(points))

        thread = threading.Thread(target=send)
        thread.start()
        began.wait()
        await asyncio.sleep(0.05)
        assert rt.estop("button").ok  # nothing is in flight: the payload is checked without the lock
        thread.join()
        assert results[0].reason == "not_armed"
        assert servo.told == []

    run(robot(), {"motor": lambda: servo}, body, WallClock())


def test_a_call_in_flight_prevents_arming() -> None:
    inside, leave = threading.Event(), threading.Event()

    class Hanging(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            inside.set()
            leave.wait(5.0)
            super().handle_command(payload, command)

    async def body(rt: Runtime) -> None:
        rt.arm()
        thread = threading.Thread(target=lambda: rt["motor"].direct.set_position(0.1))
        thread.start()
        inside.wait(5.0)
        assert not rt.disarm().ok
        assert not rt.force_disarm().ok
        refused = rt.arm()
        assert "has not returned from a call" in refused.missing[0]
        leave.set()
        thread.join()
        assert rt.arm().ok

    run(robot(), {"motor": Hanging}, body, WallClock())


def test_armed_means_that_every_gate_is_open() -> None:
    async def body(rt: Runtime) -> None:
        for _ in range(100):
            threads = [threading.Thread(target=rt.arm), threading.Thread(target=rt.disarm)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert {bool(host.gate.epoch) for host in rt.hosts.values()} == {rt.state is State.ARMED}
            rt.disarm()

    run(many(4), {f"m{i}": Servo for i in range(4)}, body, WallClock())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_is_closed_and_leaves_without_hanging() -> None:
    servo = Servo()

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        pid = os.fork()
        if pid == 0:  # the child must end here, whatever it finds
            code = 1
            try:
                refused = rt["motor"].direct.set_position(0.1).reason == "not_armed"
                answers = not rt.disarm().ok and not rt.estop("x").ok and not rt.arm().ok and not rt.reset().ok
                rt._shut()
                code = 0 if refused and answers and not servo.told else 2
            finally:
                os._exit(code)
        ended = await asyncio.to_thread(os.waitpid, pid, 0)
        assert os.waitstatus_to_exitcode(ended[1]) == 0
        assert rt["motor"].direct.set_position(0.1).ok
        assert rt.disarm().ok

    run(robot(), {"motor": lambda: servo}, body, WallClock())


def test_an_interpreter_that_ends_disarms_what_was_not_left(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import asyncio, sys
        sys.path.insert(0, sys.argv[1])
        from rig import Servo, robot
        import rig
        from pushrod.runtime import Runtime

        async def main():
            rt = Runtime(robot(), {"motor": Servo}, guard=False)
            await rt.__aenter__()
            print(rt.arm().ok, flush=True)
            keep.append(rt)

        keep = []
        import atexit
        atexit.register(lambda: print("disarmed", len(rig.DISARMED), flush=True))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent)], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert done.stdout.split() == ["True", "disarmed", "1"], done.stderr


def test_stops_from_many_threads_are_served_together() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        before = len(DISARMED)
        threads = [threading.Thread(target=rt.estop, args=(f"{i}",)) for i in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert rt.state is State.ESTOPPED
        assert len(rt.arming.causes) == 32  # so many are kept
        assert 1 <= len(DISARMED) - before <= 50

    run(robot(), {"motor": Servo}, body, WallClock())


def test_a_disarm_function_may_stop_the_robot_itself() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        disarmer = next(iter(rt._disarmers.values()))
        inner: list[Any] = []
        disarmer.disarm = lambda options: inner.append(rt.estop("again")) if len(inner) < 3 else None
        assert rt.disarm().ok
        assert rt.state is State.ESTOPPED
        assert not inner[0].ok  # it is still being made safe

    run(robot(), {"motor": Servo}, body)
    run(robot(), {"motor": Servo}, body, WallClock())


def test_no_guard_is_waited_for() -> None:
    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        pid = rt._guarding._guard.pid  # type: ignore[union-attr]
        os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert rt.estop("button").ok
            assert time.monotonic() - began < SOON
        finally:
            os.kill(pid, signal.SIGCONT)

    async def main() -> None:
        async with Runtime(robot(), {"motor": Servo}, guard=Guard(limit=5.0)) as rt:
            await body(rt)

    asyncio.run(main())


def test_interpreter_exit_begins_with_all_runtimes_before_it_waits_for_one(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import asyncio, sys, time
        sys.path.insert(0, sys.argv[1])
        from pushrod.robot import Actuator, Joint, Limits, Robot
        from pushrod.runtime import Runtime

        def off(options):
            sys.stdout.write(f"{options['robot']} {'early' if time.monotonic() - ENDED[0] < 0.9 else 'late'}\\n")
            sys.stdout.flush()
            time.sleep(1.0)

        class Motor:
            disarm = "__main__:off"
            def init(self, context, options): pass
            def handle_command(self, payload, command): pass

        async def main():
            for name in "abc":
                joint = Joint("j", "continuous", "base", "arm", limits=Limits(velocity=1.0, effort=1.0))
                rt = Runtime(Robot(name, links=["base", "arm"], joints=[joint], actuators=[Actuator("m", "j")]), {"m": Motor}, guard=False)
                await rt.__aenter__()
                assert rt.arm().ok
                KEPT.append(rt)

        KEPT, ENDED = [], [0.0]
        asyncio.new_event_loop().run_until_complete(main())
        ENDED[0] = time.monotonic()
    """)
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run([sys.executable, "program.py", str(Path(__file__).parent)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert sorted(done.stdout.splitlines()) == ["a early", "b early", "c early"], done.stderr
