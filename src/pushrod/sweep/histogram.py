"""How a number is spread over all runs: counts in bins, so that a million runs draw like a thousand.

Where a few runs lie far out the bins cover the rest, and the first and the last one hold what is beyond them. Numbers of few values (a choice, a
flag, the points of a grid) have a bin for each.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BINS = 48
FEW = 24  # values that have a bin each
EACH = 4  # runs at least that a value has on the average: else they only are few because the runs are
FAR = 3.0  # times as wide as all but one in a thousand: then the rest is drawn by itself
QUANTILES = (0.001, 0.05, 0.5, 0.95, 0.999)


class Spread(NamedTuple):
    """Of what is finite; NaN where nothing is."""

    n: int
    mean: float
    sd: float
    least: float
    most: float
    quantiles: tuple[float, ...]  # QUANTILES
    never: int  # infinite: what was waited for did not come
    unknown: int  # no number


class Bins(NamedTuple):
    """`values`: the few values there are, each a bin. Else `edges`, one more than bins; `beyond`: how many the first and the last hold beyond."""

    edges: Array
    values: Array
    beyond: tuple[int, int]

    @property
    def n(self) -> int:
        return len(self.values) or len(self.edges) - 1

    def of(self, y: Array) -> NDArray[np.int64]:
        """The bin of each; -1 for what is not finite."""
        there = np.isfinite(y)
        if len(self.values):
            at = np.searchsorted(self.values, y)
        else:
            lo, hi = self.edges[0], self.edges[-1]
            with np.errstate(invalid="ignore"):
                at = np.floor((np.where(there, y, lo) - lo) / (hi - lo) * self.n).astype(np.int64)
        return np.where(there, np.clip(at, 0, self.n - 1), -1)


def spread(y: Array) -> Spread:
    finite = y[np.isfinite(y)]
    unknown = int(np.isnan(y).sum())
    never = len(y) - len(finite) - unknown
    if not len(finite):
        nan = float("nan")
        return Spread(0, nan, nan, nan, nan, (nan,) * len(QUANTILES), never, unknown)
    q = tuple(float(v) for v in np.quantile(finite, QUANTILES))
    sd = float(finite.std(ddof=1)) if len(finite) > 1 else 0.0
    return Spread(len(finite), float(finite.mean()), sd, float(finite.min()), float(finite.max()), q, never, unknown)


def bins(y: Array, told: Spread, limits: tuple[float, ...] = ()) -> Bins:
    """`limits` lie within the bins if they are near."""
    if told.n == 0:
        return Bins(np.array([0.0, 1.0]), np.empty(0), (0, 0))
    few = few_values(y)
    if len(few) and EACH * len(few) <= told.n:
        return Bins(np.empty(0), few, (0, 0))
    a, b = told.quantiles[0], told.quantiles[-1]
    lo, hi = (told.least, told.most) if told.most - told.least <= FAR * (b - a) else (a - 0.5 * (b - a), b + 0.5 * (b - a))
    lo, hi = max(lo, told.least), min(hi, told.most)
    for limit in limits:
        if lo - 0.5 * (hi - lo) < limit < hi + 0.5 * (hi - lo):
            lo, hi = min(lo, limit), max(hi, limit)
    edges = np.linspace(lo, hi, max(8, min(BINS, told.n // 4)) + 1)
    return Bins(edges, np.empty(0), (int(np.sum(y < lo) - np.sum(y == -np.inf)), int(np.sum(y > hi) - np.sum(y == np.inf))))


def few_values(y: Array, few: int = FEW) -> Array:
    """All values of y if they are few, else none: looked up in a part first, since to sort a million costs more than all the rest."""
    if len(np.unique(y[: 8 * few])) > few:
        return np.empty(0)
    values = np.unique(y)
    values = values[np.isfinite(values)]
    return values if len(values) <= few else np.empty(0)
