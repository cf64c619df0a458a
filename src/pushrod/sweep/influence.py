"""Sensitivity of a metric to each parameter, estimated from the runs there are.

    rho = correlation of the ranks (Spearman): does it rise or fall with the parameter, on any scale
    S   = Var(E[y | x]) / Var(y): the first-order Sobol index, the share of the variance that x explains alone, whichever way it goes

Runs are put into M classes of x. The square of a class mean is estimated from pairs of runs of different replicates of the design, which are
independent of each other whatever the design is, so that neither chance nor an even design puts anything between the classes:

    m2_c = sum over r != s of T_cr T_cs / sum over r != s of n_cr n_cs        E = sum over c of n_c / n m2_c

T_cr, n_cr   sum of y, and number of runs, of replicate r in class c;  m2   the same of all runs as one class
S = (E - m2) / (mean of y^2 - m2), with E = (4 E_M - E_M/2) / 3: what is lost by the width of a class goes with 1 / M^2 where y is smooth in x

Intervals are Student's t with the variance of a jackknife that leaves out each replicate. It counts the noise of the products twice:

    v = jackknife - d,   v >= d / 2        d = 2 sum over r != s of (H_rs - mean of H)^2 / Var(y)^2

H_rs = sum over c of n_c / n e_cr e_cs / D_c;  e_cr = T_cr - n_cr (mean of class c);  D_c   the denominator of m2_c
What is left of the jackknife is as uncertain as all of it: the R - 1 degrees of freedom count by (v / jackknife)^2, at least by 0.8^2.

Where parameters are drawn together S and rho count what goes with them, too.
A sample that runs in several scenarios is one chance, not several: sums are made in each scenario by itself and then put together, so that S is the
share of the variance within the scenarios.

Total indices need a design of their own: see `total`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.design import LEAST
from pushrod.sweep.histogram import FEW, few_values

Array = NDArray[np.float64]
MOST = 1000  # classes
PER_CLASS = 10  # runs in each at least
NAN = float("nan")


class Influence(NamedTuple):
    """Of one parameter on one number. NaN where nothing can be told: too few runs, or all alike; ST where the design has no rows for it."""

    rho: float
    rho_error: float  # half the 95 % interval
    S: float
    S_error: float
    ST: float = NAN  # total index: with all interactions
    ST_error: float = NAN

    @property
    def is_seen(self) -> bool:
        return abs(self.rho) > self.rho_error or self.S_error < self.S or self.ST_error < self.ST

    @property
    def weight(self) -> float:
        """How much it matters, to put parameters in order."""
        return max((v for v in (self.S, self.rho * self.rho, self.ST) if np.isfinite(v)), default=0.0)


class Ranked(NamedTuple):
    """A parameter in the runs of one scenario: ranks about their middle, class and replicate of each run; `pooled`: classes are ranges of values.

    `repeats`: runs that share a value and most other parameters, as rows of a Saltelli design do: so many runs count as one independent run.
    """

    ranks: Array
    of_class: NDArray[np.int64]
    classes: int
    pooled: bool
    replicate: NDArray[np.int64]
    replicates: int
    repeats: float = 1.0


def ranked(x: Array, replicate: NDArray[np.int64], replicates: int, repeats: float = 1.0) -> Ranked:
    n, r = len(x) / repeats, _ranks(x)
    M = max(2, min(MOST, int(n / PER_CLASS), int(4.0 * np.sqrt(n))) // 2 * 2)
    values = few_values(x, max(M, FEW))
    if len(values):
        return Ranked(r, np.searchsorted(values, x), len(values), False, replicate, replicates, repeats)
    share = (r - r.min()) / max(np.ptp(r), 1.0)
    return Ranked(r, np.minimum((share * M).astype(np.int64), M - 1), M, True, replicate, replicates, repeats)


def _ranks(y: Array) -> Array:
    """About their middle; 0 for what is no number."""
    from scipy.stats import rankdata

    known = ~np.isnan(y)
    if known.all():
        r = rankdata(y)
        return np.asarray(r - r.mean())
    r = rankdata(y, nan_policy="omit")
    return np.where(known, r - np.nanmean(r), 0.0) if known.any() else np.zeros(len(y))


def influences(drawn: Sequence[Sequence[Ranked]], y: Sequence[Array], is_sample: bool = True) -> list[Influence]:
    """Of every parameter on y, each given by scenario. A run in which y never came (infinite) has the last rank, and no part in S.

    A grid is no sample: there is no error.
    """
    if not drawn:
        return []
    few = is_sample and drawn[0][0].replicates < 2
    if few or sum(int((~np.isnan(v)).sum()) for v in y) < (LEAST if is_sample else 2):
        return [Influence(NAN, NAN, NAN, NAN)] * len(drawn)
    ranks = [_ranks(v) for v in y]
    return [Influence(*_rho(x, ranks, y, is_sample), *(_first_order(x, y) if is_sample else _first_order_of_grid(x, y))) for x in drawn]


def _rho(x: Sequence[Ranked], ranks: Sequence[Array], y: Sequence[Array], is_sample: bool) -> tuple[float, float]:
    R = x[0].replicates
    sums = np.zeros((3, R))
    for one, ry, v in zip(x, ranks, y, strict=True):
        rx = np.where(np.isnan(v), 0.0, one.ranks)
        sums += [np.bincount(one.replicate, weights=w, minlength=R) for w in (rx * ry, rx * rx, ry * ry)]
    whole = sums.sum(axis=1)
    if not whole[1] * whole[2] > 0.0:
        return NAN, NAN
    rho = float(np.clip(whole[0] / np.sqrt(whole[1] * whole[2]), -1.0, 1.0))
    if not is_sample:
        return rho, 0.0
    xy, xx, yy = whole[:, None] - sums
    return rho, half_width(_jackknife(xy / np.sqrt(xx * yy)), R - 1.0)


class Table(NamedTuple):
    """Of the finite runs of a scenario: number and sum of y [class, replicate], sum of y^2 [replicate]. y is taken about its mean."""

    n: Array
    total: Array
    squares: Array


def _table(x: Ranked, y: Array, least: int) -> Table | None:
    """Return None where runs are too few, or all alike."""
    finite = np.isfinite(y)
    if x.classes < 2 or int(finite.sum()) < least:
        return None
    v, R = y[finite] - y[finite].mean(), x.replicates  # what is far from 0 loses no digits in its squares
    if not float(v @ v) > 1e-24 * float(y[finite] @ y[finite]):
        return None
    replicate = x.replicate[finite]
    cell = x.of_class[finite] * R + replicate
    n, total = (np.bincount(cell, weights=w, minlength=x.classes * R).reshape(x.classes, R).astype(float) for w in (None, v))
    return Table(n, total, np.bincount(replicate, weights=v * v, minlength=R).astype(float))


def _halved(one: Table) -> Table:
    """Return the table of half as many classes."""
    n, total = (a.reshape(len(a) // 2, 2, -1).sum(axis=1) for a in (one.n, one.total))
    return Table(n, total, one.squares)


def _first_order(x: Sequence[Ranked], y: Sequence[Array]) -> tuple[float, float]:
    tables = [table for one, v in zip(x, y, strict=True) if (table := _table(one, v, LEAST)) is not None]
    if not tables:
        return NAN, NAN
    R = x[0].replicates
    kept = np.vstack([np.ones(R), 1.0 - np.eye(R)]).T  # [replicate, all of them and each left out]
    explained, in_all = np.zeros(R + 1), np.zeros(R + 1)
    for one in tables:
        n = one.n.sum(axis=0) @ kept
        m2 = _mean_square(one.n.sum(axis=0)[None], one.total.sum(axis=0)[None], kept)
        E = _mean_square(one.n, one.total, kept)
        if x[0].pooled:
            half = _halved(one)
            E = (4.0 * E - _mean_square(half.n, half.total, kept)) / 3.0
        explained += n * (E - m2)
        in_all += one.squares @ kept - n * m2
    S = explained / in_all
    errors = _products(tables, x[0].repeats)
    if x[0].pooled:
        errors = (4.0 * errors - _products([_halved(one) for one in tables], x[0].repeats)) / 3.0
    apart = ~np.eye(R, dtype=bool)
    d = 2.0 * float(np.sum((errors[apart] - errors[apart].mean()) ** 2)) / float(in_all[0]) ** 2
    jackknife = _jackknife(S[1:])
    v = max(jackknife - d, 0.5 * d)
    return float(S[0]), half_width(v, (R - 1) * min(max(v / jackknife, 0.8), 1.0) ** 2 if jackknife > 0.0 else R - 1.0)


def _mean_square(n: Array, total: Array, kept: Array) -> Array:
    """Return E of the replicates that are kept."""
    N, T = n @ kept, total @ kept
    pairs = N * N - (n * n) @ kept
    seen = pairs > 0.0
    squares = (T * T - (total * total) @ kept) / np.where(seen, pairs, 1.0)
    N = np.where(seen, N, 0.0)
    found: Array = np.sum(N * squares, axis=0) / np.maximum(np.sum(N, axis=0), 1.0)
    return found


def _products(tables: Sequence[Table], repeats: float) -> Array:
    """Return what the errors of each two replicates [r, s] put into the sum of n_c m2_c.

    Errors about a class mean are too small, because it contains them: by the factor 1 - 1/m in the square where it is the mean of m independent runs.
    """
    found = np.zeros([tables[0].n.shape[1]] * 2)
    for n, total, _ in tables:
        N = n.sum(axis=1, keepdims=True)
        pairs = N * N - (n * n).sum(axis=1, keepdims=True)
        m = N / repeats
        e = (total - n * total.sum(axis=1, keepdims=True) / np.maximum(N, 1.0)) * np.sqrt(m / np.maximum(m - 1.0, 1.0))
        found += (e * np.where(pairs > 0.0, N / np.maximum(pairs, 1.0), 0.0)).T @ e
    return found


def _first_order_of_grid(x: Sequence[Ranked], y: Sequence[Array]) -> tuple[float, float]:
    """Return the share of the sum of squares that is between classes, which a grid has without error."""
    between = in_all = 0.0
    for one, v in zip(x, y, strict=True):
        table = _table(one, v, 2)
        if table is not None:
            n, total = table.n.sum(axis=1), table.total.sum(axis=1)
            between += float(np.sum(total * total / np.maximum(n, 1.0)))
            in_all += float(table.squares.sum())
    return (between / in_all, 0.0) if in_all > 0.0 else (NAN, NAN)


def _jackknife(left_out: Array) -> float:
    """Return the variance of a number from its values with each replicate left out."""
    R = len(left_out)
    return float((R - 1) / R * np.sum((left_out - left_out.mean()) ** 2))


def half_width(variance: float, freedom: float) -> float:
    """Return half the 95 % interval of a number whose variance was found with so many degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975) * np.sqrt(variance))
