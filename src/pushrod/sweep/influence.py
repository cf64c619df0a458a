"""Which parameters matter: how a number found in each run goes with what was drawn for it, from the runs there are.

    rho = correlation of the ranks (Spearman): does it rise or fall with the parameter, on any scale
    S   = Var(E[y | x]) / Var(y): the first-order Sobol index, the share of the variance that x explains alone, whichever way it goes

    S   = (SSB - (M - 1) SSW / (n - M)) / SST        of n runs in M classes of x

SSB, SSW, SST   sums of squares between the classes, within them, and in all;  M classes of as many runs each, or one for each of few values

What chance puts between the classes is taken off again, so that S of a parameter without influence is 0 on the average and may come out below. What a
class is wide is lost: 1/M^2 of S where y is straight in x. The other indices (interactions, total) need a design of their own; what all S together
leave is interactions, noise, and what follows no parameter. Where parameters are drawn together S and rho count what goes with them, too.

Errors are those of a jackknife over blocks of runs: each block is left out once, and what that changes tells how much chance does.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.histogram import FEW, few_values

Array = NDArray[np.float64]
MOST = 100  # classes
PER_CLASS = 40  # runs in each at least
BLOCKS = 20  # of the jackknife
T = 2.093  # 95 % of Student's t with one degree of freedom less than blocks
NAN = float("nan")


class Influence(NamedTuple):
    """Of one parameter on one number. NaN where nothing can be told: too few runs, or all alike."""

    rho: float
    rho_error: float  # half the 95 % interval
    S: float
    S_error: float

    @property
    def is_seen(self) -> bool:
        return abs(self.rho) > self.rho_error or self.S_error < self.S

    @property
    def weight(self) -> float:
        """How much it matters, to put parameters in order."""
        return max((v for v in (self.S, self.rho * self.rho) if np.isfinite(v)), default=0.0)


class Ranked(NamedTuple):
    """What was drawn for a parameter: its ranks about their middle, and where each run is counted: its class, and in it its block of runs."""

    ranks: Array
    cell: NDArray[np.int64]
    classes: int


def ranked(x: Array) -> Ranked:
    from scipy.stats import rankdata

    n = len(x)
    r = rankdata(x)
    block = _blocks(n)
    M = max(2, min(MOST, n // PER_CLASS))
    values = few_values(x, max(M, FEW))
    if len(values):
        return Ranked(r - r.mean(), np.searchsorted(values, x) * BLOCKS + block, len(values))
    return Ranked(r - r.mean(), np.minimum(((r - 0.5) * M / n).astype(np.int64), M - 1) * BLOCKS + block, M)


def influences(drawn: Sequence[Ranked], y: Array, is_sample: bool = True) -> list[Influence]:
    """Of every parameter on y. A run in which y never came (infinite) has the last rank, and no part in S. A grid is no sample: there is no error."""
    from scipy.stats import rankdata

    known = ~np.isnan(y)
    n = int(known.sum())
    if (n < 2 * BLOCKS and is_sample) or n < 2:
        return [Influence(NAN, NAN, NAN, NAN)] * len(drawn)
    ry = rankdata(y) if n == len(y) else rankdata(y, nan_policy="omit")
    ry = np.where(known, ry - np.nanmean(ry), 0.0)
    return [Influence(*_rho(x.ranks if n == len(y) else x.ranks * known, ry, is_sample), *_first_order(x, y, is_sample)) for x in drawn]


def _rho(rx: Array, ry: Array, is_sample: bool) -> tuple[float, float]:
    starts = np.searchsorted(_blocks(len(rx)), np.arange(BLOCKS)) if is_sample else np.zeros(1, np.int64)
    sums = [np.add.reduceat(v, starts) for v in (rx * ry, rx * rx, ry * ry)]
    whole = [float(each.sum()) for each in sums]
    if not whole[1] * whole[2] > 0.0:
        return NAN, NAN
    left_out = [all_of - each for all_of, each in zip(whole, sums, strict=True)]
    return _ratio(*whole), _error(left_out[0] / np.sqrt(left_out[1] * left_out[2])) if is_sample else 0.0


def _ratio(xy: float, xx: float, yy: float) -> float:
    return float(np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0))


def _blocks(n: int) -> NDArray[np.int64]:
    """The block of each run; neighbours together, since the runs of one sample are no two chances."""
    return np.arange(n) * BLOCKS // max(n, 1)


def _error(left_out: Array) -> float:
    return float(T * np.sqrt((BLOCKS - 1) / BLOCKS * np.sum((left_out - left_out.mean()) ** 2)))


def _first_order(x: Ranked, y: Array, is_sample: bool) -> tuple[float, float]:
    finite = np.isfinite(y)
    cell = x.cell
    if not finite.all():
        y, cell = y[finite], cell[finite]
    if x.classes < 2 or len(y) < (2 * PER_CLASS if is_sample else 2):
        return NAN, NAN
    v = y - y.mean()  # what is far from 0 loses no digits in its squares
    sums = [np.bincount(cell, weights=w, minlength=x.classes * BLOCKS).reshape(x.classes, BLOCKS) for w in (None, v, v * v)]
    whole = [each.sum(axis=1) for each in sums]
    if not is_sample:
        return _share(whole[0], whole[1], whole[2], by_chance=False), 0.0
    left_out = np.array([_share(*(all_of - each[:, b] for all_of, each in zip(whole, sums, strict=True))) for b in range(BLOCKS)])
    return _share(*whole), _error(left_out)


def _share(n: Array, total: Array, squares: Array, by_chance: bool = True) -> float:
    """S, of the runs, the sum and the sum of squares in each class; what chance puts between the classes is taken off, unless there is none."""
    there = n > 0
    n, total = n[there], total[there]
    N, M = float(n.sum()), len(n)
    mean = float(total.sum()) / N
    SST = float(squares.sum()) - N * mean * mean
    SSB = float(np.sum(total * total / n)) - N * mean * mean
    if 1e-12 * float(squares.sum()) >= SST or (by_chance and N <= M):
        return NAN
    return (SSB - (M - 1) * (SST - SSB) / (N - M)) / SST if by_chance else SSB / SST
