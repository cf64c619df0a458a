"""A driver that blocks: one thread that all its calls are made on, and one place for the newest command that waits.

The gate is asked at the door, so that what would be refused displaces nothing, and again at the last hop, by the driver's thread.
A displaced command is answered `superseded`. A command that has not started can be withdrawn. Calls that are not commands wait in line
beside it. On the stepped clock there is no thread: everything is done in place, so that a run can be repeated.
"""

import logging
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from pushrod.runtime.gate import Gate, Permit, Prepared
from pushrod.runtime.message import Command
from pushrod.runtime.payload import Stop
from pushrod.runtime.result import Refused, Result
from pushrod.runtime.stop import error_text

log = logging.getLogger("pushrod.runtime")
Answer = Callable[[Result], None]
Job = Callable[[], None]


class Waiting(NamedTuple):
    """A command and the arming it came under: it acts under that one or not at all."""

    answer: Answer
    permit: Permit
    prepared: Prepared

    @property
    def command(self) -> Command:
        return self.prepared.command


class SlotStatistics(NamedTuple):
    waiting: int
    taken: int
    superseded: int
    withdrawn: int


class Slot(ABC):
    progress = 0  # calls begun and calls ended on the driver's thread: odd inside one

    @abstractmethod
    def open(self) -> None:
        """From here on it is served."""

    @abstractmethod
    def put(self, permit: Permit, prepared: Prepared, answer: Answer) -> Waiting | None:
        """Have a command act under the permit it came under. Return where it waits; None where it is settled and `answer` was called."""

    @abstractmethod
    def withdraw(self, entry: Waiting) -> bool:
        """True: it had not started, and never will."""

    @abstractmethod
    def ask(self, call: Callable[[], Any]) -> "Future[Any]":
        """Any other call, on the thread of the driver."""

    @abstractmethod
    def statistics(self) -> SlotStatistics: ...

    @abstractmethod
    def close(self, patience: float) -> bool:
        """True where the thread has ended; a driver that hangs keeps its own."""


class ThreadSlot(Slot):
    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._lock = threading.Lock()
        self._waiting: Waiting | None = None
        self._bell: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._taken = self._superseded = self._withdrawn = 0
        self._thread = threading.Thread(target=self._run, name=f"pushrod driver {gate.name}", daemon=True)

    def open(self) -> None:
        if self._thread.ident is None:
            self._thread.start()

    def put(self, permit: Permit, prepared: Prepared, answer: Answer) -> Waiting | None:
        gate, command = self._gate, prepared.command
        entry = Waiting(answer, permit, prepared)
        refusal = gate.admit(permit, prepared)
        if refusal is not None:
            answer(gate.refuse(refusal[0], command, refusal[1]))
            return None
        if command.id is not None:
            gate.motions.accept(command, started=False)
        with self._lock:
            old = self._waiting
            stopping = old is not None and type(old.command.payload) is Stop and type(command.payload) is not Stop
            late, self._waiting = (entry, old) if stopping else (old, entry)  # a stop that has not acted yet is not displaced
            self._taken += 1
            self._superseded += late is not None
        if late is not None:
            gate.motions.refuse(late.command, "superseded")
            late.answer(gate.refuse("superseded", late.command, "a stop is waiting to act" if stopping else ""))
        if old is None:
            self._bell.put(self._act)
        return None if late is entry else entry

    def withdraw(self, entry: Waiting) -> bool:
        with self._lock:
            if self._waiting is not entry:
                return False
            self._waiting = None
            self._withdrawn += 1
        self._gate.motions.refuse(entry.command, "withdrawn")
        return True

    def ask(self, call: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()
        self._bell.put(lambda: settle(future, call))
        return future

    def statistics(self) -> SlotStatistics:
        with self._lock:
            return SlotStatistics(int(self._waiting is not None), self._taken, self._superseded, self._withdrawn)

    def _act(self) -> None:
        with self._lock:
            entry, self._waiting = self._waiting, None
        if entry is None:
            return
        try:
            result = self._gate.deliver(entry.permit, entry.prepared)
        except BaseException as error:  # SystemExit: on this thread it ends nothing; the gate has stopped the driver
            result = self._gate.refuse("driver_error", entry.command, error_text(error))
        if isinstance(result, Refused) and result.reason != "driver_error":  # the motions of a driver that failed end when it is safe
            self._gate.motions.refuse(entry.command, result.reason)
        entry.answer(result)

    def _run(self) -> None:
        while (job := self._bell.get()) is not None:
            self.progress += 1
            try:
                job()
            except BaseException as error:  # of a receiver of the answer; the thread serves the next call
                log.error("%s: a call on the driver's thread raised %s: %s", self._gate.name, type(error).__name__, error)
            finally:
                self.progress += 1

    def close(self, patience: float) -> bool:
        self._bell.put(None)
        if self._thread is threading.current_thread() or self._thread.ident is None:
            return self._thread.ident is None
        self._thread.join(patience)
        return not self._thread.is_alive()


class InlineSlot(Slot):
    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._taken = 0

    def open(self) -> None:
        return

    def put(self, permit: Permit, prepared: Prepared, answer: Answer) -> Waiting | None:
        self._taken += 1
        answer(self._gate.deliver(permit, prepared))
        return None

    def withdraw(self, entry: Waiting) -> bool:
        return False

    def ask(self, call: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()
        settle(future, call)
        return future

    def statistics(self) -> SlotStatistics:
        return SlotStatistics(0, self._taken, 0, 0)

    def close(self, patience: float) -> bool:
        return True


def settle(future: "Future[Any]", call: Callable[[], Any]) -> None:
    """Make the call and keep what came of it."""
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(call())
        except StopIteration as error:  # asyncio cannot carry it
            future.set_exception(RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:
            future.set_exception(error)
            if isinstance(error, KeyboardInterrupt):
                raise
