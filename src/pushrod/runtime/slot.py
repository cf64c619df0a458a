"""In front of a driver that blocks: one thread of its own, and one slot in which the newest command waits.

The gate is asked at the door, so that what would be refused displaces nothing, and again at the last hop, by the driver's thread.
A displaced command is answered `superseded`. A command that has not started can be withdrawn.
"""

import queue
import threading
from collections.abc import Callable
from typing import NamedTuple

from pushrod.runtime.gate import Gate
from pushrod.runtime.message import Command
from pushrod.runtime.result import Refused, Result

Answer = Callable[[Result], None]


class Waiting(NamedTuple):
    command: Command
    answer: Answer


class SlotStatistics(NamedTuple):
    waiting: int
    taken: int
    superseded: int
    withdrawn: int


class Slot:
    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._lock = threading.Lock()
        self._waiting: Waiting | None = None
        self._bell: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._taken = self._superseded = self._withdrawn = 0
        self._thread = threading.Thread(target=self._run, name=f"pushrod driver {gate.name}", daemon=True)
        self._thread.start()

    def put(self, command: Command, answer: Answer) -> Waiting | None:
        """Where it waits; None where it was refused at the door, which `answer` has been told."""
        verdict = self._gate.admit(command)
        if type(verdict) is Refused:
            answer(verdict)
            return None
        entry = Waiting(command, answer)
        with self._lock:
            old, self._waiting = self._waiting, entry
            self._taken += 1
            self._superseded += old is not None
        if old is not None:
            old.answer(self._gate.refuse("superseded", old.command))
        else:
            self._bell.put(True)
        return entry

    def withdraw(self, entry: Waiting) -> bool:
        """True: it had not started, and never will."""
        with self._lock:
            if self._waiting is not entry:
                return False
            self._waiting = None
            self._withdrawn += 1
            return True

    def statistics(self) -> SlotStatistics:
        with self._lock:
            return SlotStatistics(int(self._waiting is not None), self._taken, self._superseded, self._withdrawn)

    def _run(self) -> None:
        while self._bell.get():
            with self._lock:
                entry, self._waiting = self._waiting, None
            if entry is not None:
                entry.answer(self._gate(entry.command))

    def close(self, patience: float) -> bool:
        """True where the thread has ended; a driver that hangs keeps its own."""
        self._bell.put(False)
        self._thread.join(patience)
        return not self._thread.is_alive()
