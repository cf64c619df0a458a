"""Calls into a part, one at a time: under its lock in the thread of the caller, or on the one thread of a driver that blocks."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pushrod.core.errors import PushrodError
from pushrod.runtime.door import Lockable, enter, is_inside, leave_all
from pushrod.runtime.slot import Slot, settle

BUSY = 5.0  # [s] a call that is not a command waits for one that is under way


class BusyError(PushrodError, TimeoutError):
    """A part did not come back from another call."""


class Turns(ABC):
    @abstractmethod
    def ask(self, call: Callable[[], Any]) -> "Future[Any]": ...

    @abstractmethod
    def attempt(self, call: Callable[[], Any]) -> bool:
        """Make the call where that needs no waiting; False: not now."""


class LockTurns(Turns):
    """In the thread of whoever calls. A part that calls itself is told so at once."""

    def __init__(self, name: str, door: Lockable) -> None:
        self._name = name
        self._door = door

    def ask(self, call: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()
        if not self._enter_and(BUSY, lambda: settle(future, call)):
            future.set_exception(BusyError(f"{self._name} is busy with another call"))
        return future

    def attempt(self, call: Callable[[], Any]) -> bool:
        return self._enter_and(0.0, call)

    def _enter_and(self, timeout: float, call: Callable[[], Any]) -> bool:
        if is_inside(self._door):
            return False
        try:
            entered = enter(self._door, timeout)
            if entered:
                call()
        finally:
            leave_all([self._door])
        return entered


class SlotTurns(Turns):
    """On the thread of a driver that blocks, with the gate's lock held, so that disarming knows of it."""

    def __init__(self, slot: Slot, locked: LockTurns) -> None:
        self._slot = slot
        self._locked = locked

    def ask(self, call: Callable[[], Any]) -> "Future[Any]":
        return self._slot.ask(lambda: self._locked.ask(call).result())

    def attempt(self, call: Callable[[], Any]) -> bool:
        self.ask(call)
        return True
