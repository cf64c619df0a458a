"""How far estimates scatter, from the Jacobian and the residuals of a fit.

    white noise       C = s2 (J'J)^-1                         s2 = sum e2 / (n - p)
    coloured, robust  C = H^-1 S H^-1                         H = J' W J,   S = sum_ij psi_i J_i' J_j psi_j w(|i - j|) over ticks of one log

psi = W e is how much a residual pulls (e itself for squares); w falls from 1 to 0 over a window that is longer the longer residuals stay alike
(Newey and West, with the window of Andrews for a process of first order). A wide window leaves few independent products to average, which a normal
quantile ignores: with a window of the share b of the data the 95 % quantile is 1.96 + 2.9694 b + 0.416 b^2 - 0.5324 b^3 (Kiefer and Vogelsang 2005).

Where residuals are white noise and a slow part together, sums of their own products miss much of the slow part in a short log. So variances are
at least those of that model:

    gamma_k = s2 ((1 - a) delta_k + a r^k),   r = max over lags k of r_k^(1/k)      r_k: autocorrelation at lag k;  a by least squares

A coarse sensor gives the same value for several samples, and its rounding error keeps its sign for as long: too short to make residuals as a whole
autocorrelated, but where the output is steady it is. So the sandwich is used there as well, with that time as window.

Columns are brought to one size first. A direction that the data do not tell of has no variance here: `C` is infinite for the parameters in it.
Together with the range, in which any value was as likely before (variance 1/12 of its square), everything has one:

    within = (C^-1 + 12)^-1
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.experiment import Trial
from pushrod.identify.problem import Problem
from pushrod.identify.whiteness import SHOWN, Whiteness, autocorrelation

Array = NDArray[np.float64]
LOST = 1e-7  # singular value, of the largest, below which a direction is not told by the data
IN_A_DIRECTION = 0.1  # part of a unit vector that counts
LEVEL = 0.95
ANYWHERE = 1.0 / 12.0  # variance of any value in 0..1
REPEATED = 1.05  # values for each change of the value: more than that, and the sensor is coarse
CLEAR = 2.0  # times the bound of chance: a correlation above it is one


class Scatter(NamedTuple):
    """`C` in z (0..1 of each range); `singular` values and `directions` (rows) of the Jacobian with columns of one size, largest first.

    `within` is C with the range as knowledge; `window` the share of the data over which residuals count as alike, 0 where they are white.
    """

    C: Array
    singular: Array
    directions: Array
    within: Array
    window: float = 0.0

    @property
    def informed(self) -> NDArray[np.bool_]:
        """Of each column, whether the data say more than its range does."""
        return np.asarray(np.diag(self.C) < ANYWHERE)

    def quantile(self, degrees: int) -> float:
        """Standard deviations to either side of a 95 % interval."""
        from scipy.stats import t

        b = self.window
        return float(t.ppf(0.5 + 0.5 * LEVEL, max(degrees, 1))) + 2.9694 * b + 0.416 * b**2 - 0.5324 * b**3

    @property
    def condition(self) -> float:
        return float(self.singular[0] / self.singular[-1]) if len(self.singular) and self.singular[-1] > 0.0 else float("inf")


def scatter(problem: Problem, J: Array, e: Array, coloured: bool, persistence: float) -> Scatter:
    """`persistence`: that of the residuals, 0 for white ones, near 1 for slow ones."""
    if not J.shape[1]:  # everything lies at an edge
        return Scatter(np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)))
    weight = pull(problem, e)
    size = np.linalg.norm(J, axis=0)
    A = J / np.where(size > 0.0, size, 1.0)
    _, s, V = np.linalg.svd(A * np.sqrt(weight)[:, None], full_matrices=False)
    told = s > LOST * max(float(s[0]), 1e-300) if len(s) else np.zeros(0, bool)
    inverse = (V[told].T / s[told] ** 2) @ V[told]
    windows = [max(_repeated(one), _window(_per_tick(persistence, one), one.steps) if coloured else 0) for one in problem.trials]
    if not any(windows) and problem.loss == "linear":
        C = inverse * float(e @ e) / max(len(e) - len(s), 1)
    else:
        C = inverse @ _pulled(problem, A * (weight * e)[:, None], windows) @ inverse * len(e) / max(len(e) - len(s), 1)
        if coloured:
            C = at_least(C, inverse @ _decaying(problem, A * weight[:, None], e, persistence) @ inverse)
    size = np.where(size > 0.0, size, 1.0)
    C = C / np.outer(size, size)
    within = _with_ranges(C)
    for direction in V[~told]:
        lost = np.abs(direction) > IN_A_DIRECTION
        C[lost, lost] = np.inf
    still = np.flatnonzero(~np.any(J, axis=0))
    C[still, still] = np.inf
    return Scatter(C, s, V, within, max(windows) / sum(one.steps for one in problem.trials))


def _with_ranges(C: Array) -> Array:
    """(C^-1 + 12)^-1, with no information where C is 0: that is what the data do not tell."""
    values, vectors = np.linalg.eigh(C)
    told = values > LOST**2 * max(float(values[-1]), 1e-300)
    information = (vectors[:, told] / values[told]) @ vectors[:, told].T
    return np.asarray(np.linalg.inv(information + np.eye(len(C)) / ANYWHERE))


def pull(problem: Problem, e: Array) -> Array:
    """psi(e) / e: 1 for squares, less for what a robust loss takes for an outlier."""
    z = np.abs(e) / problem.loss_scale
    if problem.loss == "soft_l1":
        return np.asarray(1.0 / np.sqrt(1.0 + z * z))
    if problem.loss == "huber":
        return np.where(z <= 1.0, 1.0, 1.0 / np.maximum(z, 1e-300))
    return np.ones_like(e)


def _pulled(problem: Problem, scores: Array, windows: Sequence[int]) -> Array:
    """S, log by log: scores of one tick belong together, those of near ticks count by how near they are, within the window of the log."""
    from scipy.signal import fftconvolve

    S = np.zeros((scores.shape[1],) * 2)
    row = 0
    for one, width in zip(problem.trials, windows, strict=True):
        G = np.zeros((one.steps, scores.shape[1]))
        for path in problem.paths:
            seen = one.outputs[path]
            k = seen.k[~seen.held_out]
            np.add.at(G, k, scores[row : row + len(k)])
            row += len(k)
        kernel = 1.0 - np.abs(np.arange(-width, width + 1)) / (width + 1.0)
        near = fftconvolve(G, kernel[:, None], mode="full", axes=0)[width : width + one.steps] if width else G
        S += G.T @ near
    return 0.5 * (S + S.T)


def _decaying(problem: Problem, A: Array, e: Array, persistence: float) -> Array:
    """S if residuals are white noise and a slow part whose correlation decays: gamma_k = (1 - a) s2 delta_k + a s2 r^k, of each output by itself."""
    from scipy.signal import fftconvolve

    S = np.zeros((A.shape[1],) * 2)
    row = 0
    for one in problem.trials:
        for path in problem.paths:
            seen = one.outputs[path]
            k = seen.k[~seen.held_out]
            mine = slice(row, row + len(k))
            row = mine.stop
            G = np.zeros((one.steps, A.shape[1]))
            np.add.at(G, k, A[mine])
            s2 = float(np.mean(e[mine] ** 2))
            slow = _slow_share(autocorrelation(e[mine], min(SHOWN, len(k) - 2)), persistence) if len(k) > 3 else 0.0
            r = min(_per_tick(persistence, one), 1.0 - 1.0 / one.steps)
            decay = r ** np.abs(np.arange(1 - one.steps, one.steps))
            near = fftconvolve(G, decay[:, None], mode="full", axes=0)[one.steps - 1 : 2 * one.steps - 1]
            S += s2 * ((1.0 - slow) * G.T @ G + slow * G.T @ near)
    return 0.5 * (S + S.T)


def _repeated(one: Trial) -> int:
    """Ticks for which an output keeps its value on average; 0 where hardly any value is repeated. The longest of all outputs."""
    longest = 0
    for seen in one.outputs.values():
        value = seen.value[~seen.held_out]
        runs = 1 + np.count_nonzero(np.diff(value))
        if len(value) > REPEATED * runs:
            longest = max(longest, round(len(value) / runs * float(np.median(np.diff(seen.k)))))
    return min(longest, one.steps // 3)


def _per_tick(persistence: float, one: Trial) -> float:
    """Persistence over a tick, from that over a sample: samples may lie several ticks apart."""
    apart = max(float(np.median(np.diff(seen.k))) if len(seen) > 1 else 1.0 for seen in one.outputs.values())
    return float(max(persistence, 0.0) ** (1.0 / max(apart, 1.0)))


def _slow_share(r: Array, persistence: float) -> float:
    """a of r_k = a r^k, k >= 1, by least squares."""
    decay = persistence ** np.arange(1, len(r))
    return float(np.clip(decay @ r[1:] / max(float(decay @ decay), 1e-300), 0.0, 1.0))


def at_least(C: Array, other: Array) -> Array:
    """The covariance with every variance at least that of the other one; correlations stay."""
    grown = np.sqrt(np.maximum(np.diag(other) / np.maximum(np.diag(C), 1e-300), 1.0))
    return np.asarray(C * np.outer(grown, grown))


def _window(persistence: float, n: int) -> int:
    r = min(max(persistence, 0.0), 0.999)
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
    """The greatest correlation of neighbouring residuals."""
    return max((float(one.r[1]) for one in every if len(one.r) > 1), default=0.0)


def persistence_of(every: list[Whiteness]) -> float:
    """The greatest of all outputs, by lags whose correlation is clearly above chance."""
    found = [0.0]
    for one in every:
        k = np.arange(1, len(one.r))
        clear = one.r[1:] > CLEAR * one.bound
        found += (one.r[1:][clear] ** (1.0 / k[clear])).tolist()
    return max(found)
