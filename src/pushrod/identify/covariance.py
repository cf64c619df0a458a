"""How far estimates scatter, from the Jacobian and the residuals of a fit.

    white noise       C = s2 (J'J)^-1                         s2 = sum e2 / (n - p)
    coloured, robust  C = H^-1 S H^-1                         H = J' W J,   S = sum_ij psi_i J_i' J_j psi_j w(|i - j|) over ticks of one log

psi = W e is how much a residual pulls (e itself for squares); w falls from 1 to 0 over a window that is longer the longer residuals stay alike
(Newey and West, with the window of Andrews for a process of first order). Columns are brought to one size first. A direction that the data do not
tell of has no variance here: `C` is infinite for the parameters in it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.problem import Problem
from pushrod.identify.whiteness import Whiteness

Array = NDArray[np.float64]
LOST = 1e-7  # singular value, of the largest, below which a direction is not told by the data
IN_A_DIRECTION = 0.1  # part of a unit vector that counts


class Scatter(NamedTuple):
    """`C` in z (0..1 of each range); `singular` values and `directions` (rows) of the Jacobian with columns of one size, largest first."""

    C: Array
    singular: Array
    directions: Array

    @property
    def condition(self) -> float:
        return float(self.singular[0] / self.singular[-1]) if len(self.singular) and self.singular[-1] > 0.0 else float("inf")


def scatter(problem: Problem, J: Array, e: Array, coloured: bool, likeness: float) -> Scatter:
    """`likeness`: the greatest correlation of neighbouring residuals."""
    if not J.shape[1]:  # everything lies at an edge
        return Scatter(np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)))
    pull = _pull(problem, e)
    size = np.linalg.norm(J, axis=0)
    A = J / np.where(size > 0.0, size, 1.0)
    _, s, V = np.linalg.svd(A * np.sqrt(pull)[:, None], full_matrices=False)
    told = s > LOST * max(float(s[0]), 1e-300) if len(s) else np.zeros(0, bool)
    inverse = (V[told].T / s[told] ** 2) @ V[told]
    if not coloured and problem.loss == "linear":
        C = inverse * float(e @ e) / max(len(e) - len(s), 1)
    else:
        C = inverse @ _pulled(problem, A * (pull * e)[:, None], coloured, likeness) @ inverse * len(e) / max(len(e) - len(s), 1)
    C = C / np.outer(np.where(size > 0.0, size, 1.0), np.where(size > 0.0, size, 1.0))
    for direction in V[~told]:
        lost = np.abs(direction) > IN_A_DIRECTION
        C[lost, lost] = np.inf
    C[np.diag_indices_from(C)] = np.where(size > 0.0, np.diag(C), np.inf)
    return Scatter(C, s, V)


def _pull(problem: Problem, e: Array) -> Array:
    """psi(e) / e: 1 for squares, less for what a robust loss takes for an outlier."""
    z = np.abs(e) / problem.loss_scale
    if problem.loss == "soft_l1":
        return np.asarray(1.0 / np.sqrt(1.0 + z * z))
    if problem.loss == "huber":
        return np.where(z <= 1.0, 1.0, 1.0 / np.maximum(z, 1e-300))
    return np.ones_like(e)


def _pulled(problem: Problem, scores: Array, coloured: bool, likeness: float) -> Array:
    """S, log by log: scores of one tick belong together, those of near ticks count by how near they are."""
    from scipy.signal import fftconvolve

    S = np.zeros((scores.shape[1],) * 2)
    row = 0
    for one in problem.trials:
        G = np.zeros((one.steps, scores.shape[1]))
        for path in problem.paths:
            seen = one.outputs[path]
            k = seen.k[~seen.held_out]
            np.add.at(G, k, scores[row : row + len(k)])
            row += len(k)
        width = _window(likeness, one.steps) if coloured else 0
        kernel = 1.0 - np.abs(np.arange(-width, width + 1)) / (width + 1.0)
        near = fftconvolve(G, kernel[:, None], mode="full", axes=0)[width : width + one.steps] if width else G
        S += G.T @ near
    return 0.5 * (S + S.T)


def _window(likeness: float, n: int) -> int:
    r = min(max(likeness, 0.0), 0.999)
    alpha = 4.0 * r * r / ((1.0 - r) * (1.0 + r)) ** 2
    return int(min(np.ceil(1.1447 * (alpha * n) ** (1.0 / 3.0)), n // 3))


def correlation(C: Array) -> Array:
    """Of estimates; 0 where a variance is not finite."""
    sd = np.sqrt(np.diag(C))
    good = np.isfinite(sd) & (sd > 0.0)
    R = np.zeros_like(C)
    pair = np.outer(good, good)
    R[pair] = (C / np.outer(np.where(good, sd, 1.0), np.where(good, sd, 1.0)))[pair]
    np.fill_diagonal(R, 1.0)
    return np.clip(R, -1.0, 1.0)


def likeness_of(every: list[Whiteness]) -> float:
    return max((float(one.r[1]) for one in every if len(one.r) > 1), default=0.0)
