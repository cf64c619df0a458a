"""The share of samples that pass, with a 95 % interval that knows the design.

Independent samples: the interval of Clopper and Pearson.

    lo = B^-1(a/2; k, n - k + 1)        hi = B^-1(1 - a/2; k + 1, n - k)        a = 1 - LEVEL

k   of n samples passed;  B^-1 the quantile of the beta distribution;  lo = 0 where none passed, hi = 1 where all did

It contains the true share in at least 95 of 100 studies, however rare a failure is.

Designs that spread samples evenly: R independent replicates, of which number r has k_r of n_r.

    p = k / n        v = R / (R - 1) sum (k_r - p n_r)^2 / n^2        n' = p (1 - p) / v (z / t)^2

v    variance of p, from what the replicates differ by;  z, t   97.5 % quantiles of the normal and of Student's t with R - 1 degrees of freedom
n'   independent samples that would tell as much (Korn and Graubard, 1998): k' = p n' of n' go into the interval above

Where none or all passed the replicates cannot differ, and n' is the number of independent points. The interval reaches at least 3 / n to either side,
since replicates that all agree may all miss what one more sample in n would show.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
LEVEL = 0.95
UNSEEN = 3.0  # samples: -ln 0.05


class Share(NamedTuple):
    passed: int
    of: int
    lo: float
    hi: float

    @property
    def value(self) -> float:
        return self.passed / self.of if self.of else float("nan")


def share(passed: Counts, of: Counts, rows: int = 1) -> Share:
    """Return the share of samples of which so many passed in each replicate; one replicate: of independent samples. `rows`: see `interval`."""
    lo, hi = interval(passed[:, None], of[:, None], rows)
    return Share(int(passed.sum()), int(of.sum()), float(lo[0]), float(hi[0]))


def interval(k: Counts, n: Counts, rows: int = 1) -> tuple[Array, Array]:
    """Return the ends of many intervals at once, of counts [replicate, share]. Of no samples nothing is known: 0 to 1.

    `rows`: samples that have values in common, so that they may all pass or fail together.
    """
    K, N = k.sum(axis=0), n.sum(axis=0)
    if len(k) == 1:
        return clopper_pearson(K, N)
    from scipy.special import ndtri, stdtrit

    R = len(k)
    a = 1.0 - LEVEL
    p = K / np.maximum(N, 1)
    v = R / (R - 1) * np.sum((k - p * n) ** 2, axis=0) / np.maximum(N, 1) ** 2
    mixed = (K > 0) & (K < N)
    worth = (ndtri(1.0 - 0.5 * a) / stdtrit(R - 1, 1.0 - 0.5 * a)) ** 2
    independent = np.where(mixed & (v > 0.0), p * (1.0 - p) / np.where(v > 0.0, v, 1.0) * worth, N / rows)
    lo, hi = clopper_pearson(independent * p, independent)
    agreed = mixed & (v == 0.0)
    lo, hi = np.where(agreed, p, lo), np.where(agreed, p, hi)
    least = np.where(mixed, UNSEEN * rows / np.maximum(N, 1), 0.0)
    return np.maximum(np.minimum(lo, p - least), 0.0), np.minimum(np.maximum(hi, p + least), 1.0)


def clopper_pearson(k: Array | Counts, n: Array | Counts) -> tuple[Array, Array]:
    """Return the ends of the intervals of k out of n independent samples, which need not be whole numbers."""
    from scipy.special import betaincinv

    a = 1.0 - LEVEL
    some, all_of = k > 0, k >= n
    lo = np.where(some, betaincinv(np.where(some, k, 1), n - k + 1, 0.5 * a), 0.0)
    hi = np.where(all_of, 1.0, betaincinv(k + 1, np.where(all_of, 1, n - k), 1.0 - 0.5 * a))
    return lo, hi
