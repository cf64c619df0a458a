"""The search: differential evolution over the whole range, a population a call, then least squares from the best, from several seeds.

    found = fit(problem, seeds=5)
    found.values["lag.T"], found.loss

Ctrl-C ends the search and keeps the best that was found until then.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError, PushrodError
from pushrod.identify.diagnosis import diagnose
from pushrod.identify.problem import FAR, Problem

Array = NDArray[np.float64]
NEAR = 0.15  # of the range: how far from the guess the first half of a population is spread
ROUNDS = 4  # times that least squares is done again with the noise it found
SAME = 0.02  # of the noise: a smaller change of it is none


@dataclass(frozen=True)
class Progress:
    """How far the search is: seed of seeds, part of it done (0..1), and the root mean square of the weighted residuals of the best so far."""

    seed: int
    seeds: int
    done: float
    loss: float
    stage: str


Told = Callable[[Progress], None]


@dataclass(frozen=True)
class Seed:
    """What one seed found."""

    seed: int
    loss: float
    values: dict[str, float]
    z: Array


@dataclass(frozen=True)
class Fit:
    """The best of all seeds. `loss` is the root mean square of the residuals of what was fitted, weighted by the noise."""

    problem: Problem
    z: Array
    loss: float
    seeds: tuple[Seed, ...]
    noise: dict[str, float]
    seconds: float
    simulated: int
    stopped: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def values(self) -> dict[str, float]:
        return self.problem.values(self.z)

    @property
    def params(self) -> Any:
        return self.problem.with_values(self.z)


def fit(
    problem: Problem,
    *,
    seeds: int = 5,
    first_seed: int = 0,
    population: int | None = None,
    generations: int = 80,
    tolerance: float = 1e-3,
    search: bool = True,
    trust: bool = False,
    told: Told | None = None,
) -> Fit:
    """Fit a problem. `search=False` starts from the guesses alone, for what is known well enough already.

    Recordings that nothing can be learnt from are a DiagnosisError, unless one is to `trust` them.
    """
    if seeds < 1:
        raise InputError(f"seeds = {seeds}; at least one is needed")
    if not trust:
        diagnose(problem)
    begun, before = time.perf_counter(), problem.simulated
    best: list[tuple[float, Array]] = [(np.inf, problem.guess)]
    found: list[Seed] = []
    stopped = False
    try:
        for n in range(seeds if search else 1):

            def tell(done: float, stage: str, n: int = n) -> None:
                if told is not None:
                    told(Progress(n, seeds if search else 1, done, _rms(min(best, key=lambda b: b[0])[0], problem), stage))

            tell(0.0, "compiling" if n == 0 else "searching")
            z = problem.guess
            if search:
                rng = np.random.default_rng(first_seed + n)
                z = _evolved(problem, rng, population, generations, tolerance, best, lambda done, tell=tell: tell(0.8 * done, "searching"))  # type: ignore[misc]
            z, loss = _descended(problem, z)
            best.append((loss, z))
            found.append(Seed(first_seed + n, _rms(loss, problem), problem.values(z), z))
            tell(1.0, "least squares")
    except KeyboardInterrupt:
        stopped = True
    z = min(best, key=lambda b: b[0])[1]
    if not stopped:
        z = _with_learnt_noise(problem, z)
    loss = _cost(problem, problem.residuals(z))
    return Fit(problem, z, _rms(loss, problem), tuple(found), dict(problem.noise), time.perf_counter() - begun, problem.simulated - before, stopped)


def _evolved(
    problem: Problem,
    rng: np.random.Generator,
    population: int | None,
    generations: int,
    tolerance: float,
    best: list[tuple[float, Array]],
    tell: Callable[[float], None],
) -> Array:
    """Differential evolution of the parameters; offsets and starts stay at their guesses."""
    from scipy.optimize import differential_evolution

    d = len(problem.parameters)
    rest = problem.guess[d:]
    size = population or max(24, 10 * d)
    done = 0

    def losses(X: Array) -> Array:
        nonlocal done
        Z = np.atleast_2d(X.T)
        found = problem.losses(Z)
        least = int(np.argmin(found))
        best.append((float(found[least]), np.concatenate((Z[least], rest))))
        best[:] = [min(best, key=lambda b: b[0])]
        done += 1
        tell(min(1.0, done / (generations + 1)))
        return found

    try:
        result = differential_evolution(
            losses,
            [(0.0, 1.0)] * d,
            init=_population(problem.guess[:d], size, rng),
            maxiter=generations,
            tol=tolerance,
            mutation=(0.4, 0.9),
            recombination=0.8,
            vectorized=True,
            updating="deferred",
            polish=False,
            rng=rng,
        )
    except RuntimeError as e:
        if isinstance(e.__cause__, PushrodError):
            raise e.__cause__ from None  # scipy takes what our errors say for a wrong function
        raise
    return np.concatenate((result.x, rest))


def _population(guess: Array, size: int, rng: np.random.Generator) -> Array:
    """One at the guess, half around it, the rest over the whole range, no two in one slice of it."""
    from scipy.stats import qmc

    everywhere: Array = qmc.LatinHypercube(len(guess), rng=rng).random(size)
    around = np.clip(guess + NEAR * rng.standard_normal((size // 2, len(guess))), 0.0, 1.0)
    everywhere[: len(around)] = around
    everywhere[0] = guess
    return everywhere


def _descended(problem: Problem, z: Array) -> tuple[Array, float]:
    """Least squares from there; the better of both."""
    from scipy.optimize import least_squares

    start = np.clip(z, 1e-9, 1.0 - 1e-9)
    done = least_squares(
        problem.residuals,
        start,
        problem.jacobian,
        bounds=(0.0, 1.0),
        loss=problem.loss,
        f_scale=problem.loss_scale,
        method="trf",
        xtol=1e-10,
        ftol=1e-10,
        gtol=1e-10,
        max_nfev=60,
    )
    before = _cost(problem, problem.residuals(z))
    return (done.x, 2.0 * float(done.cost)) if 2.0 * done.cost <= before else (z, before)


def _with_learnt_noise(problem: Problem, z: Array) -> Array:
    """Several outputs count by how much they scatter, which the residuals tell: least squares again until that changes no more."""
    for _ in range(ROUNDS if problem.learns_noise else 0):
        errors = problem.errors(z)
        learnt = {path: _scatter(problem, errors, path) for path in problem.paths}
        change = max(abs(np.log(learnt[path] / problem.noise[path])) for path in problem.paths)
        alone = len(problem.paths) == 1 and problem.loss == "linear"
        problem.noise = learnt
        if change < SAME or alone:  # one output alone: every residual counts the same whatever the noise is
            break
        z, _ = _descended(problem, z)
    return z


def _scatter(problem: Problem, errors: list[dict[str, Array]], path: str) -> float:
    parts = [(e[path] * np.sqrt(one.outputs[path].count))[~one.outputs[path].held_out] for one, e in zip(problem.trials, errors, strict=True)]
    every = np.concatenate(parts)
    if problem.loss == "linear":
        return max(float(np.sqrt(np.mean(every * every))), 1e-15)
    return max(float(1.4826 * np.median(np.abs(every))), 1e-15)  # robust: the standard deviation of what is not an outlier


def _cost(problem: Problem, residuals: Array) -> float:
    C = problem.loss_scale
    z = np.abs(residuals) / C
    if problem.loss == "linear":
        return float(np.sum(residuals * residuals))
    if problem.loss == "soft_l1":
        return float(np.sum(2.0 * C * C * (np.sqrt(1.0 + z * z) - 1.0)))
    return float(np.sum(np.where(z <= 1.0, residuals * residuals, C * C * (2.0 * z - 1.0))))


def _rms(loss: float, problem: Problem) -> float:
    return float(np.sqrt(max(loss, 0.0) / max(problem.samples, 1))) if loss < FAR else float("inf")
