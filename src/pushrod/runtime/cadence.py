"""A fixed-rate loop: tick k is due at start + k * period; missed periods are skipped and counted, lateness kept in a histogram of fixed size."""

import ctypes
import os
import platform
import struct
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from pushrod.runtime.apart import apart

if TYPE_CHECKING:
    from pushrod.runtime.clock import SteppedClock

PATIENCE = 1.0  # [s] that the end of a loop waits for its last call
SPIN = 110_000  # [ns] spun before a deadline: another thread keeps the interpreter for up to 100 us after a sleep has ended, and takes it after 100
TURN = 100_000  # [ns] of the processor at a time
SCHED_ATTR = struct.Struct("=IIQiIQQQ")  # size, policy, flags, nice, priority, runtime, deadline, period
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}  # the number of the system call, which Python has no name for
READY = 1_000_000  # [ns] until a new thread is there
LATELY = 8  # calls
FINE = 4  # each doubling of lateness has 2^FINE bins, so a share is known to 1/16 of its value
LONGEST = (1 << 36) - 1  # [ns] about a minute: what is later counts as this


class Timing(NamedTuple):
    """How a loop has kept its time so far; seconds.

    worst, p50, p99    how late its calls began
    missed             periods without a call, as the call before took too long, or whose call was skipped
    delay              the longest that the call of a period had to wait, or the one that came instead of it
    longest, call_p99  how long its calls took; 0 on the stepped clock, on which a call takes no time
    """

    name: str
    ticks: int
    missed: int
    worst: float
    p50: float
    p99: float
    delay: float
    longest: float
    call_p99: float


class Histogram:
    """Of times [ns], in bins whose width grows with the time; of fixed size."""

    def __init__(self) -> None:
        self.count = 0
        self.worst = 0
        self.bins = [0] * (_bin(LONGEST) + 1)

    def add(self, ns: int) -> None:
        self.count += 1
        self.worst = max(self.worst, ns)
        self.bins[_bin(ns)] += 1

    def filled(self) -> list[tuple[int, int]]:
        """The bins that hold any: (upper edge [ns], how many)."""
        return [(_edge(j), n) for j, n in enumerate(self.bins) if n]

    def share(self, share: float) -> float:
        """This share of all was no longer than that [s]: the upper edge of its bin."""
        left = share * self.count
        for j, n in enumerate(self.bins):
            left -= n
            if left <= 0.0:
                return min(_edge(j), self.worst) * 1e-9
        return self.worst * 1e-9


class Cadence(ABC):
    """A running loop. `stop` ends it; `timing` says who was late and by how much."""

    def __init__(self, name: str, period: float) -> None:
        self.name = name
        self.period = period  # [s]
        self._period = round(period * 1e9)  # [ns]
        self._start = 0  # [ns of the clock] when tick 0 was due
        self.stopping = False  # it was told to end
        self.missed = 0
        self._skipped = 0
        self.delay = 0
        self.late = Histogram()
        self.calls = Histogram()
        self.usual = 0  # [ns] that a call takes of late

    @abstractmethod
    def stop(self) -> None: ...

    def due(self, now: int) -> int:
        """When its next call is due, at the earliest `now` [ns of the clock]."""
        return now + (self._start - now) % self._period

    def skip(self) -> None:
        """Count the present call as missed: it could not do its work."""
        self.missed += 1
        self._skipped += 1

    @property
    def ticks(self) -> int:
        """Calls that were not skipped."""
        return self.late.count - self._skipped

    @property
    def progress(self) -> int:
        """Calls begun and calls ended: odd inside a call."""
        return self.late.count + self.calls.count

    def timing(self) -> Timing:
        late, calls = self.late, self.calls
        return Timing(
            self.name,
            self.ticks,
            self.missed,
            late.worst * 1e-9,
            late.share(0.5),
            late.share(0.99),
            self.delay * 1e-9,
            calls.worst * 1e-9,
            calls.share(0.99),
        )


def _bin(ns: int) -> int:
    """Up to 2^FINE each nanosecond has its own bin; beyond, the leading FINE + 1 bits and the number of those cut off say which."""
    ns = min(ns, LONGEST)
    cut = max(0, ns.bit_length() - FINE - 1)
    return (cut << FINE) + (ns >> cut)


def _edge(j: int) -> int:
    """The longest time [ns] that falls into a bin."""
    cut = max(0, (j >> FINE) - 1)
    return ((j - (cut << FINE) + 1) << cut) - 1


class ThreadCadence(Cadence):
    """On the wall clock: a thread of its own that sleeps, then spins to the deadline. Begins a moment from now, `apart` from the others."""

    def __init__(self, period: float, tick: Callable[[int], None], name: str, first: int = 0, others: Iterable[Cadence] = ()) -> None:
        super().__init__(name, period)
        self._tick = tick
        self._first = first
        self._start = apart(time.monotonic_ns() + READY, self._period, [(loop._start, loop._period) for loop in others if not loop.stopping])
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"pushrod {name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        _be_punctual()
        mono, period, start, k = time.monotonic_ns, self._period, self._start, self._first
        owed = k  # the first tick that has not had its call
        while not self.stopping:
            deadline = start + k * period
            wait = deadline - SPIN - mono()
            if wait > 0:
                time.sleep(wait * 1e-9)
            while mono() < deadline:
                pass
            if self.stopping:
                return
            began = mono()
            self.late.add(began - deadline)
            self.delay = max(self.delay, began - start - owed * period)
            try:
                self._tick(k)
            except BaseException as e:
                self.error = e
                return
            ended = mono()
            self.calls.add(ended - began)
            self.usual += (min(ended - began, period // 2) - self.usual) // LATELY  # the first call may take a hundred times as long
            following = (ended - start) // period + 1
            self.missed += following - k - 1
            owed, k = k + 1, following

    def stop(self) -> None:
        self.stopping = True
        if self._thread is not threading.current_thread():
            self._thread.join(PATIENCE)


def _be_punctual() -> None:
    """Linux lets the sleeps of a thread run 50 us over, to wake several at once; this thread would rather not. And it asks for short turns on the
    processor, for which it is let in at once when it wakes (Linux 6.12; before, this changes nothing)."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    set_timer_slack = 29
    libc.prctl(set_timer_slack, ctypes.c_ulong(1), 0, 0, 0)
    call = SCHED_SETATTR.get(platform.machine())
    if call is not None and os.sched_getscheduler(0) == os.SCHED_OTHER:  # whoever made it a real-time thread knows better
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        libc.syscall(call, 0, SCHED_ATTR.pack(SCHED_ATTR.size, os.SCHED_OTHER, 0, nice, 0, TURN, 0, 0), 0)


class StepCadence(Cadence):
    """On the stepped clock: called inline, never late."""

    def __init__(self, clock: "SteppedClock", period_ns: int, tick: Callable[[int], None], name: str, first: int = 0, rank: int = 1) -> None:
        super().__init__(name, period_ns * 1e-9)
        self._clock = clock
        self._tick = tick
        self._rank = rank
        self._start = clock.ns
        self._cancel = clock.at(clock.ns + first * period_ns, lambda: self._fire(first), rank)

    def _fire(self, k: int) -> None:
        self._cancel = self._clock.at(self._start + (k + 1) * self._period, lambda: self._fire(k + 1), self._rank)
        self.late.add(0)
        self._tick(k)

    def stop(self) -> None:
        self.stopping = True
        self._cancel()
