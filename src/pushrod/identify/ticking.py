"""What a fit would have found with finer ticks, without fitting again.

    e(z) ~ e'(z0) + J (z - z0)        e' the residuals with finer ticks, J as before
    z - z0 = -(J'J)^-1 J' (e' - e)    because J'e = 0 where the fit ended

Many models solve their equations with an error of the order of the tick. A parameter, most often a delay, makes up for that, and no interval tells.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import PushrodError
from pushrod.identify.covariance import LOST
from pushrod.identify.experiment import Measured, Trial
from pushrod.identify.search import Fit

Array = NDArray[np.float64]
FINER = 4  # ticks for one


def moved_by_finer_ticks(found: Fit, J: Array, inside: list[int]) -> Array:
    """How far each free number would move, in 0..1 of its range; nowhere if it lies at an edge."""
    moved = np.zeros(len(found.z))
    problem = found.problem
    try:
        fine = problem.errors(found.z, [finer(one) for one in problem.trials])
    except PushrodError:  # delay lines that are too short for that
        return moved
    d = problem.weighed(fine) - problem.weighed(problem.errors(found.z))
    size = np.linalg.norm(J[:, inside], axis=0)
    size = np.where(size > 0.0, size, 1.0)
    moved[inside] = -np.linalg.lstsq(J[:, inside] / size, d, rcond=LOST)[0] / size
    return moved


def finer(one: Trial, n: int = FINER) -> Trial:
    """The same log in ticks of an n-th: inputs as they were, values at the times they had."""
    inputs = {path: np.repeat(values, n) for path, values in one.inputs.items()}
    return replace(one, dt=one.dt / n, steps=one.steps * n, inputs=inputs, outputs={path: _finer(seen, n) for path, seen in one.outputs.items()})


def _finer(seen: Measured, n: int) -> Measured:
    at = n * (seen.k + seen.a)
    k = np.maximum(np.ceil(at - 1e-9).astype(np.int64) - 1, 0)
    return replace(seen, k=k, a=np.clip(at - k, 0.0, 1.0))
