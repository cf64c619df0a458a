"""Commands on their way to a host, and the answers to them: sent one after the other, numbered, never more at a time than there is room for."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import zenoh
from zenoh.handlers import Callback

from pushrod.net.caller import GRACE
from pushrod.net.wire import Answered, decode
from pushrod.runtime.delivery import CommandTimeout

log = logging.getLogger("pushrod.net")
Done = Callable[[Answered | Exception], None]


class Courier:
    """`number` counts what the session asks for, commands or not."""

    def __init__(self, robot: str) -> None:
        self._robot = robot
        self._sending = threading.Lock()
        self._number = 0
        self._waiting: dict[int, tuple[Done, float, float]] = {}  # by number: who waits, until when, and how long

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def listen(self, session: zenoh.Session, name: str) -> Any:
        """Hear the answers."""
        answers: Callback[zenoh.Sample] = Callback(self._came, indirect=False)
        return session.declare_subscriber(name, answers, allowed_origin=zenoh.Locality.REMOTE)

    def next_number(self) -> int:
        with self._sending:
            self._number += 1
            return self._number

    def send(self, publisher: zenoh.Publisher, make: Callable[[int], bytes], timeout: float, done: Done) -> int:
        """`make` packs the command with its number; `done` is told once, by whichever thread brings the answer or gives up."""
        with self._sending:  # so that they are numbered in the order they are sent in
            self._number = number = self._number + 1
            body = make(number)
            self._waiting[number] = (done, time.monotonic() + timeout + GRACE, timeout)
            publisher.put(body)
        return number

    def expire(self, number: int) -> None:
        """The time of a command is up."""
        waiting = self._waiting.pop(number, None)
        if waiting is not None:
            done, _, timeout = waiting
            done(CommandTimeout(f"{self._robot} has not answered within {timeout:g} s: the outcome is unknown; look at it, or disarm"))

    def sweep(self) -> None:
        """Give up what nobody answers any more."""
        now = time.monotonic()
        for number, (_, until, _) in list(self._waiting.items()):
            if now > until:
                self.expire(number)

    def fail(self, error: Exception) -> None:
        for number in list(self._waiting):
            waiting = self._waiting.pop(number, None)
            if waiting is not None:
                waiting[0](error)

    def _came(self, sample: zenoh.Sample) -> None:
        try:
            answered: Answered = decode(sample.payload.to_bytes(), Answered)
            waiting = self._waiting.pop(answered.number, None)
            if waiting is not None:
                waiting[0](answered)
        except Exception:
            log.exception("an answer of %s cannot be read", self._robot)
