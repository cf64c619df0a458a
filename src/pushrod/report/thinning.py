"""Fewer samples to draw, with every peak: of each bin of samples the lowest and the highest are kept, at their own times.

A screen has some two thousand columns; a million samples would look the same and take ten minutes to send.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BINS = 2000  # two samples each


def thin(t: Array, y: Array, bins: int = BINS) -> tuple[Array, Array]:
    """The samples to draw: all of them where they are few. The first and the last are always there, and a gap (nan) stays a gap."""
    n = len(y)
    if n <= 2 * bins:
        return t, y
    keep = kept(y, bins)
    return t[keep], y[keep]


def kept(y: Array, bins: int) -> NDArray[np.intp]:
    """Which samples, in order."""
    n = len(y)
    size = -(-n // bins)
    rows = -(-n // size)
    padded = np.concatenate((y, np.full(rows * size - n, np.nan))).reshape(rows, size)
    gap = np.isnan(padded)
    start = np.arange(rows) * size
    low = start + np.argmin(np.where(gap, np.inf, padded), axis=1)
    high = start + np.argmax(np.where(gap, -np.inf, padded), axis=1)
    hole = (start + np.argmax(gap, axis=1))[gap.any(axis=1)]
    found = np.unique(np.concatenate(([0], low, high, hole, [n - 1])))
    return found[found < n]


def peaks(t: Array, y: Array, bins: int = BINS) -> tuple[Array, Array]:
    """The highest of each bin at the time the bin begins: for curves that are stacked and so must share their times."""
    n = len(y)
    if n <= 2 * bins:
        return t, y
    size = -(-n // bins)
    start = np.arange(0, n, size)
    return t[start], np.fmax.reduceat(y, start)
