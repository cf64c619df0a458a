"""Call a method at a fixed rate on the runtime's clock: at start + k / hz, k = 0, 1, 2 ...; periods that were missed are left out, not made up for.

Timers hold it weakly: with its owner gone, or replaced after a crash, it ends by itself.
"""

import math
import weakref
from collections.abc import Callable

Cancel = Callable[[], None]
CallLater = Callable[[float, Cancel], Cancel]


def nothing() -> None:
    """What there is to cancel where nothing is planned."""


def weakly(method: Callable[[], None]) -> Cancel:
    """A function that calls the method if its owner is still there: what a timer may keep."""
    this = weakref.WeakMethod(method)

    def call() -> None:
        found = this()
        if found is not None:
            found()

    return call


class Pulse:
    """Starts with `start`; `stop` ends it."""

    def __init__(self, hz: float, now: Callable[[], float], call_later: CallLater, tick: Callable[[int], None]) -> None:
        self.hz = hz
        self._now = now
        self._call_later = call_later
        self._tick = weakref.WeakMethod(tick)  # its owner owns this pulse: no circle
        self._start = 0.0
        self._k = 0
        self._cancel: Cancel | None = None

    def start(self, k: int = 0) -> None:
        """From tick k on: 0 is due at once and called here, 1 is due after one period."""
        self.stop()
        self._start = self._now()
        self._k = k
        if k == 0:
            self._call(0)
        self._plan(max(k, 1))

    def stop(self) -> None:
        if self._cancel is not None:
            self._cancel()
            self._cancel = None

    def _plan(self, k: int) -> None:
        self._k = k
        self._cancel = self._call_later(max(self._start + k / self.hz - self._now(), 0.0), weakly(self._due))

    def _due(self) -> None:
        if self._cancel is None:
            return
        # rounded to the nanosecond of the stepped clock a tick may be due a little early
        following = math.floor((self._now() - self._start) * self.hz + 1e-6) + 1
        self._plan(max(self._k + 1, following))
        self._call(following - 1)

    def _call(self, k: int) -> None:
        tick = self._tick()
        if tick is None:
            self.stop()
        else:
            tick(k)
