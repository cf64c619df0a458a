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
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from pushrod.runtime.cadence import Cadence, StepCadence, ThreadCadence
from pushrod.runtime.gaps import Gaps

Cancel = Callable[[], None]
log = logging.getLogger("pushrod.runtime")
SOON = 2e-3  # [s] what is to be done within this time is not put off
CANCELLED = 64  # cancelled timers that may wait for their time in any case; beyond that no more than there are others


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
    def later(self, delay: float, function: Callable[[], object]) -> Cancel:
        """Run a function of the runtime's own after a delay [s]."""

    @abstractmethod
    def call_later(self, delay: float, function: Callable[[], object]) -> Cancel:
        """Run foreign code, such as a driver's, after a delay [s]; one that hangs delays nothing that `later` runs."""

    @abstractmethod
    def aside(self, function: Callable[[], object], name: str) -> None: ...

    @abstractmethod
    def loop_factory(self) -> Any: ...

    @abstractmethod
    def end(self) -> None: ...


class WallClock(Clock):
    """Real time. Each fixed-rate loop has a thread of its own; `later` and `call_later` have one each, out of the way of the loops (`gaps`)."""

    def __init__(self) -> None:
        super().__init__()
        self._cadences: list[Cadence] = []
        self._gaps = Gaps(lambda: self._cadences)
        self._timers = _Timers("timers")
        self._foreign = _Timers("drivers' timers")
        self._aside: list[threading.Thread] = []

    def open(self) -> None:
        super().open()
        self._timers.open()  # a stop sets timers, and no thread may be left to start then
        self._foreign.open()

    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    def every(self, period: float, tick: Callable[[int], None], name: str = "loop", first: int = 0, rank: int = 1) -> Cadence:
        cadence = ThreadCadence(period, tick, name, first, self._cadences)
        self._cadences.append(cadence)
        return cadence

    def later(self, delay: float, function: Callable[[], object]) -> Cancel:
        return self._add(self._timers, delay, function)

    def call_later(self, delay: float, function: Callable[[], object]) -> Cancel:
        return self._add(self._foreign, delay, function)

    def _add(self, timers: "_Timers", delay: float, function: Callable[[], object]) -> Cancel:
        when = time.monotonic() + (delay := float(delay))  # a NumPy scalar would round the sum to its own precision
        return timers.add(self._gaps.planned(when) if delay > SOON else when, function)

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
        self._foreign.close()
        self._timers, self._foreign = _Timers("timers"), _Timers("drivers' timers")  # the clock may be opened again
        for thread in self._aside:
            thread.join(1.0)


class _Timers:
    """One thread that calls functions when their time has come; started by `open`, or with the first of them.

    A timer is set without a lock: the safety thread sets some, and the thread that it would wait for may itself wait for a stop.
    """

    def __init__(self, name: str) -> None:
        self._name = f"pushrod {name}"
        self._added: SimpleQueue[tuple[float, int, Callable[[], object]] | None] = SimpleQueue()
        self._order = itertools.count()
        self._open: set[int] = set()  # those that were neither called nor cancelled
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def open(self) -> None:
        with self._starting:
            if self._thread is None and not self._closed:
                thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                thread.start()  # raises where no thread can be started: the next timer tries again
                self._thread = thread

    def add(self, when: float, function: Callable[[], object]) -> Cancel:
        n = next(self._order)
        self._open.add(n)
        self._added.put((when, n, function))
        if self._thread is None:
            self.open()
        return lambda: self._open.discard(n)

    def _run(self) -> None:
        heap: list[tuple[float, int, Callable[[], object]]] = []
        while True:
            self._take(heap)
            if self._closed:
                return
            if heap and heap[0][0] <= time.monotonic():
                self._call(*heapq.heappop(heap)[1:])

    def _take(self, heap: list[tuple[float, int, Callable[[], object]]]) -> None:
        """Wait for the next timer to be due, or for another one to be set; what is set and cancelled again and again does not fill the memory."""
        try:
            timer = self._added.get(timeout=max(0.0, heap[0][0] - time.monotonic()) if heap else None)
        except Empty:
            return
        if timer is not None:
            heapq.heappush(heap, timer)
        if len(heap) > 2 * len(self._open) + CANCELLED:
            heap[:] = [timer for timer in heap if timer[1] in self._open]
            heapq.heapify(heap)

    def _call(self, n: int, function: Callable[[], object]) -> None:
        if n in self._open:
            self._open.discard(n)
            try:
                function()
            except BaseException:  # SystemExit too: one timer's error does not end the others
                with suppress(BaseException):  # nor does a log handler that raises
                    log.exception("a timer failed")

    def close(self) -> None:
        self._closed = True
        self._added.put(None)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(1.0)  # a driver's timer that hangs keeps its daemon thread


class SteppedClock(Clock):
    """Time that jumps from one thing to do to the next. Integer nanoseconds, so that sums are exact.

    Under asyncio it is driven by its event loop (`loop_factory`); without one, by `advance`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ns = 0
        self.heap: list[tuple[int, int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._open: set[int] = set()  # those that were neither called nor cancelled

    def now(self) -> float:
        return self.ns * 1e-9

    def wall(self) -> float:
        return self.ns * 1e-9

    def at(self, ns: int, function: Callable[[], object], rank: int = 1) -> Cancel:
        n = next(self._order)

        def call() -> None:
            if n in self._open:
                self._open.discard(n)
                function()

        self._open.add(n)
        heapq.heappush(self.heap, (ns, rank, n, call))
        return lambda: self._cancel(n)

    def _cancel(self, n: int) -> None:
        self._open.discard(n)
        if len(self.heap) > 2 * len(self._open) + CANCELLED:
            self.heap[:] = [timer for timer in self.heap if timer[2] in self._open]
            heapq.heapify(self.heap)

    def every(self, period: float, tick: Callable[[int], None], name: str = "loop", first: int = 0, rank: int = 1) -> Cadence:
        return StepCadence(self, round(period * 1e9), tick, name, first, rank)

    def later(self, delay: float, function: Callable[[], object]) -> Cancel:
        return self.at(self.ns + round(float(delay) * 1e9), function)

    call_later = later

    def aside(self, function: Callable[[], object], name: str) -> None:
        self.at(self.ns, function)

    def pop(self) -> None:
        """Jump to the next thing to do and do it."""
        ns, _, _, function = heapq.heappop(self.heap)
        self.ns = max(self.ns, ns)
        function()

    def advance(self, seconds: float) -> None:
        """Do everything that falls due within so many seconds."""
        end = self.ns + round(float(seconds) * 1e9)
        while self.heap and self.heap[0][0] <= end:
            self.pop()
        self.ns = end

    def loop_factory(self) -> Any:
        from pushrod.runtime.stepped_loop import SteppedLoop

        return SteppedLoop(self)

    def end(self) -> None:
        self.heap.clear()
        self._open.clear()


def running_clock() -> SteppedClock | None:
    """The stepped clock that runs the present coroutine; None where real time does."""
    try:
        return getattr(asyncio.get_running_loop(), "stepped", None)
    except RuntimeError:
        return None
