"""What a driver, sensor or controller listens to, brought to it one message after the other: on a thread, or inline on the stepped clock.

Messages come in the order they were published, each once, however many of the topics listened to it belongs to. What nobody has taken when SIZE
messages wait is dropped, the oldest first, and counted.
"""

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from typing import Any

from pushrod.runtime.bus import Bus, QueueStatistics, Subscription
from pushrod.runtime.clock import Clock, SteppedClock
from pushrod.runtime.message import Message

log = logging.getLogger("pushrod.runtime")
SIZE = 1024
LOOK = 0.05  # [s] how often it looks whether it is closed meanwhile


class Mailbox:
    """`deliver(message)` is called for every message of the subscriptions, the next one when that is done; a publisher never waits for it."""

    def __init__(self, name: str, robot: str, bus: Bus, clock: Clock, deliver: Callable[[Message], "Future[Any] | None"]) -> None:
        self._robot = robot
        self._bus = bus
        self._clock = clock
        self._deliver = deliver
        self._name = name
        self._lock = threading.RLock()  # a signal handler may publish while this thread has it
        self._subscriptions: list[Subscription] = []
        self._dropped: list[int] = []  # by subscription
        self._waiting: deque[tuple[int, Message]] = deque()
        self._rung = False  # the bell has been rung and nobody has looked since
        self._bell: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def listen(self, prefix: str | Iterable[str], types: Iterable[type] = (), latched: bool = False) -> None:
        made: list[Subscription] = []

        def came() -> None:
            while made and (message := made[0].poll()) is not None:
                if not any(s.wants(message) for s in self._subscriptions[:i]):
                    self._put(i, message)

        i = len(self._subscriptions)
        subscription = self._bus.subscribe(prefix, types, latched=latched, robot=self._robot, notify=came)
        self._dropped.append(0)
        self._subscriptions.append(subscription)
        while (message := subscription.poll()) is not None:  # the latched ones
            self._put(i, message)
        made.append(subscription)
        came()
        if not isinstance(self._clock, SteppedClock) and self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"pushrod mail {self._name}", daemon=True)
            self._thread.start()

    def statistics(self) -> tuple[QueueStatistics, ...]:
        with self._lock:
            waiting = [i for i, _ in self._waiting]
            counts = [(waiting.count(i), dropped) for i, dropped in enumerate(self._dropped)]
        told = [subscription.statistics() for subscription in self._subscriptions]
        return tuple(s._replace(waiting=n, dropped=s.dropped + d) for s, (n, d) in zip(told, counts, strict=False))

    def close(self) -> None:
        for subscription in self._subscriptions:
            self._bus.unsubscribe(subscription)
        with self._lock:
            self._subscriptions, self._dropped = [], []
            self._waiting.clear()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._bell.put(False)
            self._thread.join(1.0)
        self._thread = None

    def _put(self, i: int, message: Message) -> None:
        with self._lock:
            if len(self._waiting) >= SIZE:
                self._dropped[self._waiting.popleft()[0]] += 1
            self._waiting.append((i, message))
            if self._rung:
                return
            self._rung = True
        if isinstance(self._clock, SteppedClock):
            # before whatever else is due now: who ticks at the same time has read his mail
            self._clock.at(self._clock.ns, self._empty, rank=0)
        else:
            self._bell.put(True)

    def _run(self) -> None:
        while self._bell.get():
            try:
                self._empty()
            except BaseException as error:  # SystemExit too: the thread serves the messages that follow
                log.error("%s: a message could not be delivered: %s: %s", self._name, type(error).__name__, error)
                self._bell.put(True)

    def _empty(self) -> None:
        with self._lock:
            self._rung = False
        while True:
            with self._lock:
                if not self._waiting:
                    return
                _, message = self._waiting.popleft()
            done = self._deliver(message)
            while done is not None and not done.done() and self._subscriptions:  # a driver that blocks has a line of its own: it stays short
                wait((done,), LOOK)
