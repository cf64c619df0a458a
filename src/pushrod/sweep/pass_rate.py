"""The share of runs that pass, and how sure it is: the interval of Clopper and Pearson.

    lo = B^-1(a/2; k, n - k + 1)        hi = B^-1(1 - a/2; k + 1, n - k)        a = 1 - LEVEL

k   of n runs passed;  B^-1 the quantile of the beta distribution;  lo = 0 where none passed, hi = 1 where all did

It holds the true share in at least 95 of 100 studies, however rare a failure is, if the runs are drawn independently. Those of a Latin hypercube or
of a Sobol sequence are spread more evenly than chance would: there it is wider than it need be. A grid is no sample: its points stand for themselves.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEVEL = 0.95


class Share(NamedTuple):
    passed: int
    of: int
    lo: float
    hi: float

    @property
    def value(self) -> float:
        return self.passed / self.of if self.of else float("nan")


def share(passed: int, of: int) -> Share:
    lo, hi = interval(np.array([passed]), np.array([of]))
    return Share(int(passed), int(of), float(lo[0]), float(hi[0]))


def interval(k: NDArray[np.int64], n: NDArray[np.int64]) -> tuple[Array, Array]:
    """Of many shares at once; of nothing nothing is known: 0 to 1."""
    from scipy.special import betaincinv

    a = 1.0 - LEVEL
    some, all_of = k > 0, k >= n
    lo = np.where(some, betaincinv(np.where(some, k, 1), n - k + 1, 0.5 * a), 0.0)
    hi = np.where(all_of, 1.0, betaincinv(k + 1, np.where(all_of, 1, n - k), 1.0 - 0.5 * a))
    return lo, hi
