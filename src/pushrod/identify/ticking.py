"""What a fit would have found with finer ticks, without fitting again.

    z <- z - J^+ (e'(z) - e(z0))        from z0, a few times;  e' the residuals with finer ticks, J as before

That ends where J' e'(z) = 0, as the fit did with its own ticks: J' e(z0) = 0. One step alone would be wrong by as much as the equations bend. Many
models solve their equations with an error of the order of the tick. A parameter, most often a delay, makes up for that, and no interval tells.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import PushrodError
from pushrod.identify.covariance import LOST, pull
from pushrod.identify.experiment import Measured, Trial
from pushrod.identify.search import Fit

Array = NDArray[np.float64]
FINER = 4  # ticks for one
STEPS = 4  # of the iteration; its first is the whole of it where the equations are straight


def moved_by_finer_ticks(found: Fit, J: Array, inside: list[int]) -> Array:
    """How far each free number would move, in 0..1 of its range; nowhere if it lies at an edge.

    Nowhere, either, for recordings of simulated runs with the same tick: the tick is part of the machine that was recorded.
    """
    problem, z0 = found.problem, found.z
    if all(one.run_dt == one.dt for one in problem.trials):
        return np.zeros(len(z0))
    z, least = z0.copy(), np.inf
    trials = [finer(one) for one in problem.trials]
    e0 = problem.weighed(problem.errors(z0))
    size = np.linalg.norm(J[:, inside], axis=0)
    size = np.where(size > 0.0, size, 1.0)
    weight = np.sqrt(pull(problem, e0))
    A = J[:, inside] / size * weight[:, None]
    for _ in range(STEPS):
        try:
            d = problem.weighed(problem.errors(z, trials)) - e0
        except PushrodError:  # delay lines that are too short for that
            break
        step = np.linalg.lstsq(A, weight * d, rcond=LOST)[0]
        left = float(np.linalg.norm(A @ step))
        if not left < 0.5 * least:  # no nearer: what was reached counts
            break
        least = left
        z[inside] = np.clip(z[inside] - step / size, 0.0, 1.0)
    return np.asarray(z - z0)


def finer(one: Trial, n: int = FINER) -> Trial:
    """The same log in ticks of an n-th: inputs as they were, values at the times they had."""
    inputs = {path: np.repeat(values, n) for path, values in one.inputs.items()}
    return replace(one, dt=one.dt / n, steps=one.steps * n, inputs=inputs, outputs={path: _finer(seen, n) for path, seen in one.outputs.items()})


def _finer(seen: Measured, n: int) -> Measured:
    at = n * (seen.k + seen.a)
    k = np.maximum(np.ceil(at - 1e-9).astype(np.int64) - 1, 0)
    return replace(seen, k=k, a=np.clip(at - k, 0.0, 1.0))
