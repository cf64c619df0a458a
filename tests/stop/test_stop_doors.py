"""Doors: one thread at a time, left by the thread that is inside and by no other, whatever interrupts it."""

import threading
from typing import Any

import pytest
from stop_bench import ScriptedLock, gate_named, is_held

from pushrod.runtime import door as module
from pushrod.runtime.door import Door, enter, is_inside, leave, leave_all


def test_a_door_is_entered_and_left() -> None:
    door = Door()
    assert enter(door, 0.0)
    assert (is_inside(door), door.holder, is_held(door.lock)) == (True, threading.get_ident(), True)
    leave(door)
    assert (is_inside(door), door.holder, is_held(door.lock)) == (False, 0, False)


def test_a_door_is_not_entered_twice() -> None:
    door = Door()
    enter(door, 0.0)
    assert not enter(door, 0.0)
    leave(door)
    assert not is_held(door.lock)


@pytest.mark.parametrize(("timeout", "limit"), [(0.0, 0.0), (0.25, 0.25)])
@pytest.mark.parametrize("free", [True, False])
def test_a_door_is_entered_within_a_time_limit(timeout: float, limit: float, free: bool) -> None:
    door = Door()
    door.lock = lock = ScriptedLock(free)  # type: ignore[assignment]
    assert enter(door, timeout) is free
    assert lock.limits == [limit]
    assert door.holder == (threading.get_ident() if free else 0)


def test_leaving_a_door_that_another_thread_is_inside_of_changes_nothing() -> None:
    door, inside, over = Door(), threading.Event(), threading.Event()

    def other() -> None:
        enter(door, 0.0)
        inside.set()
        over.wait(5.0)
        leave(door)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(5.0)
    leave(door)
    assert door.holder == thread.ident
    assert not enter(door, 0.01)
    over.set()
    thread.join()
    assert enter(door, 0.0)


class RaisedError(Exception):
    pass


class InterruptedLock:
    """An RLock whose taker is interrupted as soon as it has it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.release = self._lock.release

    def acquire(self, *how: Any, **limit: Any) -> bool:
        self._lock.acquire(*how, **limit)
        raise RaisedError


def test_a_gate_is_left_by_a_caller_that_is_interrupted_while_it_enters() -> None:
    gate = gate_named("a")
    gate.lock = lock = InterruptedLock()  # type: ignore[assignment]
    with pytest.raises(RaisedError):
        gate.deliver(gate.permit, None)  # type: ignore[arg-type]
    assert not is_held(lock._lock)
    assert gate.holder == 0


def test_all_doors_are_left_the_last_one_first(monkeypatch: pytest.MonkeyPatch) -> None:
    doors = [Door() for _ in range(3)]
    for door in doors:
        enter(door, 0.0)
    left: list[Door] = []
    monkeypatch.setattr(module, "leave", lambda door: (left.append(door), leave(door)))
    leave_all(entered := list(doors))
    assert (left, entered) == (doors[::-1], [])
    assert not any(is_held(door.lock) for door in doors)


@pytest.mark.parametrize("after", [False, True])
def test_a_thread_that_is_interrupted_leaves_all_doors_and_is_interrupted_then(after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    doors = [Door() for _ in range(3)]
    for door in doors:
        enter(door, 0.0)
    errors = [RaisedError("first"), RaisedError("second")]

    def interrupted(door: Door) -> None:
        if after:
            leave(door)
        if errors:
            raise errors.pop(0)
        if not after:
            leave(door)

    monkeypatch.setattr(module, "leave", interrupted)
    with pytest.raises(RaisedError, match="second"):
        leave_all(doors)
    assert (doors, errors) == ([], [])
