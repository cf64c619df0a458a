"""Parameters that the data do not inform, at their guess: where a search ends in these is chance."""

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.covariance import scatter
from pushrod.identify.descent import cost_of, descend
from pushrod.identify.problem import STEPS, Problem

Array = NDArray[np.float64]
AWAY = 4.0 * STEPS[2]  # of its range: as far from where it begins to act that no difference of the Jacobian sees that
AT_END = 1e-6  # of its range
HALVINGS = 6  # of the way from such an estimate to its guess


def uninformed_at_guess(problem: Problem, z: Array, tolerance: float = 1e-10, most: int = 60) -> Array:
    """Move parameters that the data do not inform back to their guess, one by one; the others follow by least squares.

    A parameter stays there if that costs less than one standard deviation of it would, else it goes as near to its guess as that allows.
    """
    moving = np.ones(len(z), bool)
    asked = np.array([f.of == "parameter" for f in problem.free])
    while True:
        e = problem.residuals(z)
        spread = scatter(problem, problem.jacobian(z)[:, moving], e, False, 0.0)
        at = np.flatnonzero(moving)
        variance = np.where(asked[at] & ~spread.informed, np.diag(spread.C), 0.0)
        if not np.any(variance > 0.0):
            return z
        j = int(at[np.argmax(variance)])
        together = moving.copy()
        moving[j] = False
        back = z.copy()
        back[j] = problem.guess[j]
        cost = cost_of(problem, e)
        allowed = cost * (1.0 + 1.0 / max(len(e), 1)) + 1e-12 * len(e)
        tried, after = descend(problem, back, moving, tolerance, most)
        if after <= allowed:
            z = tried
        elif AT_END < z[j] < 1.0 - AT_END:  # an estimate that was driven to an end of its range stays there, for the caveat that says so
            z = _nearest(problem, z, j, together, allowed)


def _nearest(problem: Problem, z: Array, j: int, together: NDArray[np.bool_], allowed: float) -> Array:
    """Move one free number towards its guess as far as the data still do not inform it and the loss stays within what is allowed.

    A limit that was never reached stays out of reach: where it begins to act, its slope would pass for knowledge of its value.
    """
    column = int(np.count_nonzero(together[:j]))
    near, far = z.copy(), z.copy()
    far[j] = problem.guess[j]
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        e = problem.residuals(middle)
        if cost_of(problem, e) <= allowed and not scatter(problem, problem.jacobian(middle)[:, together], e, False, 0.0).informed[column]:
            near = middle
        else:
            far = middle
    near[j] = min(near[j] + AWAY, z[j]) if z[j] > problem.guess[j] else max(near[j] - AWAY, z[j])
    return near
