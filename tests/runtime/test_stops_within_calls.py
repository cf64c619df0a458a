"""Stops and faults while something else hangs, waits or is interrupted: an observer, a driver that stops the robot itself, a machine, a parameter."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec import Struct
from rig import DISARMED, Servo, robot, run

from pushrod.robot import Controller, Parameter, ParameterRef
from pushrod.robot.description import Actuator, Joint, Limits, Robot
from pushrod.runtime import BeginMotion, EndMotion, HardwareError, Position, Runtime, SteppedClock, WallClock
from pushrod.runtime.door import Door, enter, leave
from pushrod.runtime.driver import Stopped
from pushrod.runtime.motions import SILENT
from pushrod.runtime.result import Declined
from pushrod.runtime.simulated import kinematic
from pushrod.safety.state import State
from pushrod.safety.watchdog import Reaction, Watchdog

LIMITS = Limits(-3.0, 3.0, velocity=1.0, effort=1.0)


def pair(controllers: tuple[Any, ...] = (), parameters: tuple[Any, ...] = (), options: dict[str, Any] | None = None, **first: Any) -> Robot:
    joints = tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=LIMITS) for i in range(2))
    actuators = Actuator("m0", "j0", options=options or {}, **first), Actuator("m1", "j1", options=options or {})
    return Robot("pair", links=("base", "l0", "l1"), joints=joints, actuators=actuators, controllers=controllers, parameters=parameters)


async def until(true: Callable[[], Any], limit: float = 5.0) -> float:
    """Return after how long [s] it is true."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < limit, "it has not come true"
        await asyncio.sleep(0.002)
    return time.monotonic() - began


class Crashing(Servo):
    def handle_command(self, payload: Any, command: Any) -> Any:
        raise OSError("wire cut")


class Failing:
    """Fails again and again, from a moment on."""

    begun = threading.Event()

    def init(self, context: Any, options: Any) -> None:
        self._context = context
        context.call_later(0.01, self.fail)

    def fail(self) -> None:
        if self.begun.is_set():
            raise OSError("no data")
        self._context.call_later(0.01, self.fail)


@pytest.mark.parametrize("failing", ["driver", "controller"])
def test_an_observer_that_hangs_delays_no_fault(failing: str) -> None:
    """What becomes of a part that failed is decided on the safety thread, not behind the reports."""
    leave = threading.Event()

    async def body(rt: Runtime) -> float:
        assert rt.arm().ok
        rt.bus.subscribe((), notify=lambda: leave.wait(3.0) and None)
        Failing.begun.set()
        rt["m0"].direct.set_position(0.1)
        took = await until(lambda: rt.state is State.ERROR)
        leave.set()
        return took

    Failing.begun.clear()
    drivers = {"m0": Crashing if failing == "driver" else Servo, "m1": Servo, "c": Failing}
    what = pair(restart=failing != "driver", controllers=(Controller("c", "rig:Servo"),) if failing == "controller" else ())
    if failing == "driver":
        del drivers["c"]
    assert run(what, drivers, body, WallClock()) < 1.0


class Watched(Servo):
    """Notes what it learns of its arming; cannot stop by itself."""

    seen: ClassVar[list[tuple[int, bool]]]
    payloads = (Position,)

    def command_payloads(self, options: Any) -> tuple[type, ...]:
        return self.payloads

    def handle_arming(self, armed: bool) -> None:
        type(self).seen.append((id(self), armed))

    def handle_command(self, payload: Any, command: Any) -> None:
        if payload.position > 1.0:
            raise OSError("wire cut")


def test_a_driver_learns_of_arming_and_disarming_of_its_own_actuator() -> None:
    class Driver(Watched):
        seen: ClassVar[list[tuple[int, bool]]] = []

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        rt["m0"].direct.set_position(0.1)
        await until(lambda: rt.watching.bitten())
        await until(lambda: [armed for _, armed in Driver.seen] == [True, False])  # its watchdog has disarmed it, and nothing else
        assert rt.state is State.ARMED
        rt.clear_watchdog("m0")
        assert rt.arm().ok
        await until(lambda: [armed for _, armed in Driver.seen] == [True, False, True])
        rt["m0"].direct.set_position(2.0)
        await until(lambda: not rt["m0"].host.part.stopped and rt["m0"].host.part.restarts)
        assert rt.arm().ok
        await until(lambda: len(Driver.seen) == 4)
        assert Driver.seen[-1][1]
        assert Driver.seen[-1][0] != Driver.seen[0][0]  # the restarted driver

    run(pair(watchdog=Watchdog(0.05, Reaction.RELEASE)), {"m0": Driver, "m1": Servo}, body, WallClock())


class Gained(Struct):
    gain: float


class Hanging(Servo):
    options = Gained
    leave: threading.Event

    def handle_command(self, payload: Any, command: Any) -> None:
        type(self).leave.wait(3.0)


def test_a_stop_uses_the_new_value_of_a_parameter_while_a_driver_hangs() -> None:
    class Driver(Hanging):
        leave = threading.Event()

    async def body(rt: Runtime) -> list[float]:
        assert rt.arm().ok
        stuck = threading.Thread(target=lambda: rt["m0"].direct.set_position(0.1))
        stuck.start()
        await until(lambda: rt["m0"].host.gate.holder)
        setting = threading.Thread(target=lambda: rt.parameters.set("gain", 5.0))
        setting.start()
        await until(lambda: rt.parameters.get("gain") == 5.0)
        await asyncio.sleep(0.3)
        DISARMED.clear()
        rt.estop("now")
        gains = [options["gain"] for options in DISARMED]
        Driver.leave.set()
        stuck.join()
        setting.join()
        return gains

    what = pair(parameters=(Parameter("gain", "float", 3.0, 0.0, 10.0),), options={"gain": ParameterRef("gain")})
    gains = run(what, {"m0": Driver, "m1": Driver}, body, WallClock())
    assert len(gains) >= 2
    assert set(gains) == {5.0}


def test_a_signal_handler_that_stops_the_robot_while_this_thread_publishes() -> None:
    """On the stepped clock everything runs on one thread, reports too."""

    async def body(rt: Runtime) -> None:
        rt.bus.subscribe((), size=4)
        stops: list[Any] = []
        handler = signal.signal(signal.SIGALRM, lambda number, frame: stops.append(rt.estop("signal")))
        try:
            for n in range(100):
                assert rt.reset().ok or n == 0
                assert rt.arm().ok
                signal.setitimer(signal.ITIMER_REAL, 5e-5 + 1e-6 * n)
                while len(stops) == n:
                    rt.report_error(("x",), "y")
                    rt["motor"].publish.set_position(0.1)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, handler)
        assert {stop.state for stop in stops} == {State.ESTOPPED}

    run(robot(), {"motor": Servo}, body, SteppedClock())


class RaisedError(Exception):
    pass


def others_can_enter(door: Any) -> bool:
    entered: list[bool] = []

    def attempt() -> None:
        entered.append(enter(door, 0.0))
        leave(door)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return entered[0]


def test_a_signal_handler_that_raises_leaves_no_door_locked() -> None:
    """Wherever it comes: a timer interrupts whoever enters again and again."""
    door = Door()

    def raises(number: int, frame: Any) -> None:
        raise RaisedError

    before = signal.signal(signal.SIGALRM, raises)
    interrupted = 0
    try:
        for i in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + 1e-7 * i)
                ends = time.monotonic() + 0.01
                while time.monotonic() < ends:
                    if enter(door, 0.0):
                        leave(door)
            except RaisedError:
                leave(door)
                interrupted += 1
            assert others_can_enter(door)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 100


def test_a_signal_handler_that_raises_during_a_batch_leaves_no_gate_locked() -> None:
    """Whatever the batch was doing: entering several gates, acting, leaving them."""
    n = 6
    joints = tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=LIMITS) for i in range(n))
    what = Robot("many", ("base", *(f"l{i}" for i in range(n))), joints, tuple(Actuator(f"m{i}", f"j{i}") for i in range(n)))

    def raises(number: int, frame: Any) -> None:
        raise RaisedError

    async def body(rt: Runtime) -> int:
        assert rt.arm().ok
        batch = [(f"m{i}", Position(0.1)) for i in range(n)]
        before, interrupted = signal.signal(signal.SIGALRM, raises), 0
        try:
            for k in range(150):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 3e-5 + 1e-6 * k)
                    ends = time.monotonic() + 0.01
                    while time.monotonic() < ends:
                        rt.send(batch)
                except RaisedError:
                    interrupted += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        assert all(others_can_enter(host.gate) for host in rt.hosts.values())
        return interrupted

    drivers = {f"m{i}": Servo for i in range(n)}
    assert run(what, drivers, body, WallClock()) > 75


class Hooked(Servo):
    def handle_arming(self, armed: bool) -> None:
        pass


def test_a_signal_handler_that_stops_while_this_thread_sets_timers() -> None:
    """The safety thread has drivers notified by timers: it must not wait for a thread that waits for the stop."""

    async def body(rt: Runtime) -> list[Any]:
        stops: list[tuple[Any, float]] = []

        def stop(number: int, frame: Any) -> None:
            began = time.monotonic()
            stops.append((rt.estop("signal"), time.monotonic() - began))

        before = signal.signal(signal.SIGALRM, stop)
        try:
            for n in range(60):
                await until(lambda: rt.reset().ok or rt.state is State.DISARMED)
                assert rt.arm().ok
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 3e-6 * n)
                while len(stops) == n:
                    rt.clock.later(60.0, lambda: None)()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        return stops

    stops = run(robot(), {"motor": Hooked}, body, WallClock())
    assert all(answer.state is State.ESTOPPED for answer, _ in stops)
    assert max(took for _, took in stops) < 1.0


class Blocking(Servo):
    blocking = True


@pytest.mark.parametrize("way", ["publish", "sync"])
def test_a_command_sent_while_disarmed_does_not_act_under_a_later_arming(way: str) -> None:
    async def body(rt: Runtime) -> tuple[Any, list[Any]]:
        motor = rt["motor"]
        gate = motor.host.gate
        prepare = gate.prepare

        def slow(command: Any) -> Any:
            prepared = prepare(command)
            type(gate).prepare = plain
            assert rt.arm().ok  # it is armed while the command is being prepared, as with a long trajectory
            return prepared

        plain = type(gate).prepare
        type(gate).prepare = lambda self, command: slow(command)
        try:
            answer = getattr(motor, way).set_position(0.1)
            answer = await answer if way == "sync" else answer
        finally:
            type(gate).prepare = plain
        await asyncio.sleep(0.05)
        return answer, motor.host.part.driver.driver.told

    answer, told = run(robot(), {"motor": Blocking}, body, WallClock())
    assert (answer.ok, answer.reason, told) == (False, "epoch", [])


@pytest.mark.parametrize("begins", [False, True])
def test_the_motion_of_a_silent_driver_ends(begins: bool) -> None:
    class Silent(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            if begins:
                self.context.publish_begin_motion(0.0, 0.2, self.context.now() + 5.0, command_id=command.id)

    async def body(rt: Runtime) -> tuple[EndMotion, float]:
        rt.arm()
        rt["motor"].direct.set_position(0.2, duration=0.5, id="a")
        return await rt.motion("motor", "a"), rt.clock.now()

    end, now = run(robot(), {"motor": Silent}, body)
    assert (end.reason, end.detail) == ("fault", "silent")
    assert now == pytest.approx((5.0 if begins else 2.0 * 0.5) + SILENT, abs=0.05)


def test_a_velocity_without_a_duration_goes_on() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        rt["motor"].direct.set_velocity(0.2, id="a")
        with pytest.raises(TimeoutError):
            await rt.motion("motor", "a", timeout=200.0)

    run(robot(), {"motor": Servo}, body)


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("where", ["handle_command", "tick", "handle_request"])
def test_a_driver_may_disarm_from_inside_its_own_call(where: str, blocking: bool) -> None:
    answers: list[Any] = []

    class Driver(Servo):
        tick_hz = 100.0
        stop: Any = None

        def _stop(self) -> None:
            if Driver.stop is not None:
                stop, Driver.stop = Driver.stop, None
                answers.append(stop("from inside"))

        def handle_command(self, payload: Any, command: Any) -> None:
            if where == "handle_command":
                self._stop()

        def tick(self, now: float) -> None:
            if where == "tick":
                self._stop()

        def handle_request(self, request: Any) -> None:
            self._stop()

    Driver.blocking = blocking  # type: ignore[attr-defined]

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        DISARMED.clear()
        Driver.stop = rt.disarm
        if where == "handle_command":
            rt["motor"].publish.set_position(0.1)
        elif where == "handle_request":
            await rt["motor"].request("x")
        await until(lambda: answers)
        assert (answers[0].ok, list(answers[0].failures.values())) == (False, ["still being made safe"])
        assert len(DISARMED) >= 1  # it was called before the stop returned
        await until(lambda: rt.state is State.DISARMED)
        assert len(DISARMED) == 2  # and again after the call
        assert rt.arm().ok

    run(robot(), {"motor": Driver}, body, WallClock())


def test_a_real_driver_that_hangs_does_not_hold_up_a_machine_beside_it() -> None:
    class Driver(Servo):
        leave = threading.Event()

        def handle_command(self, payload: Any, command: Any) -> None:
            Driver.leave.wait(3.0)

    class Moving:
        dt = 0.01
        steps = 0

        def __init__(self) -> None:
            self.drivers = {"m0": Servo}

        def step(self) -> None:
            self.steps += 1

        def warm(self) -> None:
            pass

    async def main() -> None:
        machine = Moving()
        async with Runtime(pair(), {"m1": Driver}, machine=machine, guard=False) as rt:
            assert rt.arm().ok
            stuck = threading.Thread(target=lambda: rt["m1"].direct.set_position(0.1))
            stuck.start()
            await until(lambda: rt["m1"].host.gate.holder)
            before = machine.steps
            await until(lambda: machine.steps > before + 5)
            assert rt["m0"].direct.set_position(0.1).ok
            answer = rt.estop("x")
            assert list(answer.failures) == ["base/j1/m1"]
            Driver.leave.set()
            stuck.join()

    asyncio.run(main())


class Counting:
    """A machine that counts its steps."""

    dt = 0.01

    def __init__(self, **drivers: Any) -> None:
        self.drivers = drivers
        self.steps = 0

    def step(self) -> None:
        self.steps += 1

    def warm(self) -> None:
        pass


def test_a_machine_beside_a_driver_that_hangs_holds_up_no_command_and_counts_what_it_skips() -> None:
    class Driver(Hanging):
        options = None
        leave = threading.Event()

    async def main() -> None:
        machine = Counting(m0=Servo, m1=Driver)
        async with Runtime(pair(), machine=machine, guard=False) as rt:
            assert rt.arm().ok
            watch = rt.subscribe(("safety", "error"), (HardwareError,))
            (loop,) = [c for c in rt.cadences if c.name == "machine"]
            stuck = threading.Thread(target=lambda: rt["m1"].direct.set_position(0.1))
            stuck.start()
            await until(lambda: rt["m1"].host.gate.holder == stuck.ident)
            longest = 0.0
            while loop.missed < 15:
                began = time.monotonic()
                assert rt["m0"].direct.set_position(0.1).ok
                longest = max(longest, time.monotonic() - began)
                await asyncio.sleep(0.001)
            Driver.leave.set()
            stuck.join()
            before = machine.steps
            await until(lambda: machine.steps > before + 3)
            assert longest < 0.03, "no gate is held while another one is waited for"
            assert abs(loop.ticks - machine.steps) <= 1, "a skipped tick is no tick"
            errors = []
            while (message := watch.poll()) is not None:
                errors.append(message.payload)
            assert [error.path for error in errors] == [("loop", "machine")]
            assert "base/j1/m1" in errors[0].error

    asyncio.run(main())


def test_a_call_into_a_driver_that_moves_the_clock_keeps_its_gate() -> None:
    """The tick that it meets is skipped, and leaves the gate to the call."""
    machine, clock = Counting(m0=Servo, m1=Servo), SteppedClock()

    async def main() -> Any:
        async with Runtime(pair(), machine=machine, clock=clock) as rt:
            gate = rt["m0"].host.gate
            try:
                assert enter(gate, 0.0)
                clock.advance(0.035)
                held = gate.holder
            finally:
                leave(gate)
            missed = next(c.missed for c in rt.cadences if c.name == "machine")
            return held, missed, machine.steps

    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        assert runner.run(main()) == (threading.get_ident(), 3, 0)


class Streaming(Servo):
    """Writes its newest set-point in every tick, until it learns of another arming."""

    tick_hz = 100.0

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Any] = []
        self.target: float | None = None

    def handle_command(self, payload: Any, command: Any) -> None:
        self.log.append(payload.position)
        self.target = payload.position

    def handle_arming(self, armed: bool) -> None:
        self.log.append(armed)
        self.target = None

    def tick(self, now: float) -> None:
        if self.target is not None:
            self.log.append("write")


@pytest.mark.parametrize("next_call", ["timer", "tick", "command"])
def test_a_driver_sees_every_disarm_before_it_acts_again(next_call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    servo = Streaming()

    async def body(rt: Runtime) -> list[Any]:
        part = rt["motor"].host.part
        assert rt.arm().ok
        rt["motor"].direct.set_position(0.7)
        await asyncio.sleep(0.05)
        servo.log.clear()
        if next_call != "timer":
            monkeypatch.setattr(part, "arming_changed", lambda: None)  # its timer has not fired yet
        assert rt.disarm().ok
        assert rt.arm().ok
        if next_call == "command":
            rt["motor"].direct.set_position(0.2)
        elif next_call == "tick":
            part.tick(0)
        else:
            await asyncio.sleep(0.05)
        return list(servo.log)

    expected = [False, True, 0.2] if next_call == "command" else [False, True]
    assert run(robot(), {"motor": lambda: servo}, body) == expected


def test_the_command_of_a_driver_that_ignores_arming_takes_no_detour() -> None:
    async def body(rt: Runtime) -> bool:
        host = rt["motor"].host
        return bool(host.gate.handle == host.part.driver.driver.handle_command)

    assert run(robot(), {"motor": Servo}, body)


def test_one_notice_of_arming_at_most_waits_for_a_driver_that_hangs() -> None:
    class Driver(Streaming):
        pass

    async def body(rt: Runtime) -> Any:
        host, clock = rt["motor"].host, rt.clock
        assert isinstance(clock, SteppedClock)
        assert rt.arm().ok
        await asyncio.sleep(0.05)
        try:
            assert enter(host.gate, 0.0)
            before = len(clock._open)
            for _ in range(20):
                host.part.arming_changed()
            return len(clock._open) - before
        finally:
            leave(host.gate)

    assert run(robot(), {"motor": Driver}, body) == 1


def test_a_driver_given_up_while_the_robot_is_e_stopped_is_restarted_by_the_reset() -> None:
    class Dying(Servo):
        def handle_request(self, request: Any) -> Any:
            raise Stopped("no power")

    async def body(rt: Runtime) -> Any:
        rt.estop("test")
        for _ in range(8):
            with pytest.raises(Exception, match=r"no power|not running"):
                await rt["m0"].request("die")
            await asyncio.sleep(0.1)
        assert rt["m0"].host.part.stopped == "no power"
        assert not rt.reset(lambda: False).ok
        assert rt["m0"].host.part.stopped
        return rt.reset().ok, rt.arm().ok

    assert run(pair(), {"m0": Dying, "m1": Servo}, body) == (True, True)


def test_an_observer_of_the_simulation_stops_it_at_once() -> None:
    async def body(rt: Runtime) -> Any:
        took = []

        def stop() -> None:
            began = time.monotonic()
            rt.estop("seen")
            took.append(time.monotonic() - began)

        assert rt.arm().ok
        rt.bus.subscribe(("actuator",), (BeginMotion,), notify=stop)
        rt["motor"].direct.set_position(0.5)
        state = await rt["motor"].request("state")
        await until(lambda: rt.reset().ok)  # once the disarm function was called again after the call
        return took[0], state["velocity"]

    took, velocity = run(robot(), {"motor": kinematic.Kinematic}, body, WallClock())
    assert took < 1.0
    assert velocity == 0.0


def test_a_signal_handler_stops_the_simulation_inside_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = kinematic.plan

    def interrupted(*given: Any) -> Any:
        signal.raise_signal(signal.SIGALRM)
        return plan(*given)

    async def body(rt: Runtime) -> Any:
        took = []

        def stop(number: int, frame: Any) -> None:
            began = time.monotonic()
            rt.estop("signal")
            took.append(time.monotonic() - began)

        before = signal.signal(signal.SIGALRM, stop)
        try:
            assert rt.arm().ok
            monkeypatch.setattr(kinematic, "plan", interrupted)
            rt["motor"].direct.set_position(1.0, id="b")
        finally:
            signal.signal(signal.SIGALRM, before)
        await asyncio.sleep(0.05)
        state = await rt["motor"].request("state")
        await asyncio.sleep(0.2)
        return took, state["velocity"], rt["motor"].host.ended["b"].detail

    took, velocity, detail = run(robot(), {"motor": kinematic.Kinematic}, body, WallClock())
    assert len(took) == 1
    assert took[0] < 1.0
    assert (velocity, detail) == (0.0, "disarmed")


def test_the_disarm_function_of_the_simulation_waits_for_no_lock_of_the_runtime() -> None:
    async def body(rt: Runtime) -> Any:
        assert rt.arm().ok
        motor = rt["motor"].host.part.driver.driver
        rt["motor"].direct.set_position(0.5)
        with rt.bus._lock, motor._lock:  # type: ignore[attr-defined]
            stopping = threading.Thread(target=lambda: kinematic.disarm({"robot": "r", "path": rt["motor"].host.path}))
            stopping.start()
            stopping.join(2.0)
            waits = stopping.is_alive()
        stopping.join()
        return waits, motor.state(rt.clock.now()).v

    assert run(robot(), {"motor": kinematic.Kinematic}, body, WallClock()) == (False, 0.0)


class OddText(str):
    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __str__ = __repr__ = __eq__  # type: ignore[assignment]


def test_ids_and_sources_are_plain_text() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        assert rt["motor"].direct.set_position(0.1, id=OddText("a")).ok
        assert type(rt["motor"].host.motions.find("a").id) is str  # type: ignore[union-attr]
        assert rt.state is State.ARMED

    run(robot(), {"motor": Servo}, body)


class NoText(Declined):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class NoReason(Declined):
    reason: ClassVar[Any] = ["a", "list"]


@pytest.mark.parametrize("error", [NoText("x"), NoReason("x"), Declined(OddText("x"))])
def test_a_driver_may_decline_with_anything(error: Declined) -> None:
    class Declining(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            raise error

    async def body(rt: Runtime) -> Any:
        rt.arm()
        return rt["motor"].direct.set_position(0.1), rt.state

    answer, state = run(robot(), {"motor": Declining}, body)
    assert (answer.reason, state) == ("declined", State.ARMED)
    assert type(answer.detail) is str


def test_an_origin_that_is_no_time_is_refused_every_time() -> None:
    async def body(rt: Runtime) -> list[str]:
        rt.arm()
        rt["motor"].direct.set_position(0.1)
        return [rt["motor"].direct.set_position(0.1, origin=origin).reason for origin in (float("nan"), float("inf"), float("-inf"))]

    assert run(robot(), {"motor": Servo}, body) == ["malformed"] * 3


def test_time_limits_and_steps_of_low_precision() -> None:
    class Slow(Servo):
        def init(self, context: Any, options: Any) -> Callable[[], None]:
            return lambda: released.wait(30.0)  # type: ignore[return-value]

    released = threading.Event()

    async def body(rt: Runtime) -> None:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await rt.ready(np.float16(0.1))  # type: ignore[arg-type]
        assert time.monotonic() - began >= 0.09
        with pytest.raises(ValueError, match="timeout must be a number of seconds"):
            await rt.ready(float("nan"))
        released.set()
        await rt.ready()

    run(robot(), {"motor": Slow}, body, WallClock())
    clock = SteppedClock()
    clock.advance(np.float16(0.5))  # type: ignore[arg-type]
    assert clock.now() == 0.5
