"""Whether what a model leaves unexplained is noise: autocorrelation, and the test of Ljung and Box.

r_k = sum e_i e_(i+k) / sum e_i2        Q = n (n + 2) sum_k r_k2 / (n - k)  is chi-squared with as many degrees of freedom as lags, if e is white
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LAGS = 20  # that are tested
SHOWN = 60  # that are drawn
DOUBT = 1e-3  # probability below which residuals are not taken for white


class Whiteness(NamedTuple):
    """`r[k]` is the autocorrelation at lag k, r[0] = 1; `p` the probability of something as coloured if the residuals were white."""

    r: Array
    p: float
    n: int

    @property
    def white(self) -> bool:
        return self.p >= DOUBT

    @property
    def bound(self) -> float:
        """Within which 95 of 100 autocorrelations of white noise are."""
        return float(1.96 / np.sqrt(self.n)) if self.n else float("inf")


def whiteness(e: Array) -> Whiteness:
    from scipy.stats import chi2

    n = len(e)
    if n < 4 or not np.any(e):
        return Whiteness(np.ones(1), 1.0, n)
    r = autocorrelation(e, min(SHOWN, n - 2))
    k = np.arange(1, min(LAGS, len(r) - 1) + 1)
    q = n * (n + 2.0) * float(np.sum(r[k] ** 2 / (n - k)))
    return Whiteness(r, float(chi2.sf(q, len(k))), n)


def autocorrelation(e: Array, lags: int) -> Array:
    d = e - np.mean(e)
    total = float(d @ d) or 1.0
    return np.array([1.0, *(float(d[k:] @ d[:-k]) / total for k in range(1, lags + 1))])
