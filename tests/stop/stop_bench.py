"""The stop path by itself: gates, disarm functions, decisions and arming, without a robot, drivers or an event loop."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from pushrod.robot.description import Limits
from pushrod.robot.transmission import Transmission
from pushrod.runtime import arming, deciding
from pushrod.runtime.arming import Arming
from pushrod.runtime.deciding import Decisions
from pushrod.runtime.gate import Gate
from pushrod.runtime.making_safe import Disarmer
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Position
from pushrod.runtime.stop import Latch, Stop
from pushrod.safety.state import State

WAIT = 5.0  # [s] for another thread; reached only where a test fails
Disarm = Callable[[dict[str, Any]], None]


def gate_named(name: str, handle: Callable[[Any, Command], Any] = lambda payload, command: None, **options: Any) -> Gate:
    return Gate(name, handle, (Position,), Limits(), Transmission(), lambda: 0.0, **options)


def position(value: float = 1.0, source: str = "test", epoch: int = 0, id: str | None = None) -> Command:
    return Command(Position(value), source, 0.0, epoch=epoch, id=id)


class Bench:
    """Actuators `names`; foreign code is recorded, and replaced by assignment to `disarm`, `missing`, `guard_missing`, `observe`."""

    def __init__(self, names: tuple[str, ...] = ("a", "b"), threaded: bool = False, unguarded: str = "") -> None:
        self.calls: list[str] = []  # disarm functions, in order
        self.options: list[dict[str, Any]] = []
        self.disarm: dict[str, Disarm] = {}
        self.moved: list[tuple[str, float]] = []
        self.transitions: list[tuple[State, State, str]] = []
        self.reports: list[tuple[str, str]] = []
        self.errors: list[BaseException] = []
        self.levels: list[int] = []
        self.arming_levels: list[int] = []
        self.missing: Callable[[], list[str]] = list
        self.guard_missing: Callable[[], list[str]] = list
        self.observe: Callable[[State], None] = lambda state: None
        self.guarded: Callable[[int], None] = lambda level: None
        self.gates = [gate_named(name, partial(self._handle, name)) for name in names]
        self.disarmers = {gate.name: Disarmer(gate, partial(self._disarm, gate.name), {"port": gate.name}, threaded) for gate in self.gates}
        self.decisions = Decisions(
            self.disarmers, self._changed, lambda *report: self.reports.append(report), self.errors.append, self._guarded, unguarded, threaded
        )
        self.arming = Arming(self.decisions, lambda: self.missing(), self._arming_guarded)
        if threaded:
            self.decisions.open()

    def _handle(self, name: str, payload: Any, command: Command) -> None:
        self.moved.append((name, payload.position))

    def _disarm(self, name: str, options: dict[str, Any]) -> None:
        self.calls.append(name)
        self.options.append(options)
        self.disarm.get(name, lambda options: None)(options)

    def _changed(self, old: State, new: State, why: str) -> None:
        self.transitions.append((old, new, why))
        self.observe(new)

    def _guarded(self, level: int) -> None:
        self.levels.append(level)
        self.guarded(level)

    def _arming_guarded(self, level: int) -> list[str]:
        self.arming_levels.append(level)
        return self.guard_missing()

    def clear(self) -> None:
        """Forget what was recorded so far."""
        for record in (self.calls, self.options, self.transitions, self.reports, self.levels, self.arming_levels, self.moved):
            record.clear()

    def fail(self, *names: str) -> None:
        """Let these disarm functions raise; the others succeed."""
        self.disarm = dict.fromkeys(names, broken)

    def silence(self, *names: str) -> None:
        """Disarm functions that neither return nor raise, without a thread that hangs."""
        for name in names:
            self.disarmers[name].go = lambda stop: None  # type: ignore[method-assign]
            self.disarmers[name].serve_at_once = lambda stop: None  # type: ignore[method-assign]

    def answer(self, stop: Stop, name: str, failure: str | None = None) -> None:
        """A disarm function is called for a stop, and ends."""
        self.disarmers[name].number = next(self.decisions._numbers)
        self.decisions._answered(stop, name, failure)

    @property
    def epochs(self) -> list[int]:
        return [gate.epoch for gate in self.gates]


def broken(options: dict[str, Any]) -> None:
    raise OSError("no link")


def once(action: Any) -> Any:
    """A disarm function that does something the first time it is called."""
    left = [action]
    return lambda options: left.pop()() if left else None


class ScriptedLock:
    """Answers each `acquire` as listed, then True; records time limits: -1.0 where there is none, 0.0 where the caller does not wait."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.limits: list[float] = []
        self.held = 0

    def acquire(self, blocking: bool = True, timeout: float = -1.0) -> bool:
        self.limits.append(timeout if blocking else 0.0)
        granted = self.answers.pop(0) if self.answers else True
        self.held += granted
        return granted

    def release(self) -> None:
        if not self.held:
            raise RuntimeError("cannot release un-acquired lock")
        self.held -= 1


def is_held(lock: Any) -> bool:
    """Whether another thread could not take it now."""
    taken: list[bool] = []

    def attempt() -> None:
        taken.append(lock.acquire(False))
        if taken[0]:
            lock.release()

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return not taken[0]


class RecordedLatch(Latch):
    """A latch that records each wait, and each that ended by its time limit."""

    waits: list[float]  # replaced by the fixture
    in_vain: list[float]

    def wait(self, timeout: float) -> bool:
        self.waits.append(timeout)
        came = super().wait(timeout)
        if not came:
            self.in_vain.append(timeout)
        return came


class RecordedStop(Stop):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.called = RecordedLatch()
        self.done = RecordedLatch()
        self.reported = RecordedLatch()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time limits of all waits for a stop or a decision."""
    record: list[float] = []
    monkeypatch.setattr(RecordedLatch, "waits", record, raising=False)
    monkeypatch.setattr(RecordedLatch, "in_vain", [], raising=False)
    monkeypatch.setattr(arming, "Stop", RecordedStop)
    monkeypatch.setattr(deciding, "Latch", RecordedLatch)
    return record


@pytest.fixture
def bench() -> Bench:
    """Two actuators without threads, as on the stepped clock."""
    return Bench()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Two actuators with threads; callers wait for reports as long as it takes."""
    monkeypatch.setattr(arming, "REPORTED", WAIT)
    monkeypatch.setattr(deciding, "REPORTED", WAIT)
    made = Bench(threaded=True)
    yield made
    made.decisions.close()


class Clock:
    """A replacement for the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(deciding, "time", clock)
    return clock
