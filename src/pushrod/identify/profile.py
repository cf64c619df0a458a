"""Intervals beside parameters that lie at the end of their range: by profile, not by curvature.

    f(d) = |e + J d|^2                                d: how far from the estimate, within the ranges
    interval of j:  all x with  min over d, d_j = x, of f(d)  <=  min f + q^2 v_j

v_j is the variance of one residual, as the covariance counts it for j (`covariance.py`). A parameter at the end of its range still has an error: it
may be anywhere up to where the data object. Intervals that took it for known there would promise too much of the others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.covariance import LOST

Array = NDArray[np.float64]
HALVINGS = 40
DOUBLINGS = 60


def profile(J: Array, e: Array, z: Array, C: Array, q: float) -> tuple[Array, Array]:
    """Lower and upper ends in z, within 0..1. `C` is the covariance of all columns of J with no regard to ranges, `q` the quantile."""
    size = np.linalg.norm(J, axis=0)
    told = np.flatnonzero((size > 0.0) & np.isfinite(np.diag(C)))
    lo, hi = np.zeros(len(z)), np.ones(len(z))
    if not len(told):
        return lo, hi
    Q, R = np.linalg.qr(J[:, told] / size[told])
    quadratic = _Quadratic(R, Q.T @ e, -z[told] * size[told], (1.0 - z[told]) * size[told])
    H = np.linalg.pinv(R.T @ R, rcond=LOST**2)
    sd = np.sqrt(np.maximum(np.diag(C)[told], 0.0)) * size[told]
    for n, j in enumerate(told):
        # with the other columns free the curvature is 1 / H_nn, so that q sd to the side costs q^2 sd^2 / H_nn
        rise = q * q * sd[n] ** 2 / max(float(H[n, n]), 1e-300)
        lo[j], hi[j] = (z[j] + quadratic.end(n, side, rise, q * sd[n]) / size[j] for side in (-1.0, 1.0))
    return np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)


class _Quadratic:
    """|R d + r|^2 within bounds."""

    def __init__(self, R: Array, r: Array, lower: Array, upper: Array) -> None:
        self.R, self.r, self.lower, self.upper = R, r, np.minimum(lower, -1e-12), np.maximum(upper, 1e-12)
        self.best, self.least = self._minimum(R, r, self.lower, self.upper)

    def _minimum(self, R: Array, r: Array, lower: Array, upper: Array) -> tuple[Array, float]:
        from scipy.optimize import lsq_linear

        if not R.shape[1]:
            return np.zeros(0), float(r @ r)
        d: Any = lsq_linear(R, -r, (lower, upper), method="bvls").x
        left = R @ d + r
        return d, float(left @ left)

    def at(self, n: int, x: float) -> float:
        others = np.arange(self.R.shape[1]) != n
        return self._minimum(self.R[:, others], self.r + self.R[:, n] * x, self.lower[others], self.upper[others])[1]

    def end(self, n: int, side: float, rise: float, step: float) -> float:
        """The outermost x on that side where f has risen by no more than that; the bound if it has not."""
        bound = float(self.upper[n] if side > 0.0 else self.lower[n])
        start = float(self.best[n])
        if side * (bound - start) <= 0.0 or self.at(n, bound) <= self.least + rise:
            return bound
        good, bad = start, bound
        far = max(step, 1e-15)
        for _ in range(DOUBLINGS):
            if far >= abs(bound - start) or self.at(n, start + side * far) > self.least + rise:
                break
            good, far = start + side * far, 2.0 * far
        bad = bound if far >= abs(bound - start) else start + side * far
        for _ in range(HALVINGS):
            middle = 0.5 * (good + bad)
            if self.at(n, middle) <= self.least + rise:
                good = middle
            else:
                bad = middle
            if abs(bad - good) < 1e-4 * max(abs(good - start), 1e-15):
                break
        return good
