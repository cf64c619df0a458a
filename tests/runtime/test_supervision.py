"""Drivers that block, hang, crash, ask to be skipped or take their time; watchdogs; loops that raise; leases. No thread is left behind."""

import asyncio
import threading
import time
from typing import Any

import pytest
from rig import DISARMED, Servo, robot, run

from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.delivery import CommandTimeout
from pushrod.runtime.driver import Skip
from pushrod.runtime.leasing import taken
from pushrod.runtime.message import HardwareError, LeaseChanged
from pushrod.runtime.part import DriverError
from pushrod.runtime.payload import Position
from pushrod.runtime.runtime import Runtime
from pushrod.safety.lease import WATCHDOG, Lease
from pushrod.safety.state import State
from pushrod.safety.watchdog import Reaction, Watchdog


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Any:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


class Blocking(Servo):
    """All its calls are made on one thread."""

    blocking = True
    tick_hz = 200.0

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()
        self.ticks = 0

    def init(self, context: Any, options: Any) -> Any:
        super().init(context, options)
        self.threads.add(threading.get_ident())
        return lambda: self.threads.add(threading.get_ident())

    def handle_command(self, payload: Any, command: Any) -> Any:
        self.threads.add(threading.get_ident())
        return super().handle_command(payload, command)

    def handle_request(self, request: Any) -> Any:
        self.threads.add(threading.get_ident())
        return request

    def tick(self, now: float) -> None:
        self.threads.add(threading.get_ident())
        self.ticks += 1

    def terminate(self, reason: str) -> None:
        self.threads.add(threading.get_ident())


def test_every_call_of_a_driver_that_blocks_is_made_on_its_own_thread() -> None:
    servo = Blocking()

    async def body(rt: Runtime) -> Any:
        while not rt.arm().ok:
            await asyncio.sleep(0.005)  # the slow part of its set-up
        assert (await rt["motor"].sync.set_position(0.5)).ok
        assert await rt["motor"].request(7) == 7
        while servo.ticks < 3:
            await asyncio.sleep(0.005)
        return rt["motor"].direct.set_position(0.1).reason

    assert run(robot(), {"motor": lambda: servo}, body, WallClock()) == "blocking"
    assert len(servo.threads) == 1
    assert threading.get_ident() not in servo.threads


def test_on_the_stepped_clock_it_is_called_in_place_and_sync_waits_no_time() -> None:
    servo = Blocking()

    async def body(rt: Runtime) -> Any:
        await asyncio.sleep(0.001)
        rt.arm()
        started = rt.clock.now()
        answer = await rt["motor"].sync.set_position(0.5)
        return answer.ok, rt.clock.now() - started, rt["motor"].direct.set_position(0.1).reason

    assert run(robot(), {"motor": lambda: servo}, body) == (True, 0.0, "blocking")


def test_a_sync_command_times_out_only_while_the_driver_is_in_the_call() -> None:
    leave = threading.Event()

    class Slow(Servo):
        blocking = True

        def handle_command(self, payload: Any, command: Any) -> None:
            leave.wait(5.0)

    async def body(rt: Runtime) -> Any:
        rt.arm()
        with pytest.raises(CommandTimeout, match="has not come back from Position within 0.05 s"):
            await rt["motor"].sync.set_position(0.1, timeout=0.05)
        waiting = await rt["motor"].sync.set_position(0.2, timeout=0.05)
        leave.set()
        return waiting.reason, (await rt["motor"].sync.set_position(0.3)).ok

    assert run(robot(), {"motor": Slow}, body, WallClock()) == ("withdrawn", True)


def test_a_driver_that_cannot_start_ends_the_start_and_says_so() -> None:
    class Broken(Servo):
        def init(self, context: Any, options: Any) -> None:
            raise OSError("no servo at id 3")

    for clock in (SteppedClock(), WallClock()):
        with pytest.raises(DriverError, match="base/shoulder/motor could not be started: OSError: no servo at id 3"):
            run(robot(), {"motor": Broken}, lambda rt: asyncio.sleep(0), clock)


def test_one_that_asks_to_be_left_out_is() -> None:
    class Absent(Servo):
        def init(self, context: Any, options: Any) -> None:
            raise Skip("not fitted")

    async def body(rt: Runtime) -> Any:
        return rt.arm().ok, rt["motor"].direct.set_position(0.1)

    armed, answer = run(robot(), {"motor": Absent}, body)
    assert armed
    assert (answer.reason, answer.detail) == ("stopped", "not fitted")


def test_slow_set_up_holds_up_arming_only() -> None:
    ready = threading.Event()

    class Warming(Servo):
        def init(self, context: Any, options: Any) -> Any:
            return lambda: ready.wait(5.0)

    async def body(rt: Runtime) -> Any:
        refused = rt.arm()
        early = rt["motor"].direct.set_position(0.1)
        ready.set()
        while not rt.arm().ok:
            await asyncio.sleep(0.005)
        return refused.missing, early.detail, rt["motor"].direct.set_position(0.1).ok

    missing, early, ok = run(robot(), {"motor": Warming}, body, WallClock())
    assert missing == ("base/shoulder/motor: it is still being set up",)
    assert early == "it is still being set up"
    assert ok


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_a_crash_makes_it_safe_tells_the_old_driver_and_starts_a_new_one(clock: Any) -> None:
    made, ended = [], []

    class Crashing(Servo):
        blocking = clock is WallClock

        def __init__(self) -> None:
            super().__init__()
            made.append(self)

        def handle_command(self, payload: Any, command: Any) -> None:
            if payload.position == 0.1:
                raise OSError("wire cut")
            super().handle_command(payload, command)

        def terminate(self, reason: str) -> None:
            ended.append((len(DISARMED), reason))

    async def body(rt: Runtime) -> Any:
        errors = rt.subscribe(("safety", "error"), (HardwareError,))
        rt.arm()
        crashed = await rt["motor"].sync.set_position(0.1)
        while not rt.arm().ok:
            await asyncio.sleep(0.005)
        assert (await rt["motor"].sync.set_position(0.2)).ok
        return crashed, errors.poll().payload, rt.state

    crashed, error, state = run(robot(), {"motor": Crashing}, body, clock())
    assert crashed.reason == "driver_error"
    assert "wire cut" in crashed.detail
    assert error.path == ("base", "shoulder", "motor")
    assert len(made) == 2
    assert ended[0] == (1, "OSError: wire cut")  # it had been made safe before
    assert state is State.ARMED


def test_a_loop_that_raises_disarms_and_is_heard_of() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()

        @rt.loop(hz=100)
        def control(k: int) -> None:
            if k == 3:
                raise ZeroDivisionError("no gain")

        await asyncio.sleep(0.1)
        assert rt.state is State.ERROR
        assert control.ticks == 4

    with pytest.raises(ZeroDivisionError, match="no gain"):
        run(robot(), {"motor": Servo}, body)


@pytest.mark.parametrize(
    ("reaction", "told"), [("hold", "Hold()"), ("ramp", "Velocity(velocity=0.0"), ("damp", "'decelerate'"), ("release", "'immediate'")]
)
def test_silence_makes_it_react_and_refuse_until_it_is_cleared(reaction: str, told: str) -> None:
    servo = Servo()

    async def body(rt: Runtime) -> Any:
        rt.arm()
        planner = rt.handle("motor", "planner")
        assert planner.take_lease()
        planner.direct.set_position(0.5)
        await asyncio.sleep(0.3)
        late = planner.direct.set_position(0.6)
        rt.disarm()
        refused = rt.arm()
        cleared = rt.clear_watchdog("motor")
        assert rt.arm().ok
        return late, refused, cleared, planner.direct.set_position(0.7).ok

    late, refused, cleared, ok = run(robot(watchdog=Watchdog(0.2, Reaction(reaction))), {"motor": lambda: servo}, body)
    assert late.reason == "watchdog"
    (missing,) = refused.missing
    assert missing.startswith("base/shoulder/motor: its watchdog has tripped; find out why, then clear it: pushrod cmd ")
    assert missing.endswith("/motor clear_watchdog (from Python: rt.clear_watchdog('motor'))")
    assert cleared
    assert ok
    assert told in repr(servo.told[1])


def test_silence_counts_from_the_first_command_after_arming_or_clearing() -> None:
    async def body(rt: Runtime) -> None:
        motor = rt["motor"].direct
        for begin in (rt.arm, lambda: rt.clear_watchdog("motor"), lambda: (rt.clear_watchdog("motor"), rt.disarm(), rt.arm())):
            begin()
            await asyncio.sleep(1.0)
            assert rt.watching.bitten() == [], "nobody has commanded it, and nobody is missed"
            assert motor.set_position(0.5).ok
            await asyncio.sleep(0.19)
            assert rt.watching.bitten() == []
            await asyncio.sleep(0.03)
            assert rt.watching.bitten() == ["base/shoulder/motor"]

    run(robot(watchdog=Watchdog(0.2, Reaction.HOLD)), {"motor": Servo}, body)


def test_what_cannot_react_is_made_safe() -> None:
    from pushrod.runtime.payload import Position

    class Simple(Servo):
        command_payloads = (Position,)

    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].direct.set_position(0.5)
        await asyncio.sleep(0.3)
        return list(DISARMED)

    assert run(robot(watchdog=Watchdog(0.2, Reaction.HOLD)), {"motor": Simple}, body)


def test_taking_over_is_announced() -> None:
    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("actuator",), (LeaseChanged,))
        rt.arm()
        low, high = rt.handle("motor", "planner"), rt.handle("motor", "operator")
        taken = [low.take_lease().ok, high.take_lease().ok, high.take_lease(priority=1).ok, low.release_lease(), high.release_lease()]
        seen = []
        while (m := watch.poll()) is not None:
            seen.append((m.payload.old, m.payload.new))
        return taken, seen

    taken, seen = run(robot(), {"motor": Servo}, body)
    assert taken == [True, False, True, False, True]
    assert seen == [(None, "planner"), ("planner", "operator"), ("operator", None)]


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (None, "taken by me"),
        (Lease("me", 3), "taken by me"),
        (Lease("you", 0, 5.0), "taken by me"),
        (Lease("you", 1, 8.0), "leased by you with priority 1 for 2 s more: wait, or take it over with a priority above 1"),
        (Lease("you", 2), "leased by you with priority 2: wait, or take it over with a priority above 2"),
        (Lease(WATCHDOG, 9), "its watchdog has tripped: clear that first"),
    ],
)
def test_who_asks_for_a_lease_is_told_what_stands_in_the_way(held: Lease | None, says: str) -> None:
    answer = taken(held, Lease("me", 1), 6.0)
    assert (bool(answer), str(answer)) == (says == "taken by me", says)


class Hanging(Servo):
    """Its command number `nth` does not return for a while."""

    nth = 1
    in_process = True

    def handle_command(self, payload: Any, command: Any) -> Any:
        super().handle_command(payload, command)
        if len(self.told) == self.nth:
            time.sleep(1.0)


@pytest.mark.parametrize("nth", [1, 2])
def test_a_driver_that_hangs_in_a_command_trips_its_watchdog(nth: int) -> None:
    servo = Hanging()
    servo.nth = nth

    def command(rt: Runtime) -> None:
        for _ in range(nth):
            rt["motor"].direct.set_velocity(0.5)

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        commanding = threading.Thread(target=command, args=(rt,))
        commanding.start()
        await asyncio.sleep(0.6)
        assert rt.watching.bitten() == ["base/shoulder/motor"]
        commanding.join()

    run(robot(watchdog=Watchdog(0.1, Reaction.RELEASE)), {"motor": lambda: servo}, body, WallClock())


class PositionOnly(Servo):
    command_payloads = (Position,)
    in_process = True


def test_a_watchdog_that_makes_an_actuator_safe_ends_its_motion() -> None:
    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        (result,) = rt.send([("motor", Position(0.5), "way")])
        assert result.ok
        end = await rt.motion("motor", "way", 5.0)
        assert (end.reason, end.detail, end.message) == ("cancelled", "disarmed", "its watchdog has tripped")
        assert DISARMED

    run(robot(watchdog=Watchdog(0.1, Reaction.RELEASE)), {"motor": PositionOnly}, body, WallClock())
