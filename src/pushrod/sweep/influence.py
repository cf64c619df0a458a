"""Which parameters matter: how a number found in each run goes with what was drawn for it, from the runs there are.

    rho = correlation of the ranks (Spearman): does it rise or fall with the parameter, on any scale
    S   = Var(E[y | x]) / Var(y): the first-order Sobol index, the share of the variance that x explains alone, whichever way it goes

    S   = (SSB - (M - 1) SSW / (n - M)) / SST        of n runs in M classes of x

SSB, SSW, SST   sums of squares between the classes, within them, and in all;  M classes of as many runs each, or one for each of few values

What chance puts between the classes is taken off again, so that S of a parameter without influence is 0 on the average and may come out below. What a
class is wide is lost: 1/M^2 of S where y is straight in x. The other indices (interactions, total) need a design of their own; what all S together
leave is interactions, noise, and what follows no parameter. Where parameters are drawn together S and rho count what goes with them, too.

A sample that runs in several scenarios is one chance, not several: sums are made in each scenario by itself and then put together, so that S is the
share of the variance within the scenarios. Errors are those of a jackknife over blocks of samples, each left out once in all scenarios.
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
    """What was drawn for a parameter in the runs of one scenario: ranks about their middle, and where each run is counted: class, and block in it."""

    ranks: Array
    cell: NDArray[np.int64]
    classes: int


def ranked(x: Array) -> Ranked:
    n = len(x)
    r, block = _ranks(x), _blocks(n)
    M = max(2, min(MOST, n // PER_CLASS))
    values = few_values(x, max(M, FEW))
    if len(values):
        return Ranked(r, np.searchsorted(values, x) * BLOCKS + block, len(values))
    share = (r - r.min()) / max(np.ptp(r), 1.0)
    return Ranked(r, np.minimum((share * M).astype(np.int64), M - 1) * BLOCKS + block, M)


def _ranks(y: Array) -> Array:
    """About their middle; 0 for what is no number."""
    from scipy.stats import rankdata

    known = ~np.isnan(y)
    if known.all():
        r = rankdata(y)
        return np.asarray(r - r.mean())
    r = rankdata(y, nan_policy="omit")
    return np.where(known, r - np.nanmean(r), 0.0) if known.any() else np.zeros(len(y))


def _blocks(n: int) -> NDArray[np.int64]:
    """The block of each run."""
    return np.arange(n) * BLOCKS // max(n, 1)


def influences(drawn: Sequence[Sequence[Ranked]], y: Sequence[Array], is_sample: bool = True) -> list[Influence]:
    """Of every parameter on y, each given by scenario. A run in which y never came (infinite) has the last rank, and no part in S.

    A grid is no sample: there is no error.
    """
    if sum(int((~np.isnan(v)).sum()) for v in y) < (2 * BLOCKS if is_sample else 2):
        return [Influence(NAN, NAN, NAN, NAN)] * len(drawn)
    ranks = [_ranks(v) for v in y]
    return [Influence(*_rho(x, ranks, y, is_sample), *_first_order(x, y, is_sample)) for x in drawn]


def _rho(x: Sequence[Ranked], ranks: Sequence[Array], y: Sequence[Array], is_sample: bool) -> tuple[float, float]:
    sums = np.zeros((3, BLOCKS))
    for one, ry, v in zip(x, ranks, y, strict=True):
        rx = np.where(np.isnan(v), 0.0, one.ranks)
        block = one.cell % BLOCKS
        sums += [np.bincount(block, weights=w, minlength=BLOCKS) for w in (rx * ry, rx * rx, ry * ry)]
    whole = sums.sum(axis=1)
    if not whole[1] * whole[2] > 0.0:
        return NAN, NAN
    xy, xx, yy = whole[:, None] - sums
    rho = float(np.clip(whole[0] / np.sqrt(whole[1] * whole[2]), -1.0, 1.0))
    return rho, _error(xy / np.sqrt(xx * yy)) if is_sample else 0.0


def _first_order(x: Sequence[Ranked], y: Sequence[Array], is_sample: bool) -> tuple[float, float]:
    tables = [table for one, v in zip(x, y, strict=True) if (table := _table(one, v, is_sample)) is not None]
    if not tables:
        return NAN, NAN
    whole = _share([table.sum(axis=2) for table in tables], is_sample)
    if not is_sample:
        return whole, 0.0
    return whole, _error(np.array([_share([table.sum(axis=2) - table[:, :, b] for table in tables], True) for b in range(BLOCKS)]))


def _table(x: Ranked, y: Array, is_sample: bool) -> Array | None:
    """Runs, sum and sum of squares [of these, class, block], of the finite ones; None where these are too few."""
    finite = np.isfinite(y)
    cell = x.cell
    if not finite.all():
        y, cell = y[finite], cell[finite]
    if x.classes < 2 or len(y) < (2 * PER_CLASS if is_sample else 2):
        return None
    v = y - y.mean()  # what is far from 0 loses no digits in its squares
    return np.stack([np.bincount(cell, weights=w, minlength=x.classes * BLOCKS).reshape(x.classes, BLOCKS) for w in (None, v, v * v)])


def _share(tables: Sequence[Array], by_chance: bool) -> float:
    """S of all scenarios; what chance puts between the classes is taken off, unless there is none."""
    explained = in_all = squares = 0.0
    for n, total, square in tables:
        N, M = float(n.sum()), int((n > 0).sum())
        mean = float(total.sum()) / max(N, 1.0)
        SST = float(square.sum()) - N * mean * mean
        SSB = float(np.sum(total * total / np.maximum(n, 1.0))) - N * mean * mean
        explained += SSB - (M - 1) * (SST - SSB) / (N - M) if by_chance and N > M else SSB
        in_all += SST
        squares += float(square.sum())
    return explained / in_all if in_all > 1e-12 * squares else NAN


def _error(left_out: Array) -> float:
    return float(T * np.sqrt((BLOCKS - 1) / BLOCKS * np.sum((left_out - left_out.mean()) ** 2)))
