"""Least squares from one start, and the loss that it lowers."""

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.problem import Problem

Array = NDArray[np.float64]
ROUGH = 1e-4  # relative change of the loss at which the descent from one of several starts ends; the best of them goes on


def descend(problem: Problem, z: Array, moving: NDArray[np.bool_] | None = None, tolerance: float = 1e-10, most: int = 60) -> tuple[Array, float]:
    """Least squares from there over the free numbers that are `moving`, all if left out; the better of both.

    It ends where the loss changes by less than the share `tolerance`, or after `most` evaluations.
    """
    from scipy.optimize import least_squares

    which = np.ones(len(z), bool) if moving is None else moving
    if not which.any():
        return z, cost_of(problem, problem.residuals(z))

    def whole(x: Array) -> Array:
        full = z.copy()
        full[which] = x
        return full

    done = least_squares(
        lambda x: problem.residuals(whole(x)),
        np.clip(z[which], 1e-9, 1.0 - 1e-9),
        lambda x: problem.jacobian(whole(x))[:, which],
        bounds=(0.0, 1.0),
        loss=problem.loss,
        f_scale=problem.loss_scale,
        method="trf",
        xtol=tolerance,
        ftol=tolerance,
        gtol=min(tolerance, 1e-10),
        max_nfev=most,
    )
    before = cost_of(problem, problem.residuals(z))
    return (whole(done.x), 2.0 * float(done.cost)) if 2.0 * done.cost <= before else (z, before)


def cost_of(problem: Problem, residuals: Array) -> float:
    """Return the sum of rho of the weighted residuals, by the loss of the problem."""
    C = problem.loss_scale
    z = np.abs(residuals) / C
    if problem.loss == "linear":
        return float(np.sum(residuals * residuals))
    if problem.loss == "soft_l1":
        return float(np.sum(2.0 * C * C * (np.sqrt(1.0 + z * z) - 1.0)))
    return float(np.sum(np.where(z <= 1.0, residuals * residuals, C * C * (2.0 * z - 1.0))))
