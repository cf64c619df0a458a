"""Sets that can be attained, from runs that go once round them: two signals over each other, for each pair of values of two parameters.

A scenario leads a request round outside of all that can be done (`boat_envelope`); what is achieved then goes round the set itself. The runs are
those of the study, made once more with their signals kept, so that nothing is worked out a second time.

    area = |sum over the way of (x_i y_i+1 - x_i+1 y_i)| / 2
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.study_attained import Attained

Array = NDArray[np.float64]
POINTS = 400  # of a way
MOST = 7  # values of a parameter, each way


class Way(NamedTuple):
    """Of one pair of values: the way, and the area within as a share of the largest of all."""

    x: Array
    y: Array
    share: float


class Sets(NamedTuple):
    """`cells[row][column]`; None where no run was made."""

    wanted: Attained
    columns: Array
    rows: Array
    cells: list[list[Way | None]]


Signals = Callable[[int], tuple[Array, Mapping[str, Array]]]  # of a run by its index: times and columns


def sets(wanted: Attained, index: NDArray[np.int64], column: Array, row: Array, signals: Signals) -> Sets:
    """`column` and `row`: what was drawn for each run. Of several runs of a pair the first is taken, of many values a few."""
    columns, rows = _few(column), _few(row)
    ways: list[list[tuple[Array, Array] | None]] = []
    for r in rows:
        line: list[tuple[Array, Array] | None] = []
        for c in columns:
            there = np.flatnonzero((column == c) & (row == r))
            line.append(None if not len(there) else _way(wanted, *signals(int(index[there[0]]))))
        ways.append(line)
    largest = max((area(*way) for line in ways for way in line if way is not None), default=0.0) or 1.0
    cells = [[None if way is None else Way(*way, area(*way) / largest) for way in line] for line in ways]
    return Sets(wanted, columns, rows, cells)


def area(x: Array, y: Array) -> float:
    return float(0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(np.roll(x, -1), y)))


def _way(wanted: Attained, t: Array, signals: Mapping[str, Array]) -> tuple[Array, Array]:
    keep = np.flatnonzero(t >= wanted.since)
    keep = keep[np.unique(np.linspace(0, len(keep) - 1, POINTS).astype(int))]
    return signals[wanted.across][keep], signals[wanted.up][keep]


def _few(values: Array) -> Array:
    known = np.unique(values)
    return known if len(known) <= MOST else known[np.linspace(0, len(known) - 1, MOST).astype(int)]
