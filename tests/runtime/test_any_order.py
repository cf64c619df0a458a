"""Arm, disarm, e-stop, crash, restart, lease and parameter changes in any order: nothing reaches a driver that is not armed, nothing hangs."""

import asyncio
import threading
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from counts import examples
from pushrod.core.errors import ParameterError
from pushrod.robot.description import Actuator, Joint, Limits, Parameter, ParameterRef, Robot, Watchdog
from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.payload import Position
from pushrod.runtime.runtime import Runtime
from pushrod.safety.state import State

NAMES = ("m0", "m1", "m2")
LOG: list[tuple[str, str]] = []  # (actuator, "command" or "safe"), in the order they happened
STUCK: set[str] = set()  # whose disarm function fails


def make_safe(options: dict[str, Any]) -> None:
    name = options["path"][-1]
    LOG.append((name, "safe"))
    if name in STUCK:
        raise OSError("relay welded")


class Options(msgspec.Struct, frozen=True):
    gain: float


class Motor:
    disarm = "test_any_order:make_safe"
    options = Options
    crash = False

    def init(self, context: Any, options: Options) -> None:
        self.name = context.path[-1]
        self.top = context.motor.upper

    def handle_options(self, context: Any, options: Options) -> None:
        self.top = context.motor.upper

    def handle_command(self, payload: Any, command: Any) -> None:
        LOG.append((self.name, "command"))
        assert not isinstance(payload, Position) or payload.position <= self.top
        if type(self).crash and isinstance(payload, Position):
            raise OSError("wire cut")


def robot() -> Robot:
    limits = Limits(-3.0, ParameterRef("top"), velocity=1.0, effort=1.0)
    return Robot(
        "many",
        links=("base", *(f"l{i}" for i in range(3))),
        joints=tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=limits) for i in range(3)),
        actuators=(
            Actuator("m0", "j0", options={"gain": ParameterRef("gain")}),
            Actuator("m1", "j1", options={"gain": 1.0}, watchdog=Watchdog(0.5)),
            Actuator("m2", "j2", options={"gain": 1.0}, restart=False),
        ),
        parameters=(Parameter("gain", "float", 1.0, lo=0.0, hi=10.0), Parameter("top", "float", 2.0, lo=-5.0, hi=5.0, unit="rad")),
    )


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        LOG.clear()
        STUCK.clear()
        Motor.crash = False
        self.clock = SteppedClock()
        self.runner = asyncio.Runner(loop_factory=self.clock.loop_factory)
        self.rt = Runtime(robot(), dict.fromkeys(NAMES, Motor), clock=self.clock)

    @initialize()
    def start(self) -> None:
        self.runner.run(self.rt.__aenter__())

    def teardown(self) -> None:
        STUCK.clear()
        self.runner.run(self.rt.__aexit__(None, None, None))
        self.runner.close()
        for name in NAMES:
            assert [what for who, what in LOG if who == name][-1] == "safe"

    @rule()
    def arm(self) -> None:
        was = self.rt.state
        answer = self.rt.arm()
        if answer.ok:
            assert was in (State.DISARMED, State.ARMED)
            assert all(self.rt.hosts[name].gate.epoch for name in NAMES)

    @rule()
    def disarm(self) -> None:
        was, start = self.rt.state, len(LOG)
        answer = self.rt.disarm()
        assert {who for who, what in LOG[start:] if what == "safe"} == set(NAMES)
        assert answer.ok == (not STUCK)
        assert set(answer.failures) == {"/".join(self.rt[name].path) for name in STUCK}
        latched = was in (State.ERROR, State.ESTOPPED)
        assert self.rt.state is (was if latched else State.ERROR if STUCK else State.DISARMED)

    @rule()
    def estop(self) -> None:
        self.rt.estop("button")
        assert self.rt.state is State.ESTOPPED
        assert not self.rt.arm().ok

    @rule(gone=st.booleans())
    def reset(self, gone: bool) -> None:
        was, unsafe = self.rt.state, bool(self.rt.arming.decisions.unsafe)
        answer = self.rt.reset(lambda: gone)
        assert answer.ok == (was is State.ESTOPPED and gone and not (unsafe and STUCK))

    @rule()
    def force(self) -> None:
        was = self.rt.state
        self.rt.force_disarm()
        assert self.rt.state is (State.DISARMED if was is State.ERROR else was)

    @rule(name=st.sampled_from(NAMES), source=st.sampled_from(("planner", "operator")), x=st.floats(-4.0, 4.0), stop=st.booleans())
    def command(self, name: str, source: str, x: float, stop: bool) -> None:
        host = self.rt.hosts[name]
        handle = self.rt.handle(name, source)
        epoch, lease, stopped, start = host.gate.epoch, host.gate.lease, host.part.stopped, len(LOG)
        result = handle.direct.stop() if stop else handle.direct.set_position(x)
        reached = (name, "command") in LOG[start:]
        allowed = bool(epoch) and not stopped and (stop or lease is None or lease.owner == source or self.clock.now() >= lease.until)
        assert reached == allowed
        assert result.ok == (reached and not (Motor.crash and not stop))
        if reached and not result.ok:
            assert "safe" in [what for who, what in LOG[start:] if who == name]  # made safe at once
            assert not host.gate.epoch

    @rule(x=st.floats(-4.0, 4.0), y=st.one_of(st.floats(-4.0, 4.0), st.just(float("nan"))))
    def send_all_or_none(self, x: float, y: float) -> None:
        start = len(LOG)
        results = self.rt.send([("m0", Position(x)), ("m1", Position(y))], "planner")
        reached = {who for who, what in LOG[start:] if what == "command"}
        assert reached in (set(), {"m0", "m1"}) or Motor.crash  # after a crash the rest of the batch does not act
        assert not reached or all(r.ok for r in results) or Motor.crash

    @rule(source=st.sampled_from(("planner", "operator")), seconds=st.floats(0.0, 1.0), priority=st.integers(0, 2))
    def lease(self, source: str, seconds: float, priority: int) -> None:
        self.rt.handle("m0", source).take_lease(seconds, priority)

    @rule(source=st.sampled_from(("planner", "operator")))
    def release(self, source: str) -> None:
        self.rt.handle("m0", source).release_lease()

    @rule(crash=st.booleans())
    def break_or_mend(self, crash: bool) -> None:
        Motor.crash = crash

    @rule(name=st.sampled_from(NAMES))
    def weld(self, name: str) -> None:
        STUCK.symmetric_difference_update({name})

    @rule(gain=st.floats(-1.0, 11.0), top=st.floats(-6.0, 6.0))
    def set_parameters(self, gain: float, top: float) -> None:
        before = dict(self.rt.parameters.snapshot())
        try:
            self.rt.parameters.set_many({"gain": gain, "top": top})
        except ParameterError:
            assert dict(self.rt.parameters.snapshot()) == before
        else:
            assert self.rt.hosts["m1"].gate.limits.upper == top

    @rule(seconds=st.floats(0.001, 3.0))
    def wait(self, seconds: float) -> None:
        self.runner.run(asyncio.sleep(seconds))

    @precondition(lambda self: self.rt.watching.bitten())
    @rule()
    def clear(self) -> None:
        assert not self.rt.arm().ok
        assert self.rt.clear_watchdog("m1")

    @invariant()
    def armed_means_armed(self) -> None:
        if self.rt.state is not State.ARMED:
            assert not any(host.gate.epoch for host in self.rt.hosts.values())


AnyOrder.TestCase.settings = settings(max_examples=examples(30), stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase


def test_nothing_arrives_after_disarm_while_threads_send_as_fast_as_they_can() -> None:
    rounds = examples(20)
    running = True

    async def main() -> None:
        nonlocal running
        async with Runtime(robot(), dict.fromkeys(NAMES, Motor), clock=WallClock()) as rt:

            def hammer(name: str) -> None:
                direct = rt[name].direct
                while running:
                    direct.set_position(0.1)

            threads = [threading.Thread(target=hammer, args=(name,)) for name in NAMES[1:]]
            for thread in threads:
                thread.start()
            try:
                for _ in range(rounds):
                    rt.clear_watchdog("m1")
                    assert rt.arm().ok
                    await asyncio.sleep(0.002)
                    assert rt.disarm().ok
                    after = len(LOG)
                    await asyncio.sleep(0.002)
                    assert LOG[after:] == []
            finally:
                running = False
                for thread in threads:
                    thread.join()
        assert sum(what == "command" for _, what in LOG) > rounds

    LOG.clear()
    STUCK.clear()
    Motor.crash = False
    asyncio.run(main())
