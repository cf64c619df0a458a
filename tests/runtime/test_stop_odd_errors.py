"""Errors and reasons that cannot even be turned into text stop the robot like any other."""

import asyncio
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from rig import DISARMED, Servo, robot, run

from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.part import DriverError
from pushrod.runtime.runtime import Runtime
from pushrod.runtime.stop import reason_text
from pushrod.safety.state import State


class BadFormat(Exception):  # noqa: N818
    def __format__(self, spec: str) -> str:
        raise RuntimeError("no format")

    def __str__(self) -> str:
        raise RuntimeError("no text")


class BadArguments(Exception):  # noqa: N818
    @property
    def args(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no arguments")


class Proxy:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("not loaded")


class OddMeta(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no name")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("not comparable")

    __hash__ = type.__hash__


class Odd(metaclass=OddMeta):
    pass


ERRORS = [ValueError(10**5000), BadFormat("x"), BadArguments("x"), SystemExit(3)]
NAMES = ["huge number", "format", "arguments", "exit"]


REASONS: dict[str, Any] = dict(zip(NAMES, ERRORS, strict=True)) | {
    "number": 10**5000,
    "bytes": b"x" * 10**7,
    "proxy": Proxy(),
    "odd": Odd(),
    "odd class": Odd,
    "surrogates": "\udcff" * 10,
    "error with a surrogate": ValueError("\udcff"),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_reason_is_short_text_that_can_be_encoded(name: str) -> None:
    began = time.monotonic()
    text = reason_text(REASONS[name])
    assert time.monotonic() - began < 0.5
    assert 0 < len(text) < 10_000
    text.encode()


@pytest.mark.parametrize("name", REASONS)
def test_no_reason_prevents_a_stop(name: str) -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        assert rt.estop(REASONS[name]).ok
        assert rt.state is State.ESTOPPED

    run(robot(), {"motor": Servo}, body)
    assert DISARMED


@pytest.mark.parametrize("error", ERRORS, ids=NAMES)
@pytest.mark.parametrize("where", ["handle_command", "tick", "read", "call_later", "loop"])
@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_no_error_leaves_an_actuator_armed(clock: Any, where: str, error: BaseException) -> None:
    class Failing(Servo):
        tick_hz = 200.0
        fails = False

        def maybe(self, what: str) -> None:
            if type(self).fails and what == where:
                raise error

        def handle_command(self, payload: Any, command: Any) -> None:
            self.maybe("handle_command")

        def read(self, now: float) -> None:
            self.maybe("read")

        def tick(self, now: float) -> None:
            self.maybe("tick")

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        before = len(DISARMED)
        Failing.fails = True
        if where == "call_later":
            rt.hosts["motor"].part.later(0.0, lambda: Failing.maybe(rt.hosts["motor"].part.driver.driver, "call_later"))
        elif where == "handle_command":
            try:
                assert not rt["motor"].direct.set_position(0.1).ok
            except SystemExit:
                assert isinstance(error, SystemExit)
        elif where == "loop":

            @rt.loop(hz=200)
            def control(k: int) -> None:
                raise error

        for _ in range(400):
            await asyncio.sleep(0.005)
            if len(DISARMED) > before:
                break
        Failing.fails = False
        assert len(DISARMED) > before
        assert not rt["motor"].direct.set_position(0.1).ok

    with suppress(type(error)):  # that of a loop is raised when the runtime ends
        run(robot(), {"motor": Failing}, body, clock())


def test_a_disarm_function_whose_error_has_no_text_is_reported_at_once() -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()
        disarmer = next(iter(rt._disarmers.values()))
        kept = disarmer.disarm

        def fails(options: dict[str, Any]) -> None:
            raise BadFormat("x")

        disarmer.disarm = fails
        began = time.monotonic()
        answer = rt.disarm()
        assert time.monotonic() - began < 1.0
        assert (answer.state, answer.failures) == (State.ERROR, {"base/shoulder/motor": "raised BadFormat: x"})
        disarmer.disarm = kept
        assert rt.force_disarm().ok

    run(robot(), {"motor": Servo}, body)
    run(robot(), {"motor": Servo}, body, WallClock())


def test_an_init_that_raises_stop_iteration_is_an_error() -> None:
    class Iterating(Servo):
        def init(self, context: Any, options: Any) -> None:
            next(iter(()))

    async def body(rt: Runtime) -> None:
        return

    with pytest.raises(DriverError, match="StopIteration"):
        run(robot(), {"motor": Iterating}, body, WallClock())


def test_a_runtime_that_is_being_left_does_not_arm() -> None:
    servo, leaving = Servo(), threading.Event()
    answers: list[Any] = []

    async def body(rt: Runtime) -> None:
        rt.arm()

        @rt.loop(hz=50)
        def control(k: int) -> None:
            leaving.wait(0.3)  # leaving waits for it

        def rearm() -> None:
            while not leaving.is_set():
                answers.append(rt.arm())
                servo.told and rt["motor"].direct.set_position(0.1)
                time.sleep(0.001)

        threading.Thread(target=rearm, daemon=True).start()
        await asyncio.sleep(0.05)

    run(robot(), {"motor": lambda: servo}, body, WallClock())
    leaving.set()
    assert {answer.refusal for answer in answers if not answer.ok} & {"ended", "checks"}
    assert answers[-1].state is not State.ARMED


def test_arming_waits_for_the_disarm_after_a_late_call() -> None:
    inside, leave, slow = threading.Event(), threading.Event(), threading.Event()

    class Hanging(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            inside.set()
            leave.wait(5.0)

    async def body(rt: Runtime) -> None:
        rt.arm()
        thread = threading.Thread(target=lambda: rt["motor"].direct.set_position(0.1))
        thread.start()
        inside.wait(5.0)
        assert not rt.disarm().ok
        disarmer = next(iter(rt._disarmers.values()))
        kept, disarmer.disarm = disarmer.disarm, lambda options: slow.wait(5.0) and None
        leave.set()
        thread.join()
        await asyncio.sleep(0.2)  # the late disarm is running
        assert "has not returned" in rt.arming._in_flight([0])[0]
        slow.set()
        disarmer.disarm = kept
        assert rt.force_disarm().ok
        assert rt.arm().ok

    run(robot(), {"motor": Hanging}, body, WallClock())
