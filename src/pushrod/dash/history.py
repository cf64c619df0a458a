"""What was seen in the last ten minutes, by channel: rows of numbers with the time of each, bounded, thinned for whoever draws them.

A group is what comes in one message (the outputs of a world, the state of a joint), so its channels share their times.
"""

import math
import threading
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

KEPT = 600.0  # [s]
HZ = 50.0  # at most, of what is kept
POINTS = 1200  # of a line that is drawn
SILENCE = 0.5  # [s] after which what comes again and again was interrupted; or
TIMES = 5.0  # as much longer than it usually takes
SLOWEST = 2.0  # [s] that is taken for usual from two rows alone
SMOOTHING = 0.1

Array = NDArray[np.float64]


class Channel(NamedTuple):
    """`name` is unique over all groups."""

    name: str
    unit: str
    about: str = ""
    words: tuple[str, ...] = ()


class Group:
    """`put` by one thread, read by others. `steady`: it comes by itself, again and again, so that a silence means something; commands do not."""

    def __init__(self, channels: Iterable[Channel], hz: float = HZ, steady: bool = True) -> None:
        self.channels = {channel.name: channel for channel in channels}
        self._column = {name: j for j, name in enumerate(self.channels)}
        self._size = int(KEPT * hz)
        self._gap = 0.9 / hz
        self._t = np.full(self._size, np.nan)
        self._y = np.full((self._size, len(self._column)), np.nan, np.float32)
        self._n = 0  # rows that ever came
        self._steady = steady
        self._usual = math.inf  # [s] between two rows, about
        self._lock = threading.Lock()

    @property
    def n(self) -> int:
        return self._n

    def put(self, t: float, values: Iterable[float]) -> None:
        """What comes sooner after the last than is kept is passed over; so is what is older."""
        with self._lock:
            passed = t - float(self._t[(self._n - 1) % self._size]) if self._n else math.inf
            if passed < self._gap:
                return
            if self._steady and max(SILENCE, TIMES * self._usual) < passed < math.inf:
                self._break()
            elif self._n and not self._broken:
                self._usual = min(passed, SLOWEST) if self._usual == math.inf else self._usual + SMOOTHING * (passed - self._usual)
            i = self._n % self._size
            self._t[i] = t
            self._y[i] = tuple(values)
            self._n += 1

    def interrupt(self) -> None:
        """What comes next does not belong to what came last: a row of nothing lies between, and no line is drawn over it."""
        with self._lock:
            self._break()

    @property
    def _broken(self) -> bool:
        """Whether the last row is one of nothing."""
        return self._n > 0 and bool(np.isnan(self._y[(self._n - 1) % self._size]).all())

    def _break(self) -> None:
        if self._n and not self._broken:
            i = self._n % self._size
            self._t[i] = self._t[(self._n - 1) % self._size] + self._gap
            self._y[i] = np.nan
            self._n += 1

    def last(self, name: str) -> float | None:
        with self._lock:
            if not self._n:
                return None
            value = float(self._y[(self._n - 1) % self._size, self._column[name]])
            return value if math.isfinite(value) else None

    def since(self, n: int, names: Iterable[str]) -> tuple[int, Array, list[Array]]:
        """Rows from number n on, at most as many as are kept: how many there were by now, their times, and a column for each name."""
        with self._lock:
            first = max(n, self._n - self._size, 0)
            rows = np.arange(first, self._n) % self._size
            return self._n, self._t[rows], [self._y[rows, self._column[name]].astype(float) for name in names]

    def between(self, start: float, end: float, name: str, points: int = POINTS) -> tuple[Array, Array]:
        """One channel in a span of time; thinned so that every peak is still there."""
        _, t, (y,) = self.since(0, [name])
        inside = (t >= start) & (t <= end)
        return thinned(t[inside], y[inside], points)


def thinned(t: Array, y: Array, points: int) -> tuple[Array, Array]:
    """The least and the greatest of every stretch, in the order they came, and one row of nothing where there is a gap."""
    if len(t) <= points:
        return t, y
    width = math.ceil(len(t) / (points // 2))
    rest = len(t) % width
    head = len(t) - rest
    blocks = y[:head].reshape(-1, width)
    low = np.where(np.isnan(blocks), np.inf, blocks).argmin(axis=1)
    high = np.where(np.isnan(blocks), -np.inf, blocks).argmax(axis=1)
    base = np.arange(len(blocks)) * width
    hole = np.isnan(blocks)
    holes = (base + hole.argmax(axis=1))[hole.any(axis=1)]
    keep = np.sort(np.concatenate([base + low, base + high, holes, np.arange(head, len(t))]))
    keep = keep[np.insert(np.diff(keep) > 0, 0, True)]
    return t[keep], y[keep]
