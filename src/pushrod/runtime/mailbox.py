"""What a driver, sensor or controller listens to, brought to it one message after the other: on a thread, or inline on the stepped clock."""

import queue
import threading
from collections.abc import Callable, Iterable

from pushrod.runtime.bus import Bus, QueueStatistics, Subscription
from pushrod.runtime.clock import Clock, SteppedClock
from pushrod.runtime.message import Message


class Mailbox:
    """`deliver(message)` is called for every message of the subscriptions; a publisher never waits for it."""

    def __init__(self, name: str, robot: str, bus: Bus, clock: Clock, deliver: Callable[[Message], None]) -> None:
        self._robot = robot
        self._bus = bus
        self._clock = clock
        self._deliver = deliver
        self._name = name
        self._subscriptions: list[Subscription] = []
        self._bell: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._planned = False

    def listen(self, prefix: Iterable[str], types: Iterable[type] = (), latched: bool = False) -> None:
        ring = self._plan if isinstance(self._clock, SteppedClock) else self._ring
        self._subscriptions.append(self._bus.subscribe(tuple(prefix), types, latched=latched, robot=self._robot, notify=ring))
        if not isinstance(self._clock, SteppedClock) and self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"pushrod mail {self._name}", daemon=True)
            self._thread.start()

    def _ring(self) -> None:
        self._bell.put(True)

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._clock.later(0.0, self._now)

    def _now(self) -> None:
        self._planned = False
        self._empty()

    def _run(self) -> None:
        while self._bell.get():
            self._empty()

    def _empty(self) -> None:
        for subscription in self._subscriptions:
            while (message := subscription.poll()) is not None:
                self._deliver(message)

    def statistics(self) -> tuple[QueueStatistics, ...]:
        return tuple(subscription.statistics() for subscription in self._subscriptions)

    def close(self) -> None:
        for subscription in self._subscriptions:
            self._bus.unsubscribe(subscription)
        self._subscriptions = []
        if self._thread is not None and self._thread is not threading.current_thread():
            self._bell.put(False)
            self._thread.join(1.0)
        self._thread = None
