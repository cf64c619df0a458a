"""Time as a contract: the wall clock, or a stepped clock under which a whole runtime run is deterministic and faster than real time.

now()                    seconds, monotonic
wall()                   seconds since the epoch; under the stepped clock the same as now()
every(period, tick)      calls tick(k) at a fixed rate, from k = `first` on; gives a Cadence that can be stopped and asked
later(delay, function)   calls once; gives a function that cancels it
aside(function, name)    calls once, where it may take its time
loop_factory             for asyncio.Runner: None means asyncio's own
"""

import asyncio
import heapq
import itertools
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pushrod.runtime.cadence import Cadence, StepCadence, ThreadCadence
from pushrod.runtime.gaps import Gaps

Cancel = Callable[[], None]
log = logging.getLogger("pushrod.runtime")
SOON = 2e-3  # [s] what is to be done within this time is not put off


class Clock(ABC):
    """Shared by whoever opens it; the last one to close it ends what it still has to do."""

    def __init__(self) -> None:
        self._users = 0

    def open(self) -> None:
        self._users += 1

    def close(self) -> None:
        self._users -= 1
        if self._users <= 0:
            self.end()

    @abstractmethod
    def now(self) -> float: ...

    @abstractmethod
    def wall(self) -> float: ...

    @abstractmethod
    def every(self, period: float, tick: Callable[[int], None], name: str = "loop", first: int = 0, rank: int = 1) -> Cadence:
        """`rank` orders what the stepped clock calls at the same time: 0 is the world, before all who look at it."""

    @abstractmethod
    def later(self, delay: float, function: Callable[[], object]) -> Cancel: ...

    @abstractmethod
    def aside(self, function: Callable[[], object], name: str) -> None: ...

    @abstractmethod
    def loop_factory(self) -> Any: ...

    @abstractmethod
    def end(self) -> None: ...


class WallClock(Clock):
    """Real time. Each fixed-rate loop has a thread of its own; `later` runs on one timer thread, out of the way of the loops (`gaps`)."""

    def __init__(self) -> None:
        super().__init__()
        self._cadences: list[Cadence] = []
        self._gaps = Gaps(lambda: self._cadences)
        self._timers = _Timers()
        self._aside: list[threading.Thread] = []

    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    def every(self, period: float, tick: Callable[[int], None], name: str = "loop", first: int = 0, rank: int = 1) -> Cadence:
        cadence = ThreadCadence(period, tick, name, first, self._cadences)
        self._cadences.append(cadence)
        return cadence

    def later(self, delay: float, function: Callable[[], object]) -> Cancel:
        when = time.monotonic() + delay
        return self._timers.add(self._gaps.planned(when) if delay > SOON else when, function)

    def aside(self, function: Callable[[], object], name: str) -> None:
        thread = threading.Thread(target=function, name=f"pushrod {name}", daemon=True)
        self._aside = [t for t in self._aside if t.is_alive()] + [thread]
        thread.start()

    def loop_factory(self) -> Any:
        return asyncio.new_event_loop()

    def end(self) -> None:
        for cadence in self._cadences:
            cadence.stop()
        self._timers.close()
        self._timers = _Timers()  # for whoever opens it again
        for thread in self._aside:
            thread.join(1.0)


class _Timers:
    """One thread that calls functions when their time has come; started with the first of them."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], object]]] = []
        self._order = itertools.count()
        self._open: set[int] = set()  # those that were neither called nor cancelled
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, when: float, function: Callable[[], object]) -> Cancel:
        with self._wake:
            n = next(self._order)
            self._open.add(n)
            heapq.heappush(self._heap, (when, n, function))
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="pushrod timers", daemon=True)
                self._thread.start()
            self._wake.notify()
        return lambda: self._open.discard(n)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._closed and (not self._heap or self._heap[0][0] > time.monotonic()):
                    self._wake.wait(max(0.0, self._heap[0][0] - time.monotonic()) if self._heap else None)
                if self._closed:
                    return
                _, n, function = heapq.heappop(self._heap)
            if n in self._open:
                self._open.discard(n)
                try:
                    function()
                except Exception:  # one timer's mistake is not the others'
                    log.exception("a timer failed")

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()


class SteppedClock(Clock):
    """Time that jumps from one thing to do to the next. Integer nanoseconds, so that sums are exact.

    Under asyncio it is driven by its event loop (`loop_factory`); without one, by `advance`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ns = 0
        self.heap: list[tuple[int, int, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self.ns * 1e-9

    def wall(self) -> float:
        return self.ns * 1e-9

    def at(self, ns: int, function: Callable[[], object], rank: int = 1) -> Cancel:
        gone: list[bool] = []

        def call() -> None:
            if not gone:
                function()

        heapq.heappush(self.heap, (ns, rank, next(self._order), call))
        return lambda: gone.append(True)

    def every(self, period: float, tick: Callable[[int], None], name: str = "loop", first: int = 0, rank: int = 1) -> Cadence:
        return StepCadence(self, round(period * 1e9), tick, name, first, rank)

    def later(self, delay: float, function: Callable[[], object]) -> Cancel:
        return self.at(self.ns + round(delay * 1e9), function)

    def aside(self, function: Callable[[], object], name: str) -> None:
        self.at(self.ns, function)

    def pop(self) -> None:
        """Jump to the next thing to do and do it."""
        ns, _, _, function = heapq.heappop(self.heap)
        self.ns = max(self.ns, ns)
        function()

    def advance(self, seconds: float) -> None:
        """Do everything that falls due within so many seconds."""
        end = self.ns + round(seconds * 1e9)
        while self.heap and self.heap[0][0] <= end:
            self.pop()
        self.ns = end

    def loop_factory(self) -> Any:
        from pushrod.runtime.stepped_loop import SteppedLoop

        return SteppedLoop(self)

    def end(self) -> None:
        self.heap.clear()


def running_clock() -> SteppedClock | None:
    """The stepped clock that runs the present coroutine; None where real time does."""
    try:
        return getattr(asyncio.get_running_loop(), "stepped", None)
    except RuntimeError:
        return None
