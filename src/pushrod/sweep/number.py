"""A parameter or a metric over all runs of a study: how it is spread, how many runs are in each bin, and how many of these passed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.report.number import quantity
from pushrod.sweep.histogram import Bins, Spread, bins, spread

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


class Column(NamedTuple):
    """A parameter that was drawn, or a metric: `about` says how, or of what. `names`: of the cases of a choice, which are counted from 0."""

    name: str
    unit: str
    about: str
    names: tuple[str, ...] = ()

    def called(self, value: float) -> str:
        """One of its values, in words."""
        is_case = bool(self.names) and value == int(value) and 0 <= value < len(self.names)
        return self.names[int(value)] if is_case else quantity(value, self.unit)


class Number(NamedTuple):
    """`runs` and `passed` by [replicate, bin]: of a metric runs, in one row; of a parameter samples, in as many rows as its errors are found from."""

    column: Column
    spread: Spread
    bins: Bins
    runs: Counts
    passed: Counts

    @property
    def varies(self) -> bool:
        return self.spread.most > self.spread.least


def number(column: Column, y: Array, passed: NDArray[np.bool_], limits: tuple[float, ...] = (), replicate: Counts | None = None) -> Number:
    """`replicate`: that of each value, where its bins are counted by replicate."""
    told = spread(y)
    where = bins(y, told, limits)
    rows = 1 if replicate is None else int(replicate.max(initial=0)) + 1
    at = where.of(y) + 1 + (0 if replicate is None else replicate * (where.n + 1))  # what is not finite is counted apart
    runs, fine = (np.bincount(some, minlength=rows * (where.n + 1)).reshape(rows, where.n + 1)[:, 1:] for some in (at, at[passed]))
    return Number(column, told, where, runs, fine)
