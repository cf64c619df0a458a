"""Total Sobol indices from a Saltelli design: the share of the variance that a factor takes part in, alone or with others (Jansen, 1999).

    ST_f = sum (y_A - y_ABf)^2 / (2 N Var(y))        over N base points;  Var(y) from the rows A and B

The interval is Student's t with the variance s^2 of a bootstrap over the R replicates of the design, R / (R - 1) times that of the resampled values.
Sums of squares are skewed: an estimate that is too low comes with an s that is too low. Half the interval is therefore the upper arm of Efron's
accelerated interval, which exceeds t s where replicates are small:

    t s + max(a, 0) (2 t^2 + 1) s        a = sum d_r^3 / (6 (sum d_r^2)^(3/2)),   d_r = mean of the jackknife values less ST without replicate r
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.influence import NAN, half_width
from pushrod.sweep.saltelli import MIXED, A, B

Array = NDArray[np.float64]
RESAMPLED = 2000  # times


def totals(sample: NDArray[np.int64], y: Sequence[Array], rows: int, replicates: int) -> list[tuple[float, float]]:
    """Return ST and half its interval for each factor. `y` by scenario, each of the samples of these numbers, of which `rows` make a base point.

    Base points of which a row is missing are left out, and pairs that are not finite.
    """
    base, row = np.divmod(sample, rows)
    points, place = np.unique(base, return_inverse=True)
    replicate = points % replicates
    R = replicates
    resampled = np.random.default_rng(0).multinomial(R, np.full(R, 1.0 / R), RESAMPLED)
    weights = np.vstack([np.ones(R), 1.0 - np.eye(R), resampled])  # all replicates, each left out, resampled
    numerator, variance = np.zeros((rows - MIXED, len(weights))), np.zeros(len(weights))
    for values in y:
        Y = np.full((len(points), rows), np.nan)
        Y[place, row] = values
        of = np.isfinite(Y[:, (A, B)]).all(axis=1)
        if not of.any():
            continue
        v = Y - Y[of][:, (A, B)].mean()
        n, total, squares = (np.bincount(replicate[of], weights=w, minlength=replicates) for w in (None, *_sums(v[of][:, (A, B)])))
        n = weights @ (2.0 * n)
        variance += (weights @ squares - (weights @ total) ** 2 / np.maximum(n, 1.0)) / np.maximum(n - 1.0, 1.0)
        for f in range(rows - MIXED):
            difference = v[:, A] - v[:, MIXED + f]
            there = np.isfinite(difference)
            d2, pairs = (np.bincount(replicate[there], weights=w, minlength=replicates) for w in (difference[there] ** 2, None))
            numerator[f] += weights @ d2 / np.maximum(2.0 * (weights @ pairs), 1.0)
    if not variance[0] > 0.0 or replicates < 2:
        return [(NAN, NAN)] * (rows - MIXED)
    with np.errstate(invalid="ignore", divide="ignore"):
        ST = numerator / variance
    spread = np.var(ST[:, 1 + R :], axis=1) * R / (R - 1)
    return [(float(one[0]), _half_width(float(s), one[1 : 1 + R])) for one, s in zip(ST, spread, strict=True)]


def _half_width(variance: float, left_out: Array) -> float:
    """Return half the interval from the variance of the bootstrap and the values with each replicate left out."""
    d = left_out.mean() - left_out
    squares = float(d @ d) ** 1.5
    acceleration = max(float(np.sum(d**3)) / (6.0 * squares), 0.0) if squares > 0.0 else 0.0
    t = half_width(1.0, len(left_out) - 1.0)
    return float((t + acceleration * (2.0 * t * t + 1.0)) * np.sqrt(variance))


def _sums(v: Array) -> tuple[Array, Array]:
    return v.sum(axis=1), (v * v).sum(axis=1)
