"""A number over two parameters, as a map: the runs in each cell, and the mean of the number there."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.histogram import Bins
from pushrod.sweep.number import Array, Column, Counts, Number

CELLS = 24  # each way


class Map(NamedTuple):
    """Rows upwards along y; `metric` none: the share of samples that passed, and `runs` counts samples. NaN where no run is."""

    x: Number
    y: Number
    metric: Column | None
    runs: Counts
    mean: Array


def maps(
    parameters: Sequence[Number], metrics: Sequence[Column], values: Callable[[str], Array], passed: NDArray[np.bool_], judged: bool
) -> list[Map]:
    """The share that passed over the two that matter most; where no more than two were varied, every metric over them, too.

    `passed`: which samples did. `values` gives those of all runs, as many for each sample, one sample after the other.
    """
    if len(parameters) < 2:
        return []
    x, y = _coarse(parameters[0]), _coarse(parameters[1])
    across, up = x.bins.of(values(x.column.name)), y.bins.of(values(y.column.name))
    cell = np.where((across >= 0) & (up >= 0), up * x.bins.n + across, -1)
    made = []
    if judged and 0 < int(passed.sum()) < len(passed):
        made.append(_map(x, y, None, cell[:: len(cell) // len(passed)], passed.astype(np.float64)))
    if len(parameters) == 2:
        made += [_map(x, y, one, cell, values(one.name)) for one in metrics]
    return made


def _coarse(one: Number) -> Number:
    """The same range in fewer bins."""
    if one.bins.n <= CELLS or len(one.bins.values):
        return one
    edges = np.linspace(one.bins.edges[0], one.bins.edges[-1], CELLS + 1)
    return one._replace(bins=Bins(edges, one.bins.values, one.bins.beyond))


def _map(x: Number, y: Number, column: Column | None, cell: Counts, values: Array) -> Map:
    there = (cell >= 0) & np.isfinite(values)
    shape = (y.bins.n, x.bins.n)
    count = np.bincount(cell[there], minlength=shape[0] * shape[1])
    total = np.bincount(cell[there], weights=values[there], minlength=shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        mean = np.where(count > 0, total / count, np.nan)
    return Map(x, y, column, count.reshape(shape), mean.reshape(shape))
