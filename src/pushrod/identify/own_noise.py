"""What the noise of a world does to its estimates, though candidates are compared without it.

    d_b = J^+ (y_b - y)        M = mean of d_b d_b^T        y: outputs without noise, y_b: with it, of instance b;  J as in the covariance

M has the scatter that the noise of the world causes and the mean error that it causes where it acts on something nonlinear (a dead zone, a limit),
which no residual shows.
"""

import numpy as np
from numpy.typing import NDArray

from pushrod.core.model import World
from pushrod.identify.covariance import LOST
from pushrod.identify.problem import Problem

Array = NDArray[np.float64]
RUNS = 48


def noise_runs(problem: Problem, z: Array) -> Array | None:
    """Return y_b - y, weighted like residuals, [value, b]; None for a world without noise."""
    apart = problem.apart_by_noise(z, RUNS) if isinstance(problem.world, World) else np.zeros(0)
    return apart if np.any(apart) else None


def of_own_noise(apart: Array, J: Array) -> Array:
    """Return M in z."""
    size = np.linalg.norm(J, axis=0)
    size = np.where(size > 0.0, size, 1.0)
    d = np.linalg.lstsq(J / size, apart, rcond=LOST)[0] / size[:, None]
    return np.asarray(d @ d.T / RUNS)
