"""The search: least squares from the best of many starts over the whole range, from several seeds; differential evolution where they disagree.

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
from pushrod.identify.descent import ROUGH, cost_of, descend
from pushrod.identify.diagnosis import diagnose
from pushrod.identify.problem import FAR, Problem
from pushrod.identify.uninformed import uninformed_at_guess

Array = NDArray[np.float64]
STARTS = 3  # of a population, from which each seed goes down by least squares
DISTINCT = 0.1  # of a range: starts that lie nearer in all of them count as one
LESS = 0.99  # times the loss of its start: what ends higher did not go down
AGREE = 1.2  # times the best residual: a start that ends there found as good a fit
EXPLAINED = 0.95  # of the outputs: a fit that explains less may be of a slope that leads nowhere
NEAR = 0.15  # of the range: how far from the guess the first half of a population is spread
EXACT = 1e-6  # of the noise: a residual that is none
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
    ignore_problems: bool = False,
    told: Told | None = None,
) -> Fit:
    """Fit a problem. `search=False` starts from the guesses alone, for what is known well enough already.

    Recordings that no parameter can be learnt from are a DiagnosisError, unless `ignore_problems` is set.
    """
    if seeds < 1:
        raise InputError(f"seeds = {seeds}; at least one is needed")
    if not ignore_problems:
        diagnose(problem)
    begun, before = time.perf_counter(), problem.simulated
    best: list[tuple[float, Array]] = [(np.inf, problem.guess)]
    found: list[Seed] = []
    stopped = False
    ends: list[float] = []
    try:
        for n in range(seeds if search else 1):

            def tell(done: float, stage: str, n: int = n) -> None:
                if told is not None:
                    told(Progress(n, seeds if search else 1, done, _rms(min(best, key=lambda b: b[0])[0], problem), stage))

            tell(0.0, "compiling" if n == 0 else "searching")
            if search:
                rng = np.random.default_rng(first_seed + n)
                z, loss = _multistart(problem, rng, population, ends, best, lambda done, tell=tell: tell(0.4 * done, "searching"))  # type: ignore[misc]
                if not _agreed(problem, ends, loss):
                    best.append((loss, z))
                    z = _evolved(problem, rng, population, generations, tolerance, best, lambda done, tell=tell: tell(0.4 + 0.5 * done, "evolving"))  # type: ignore[misc]
                    z, loss = min((descend(problem, z), (loss, z)[::-1]), key=lambda end: end[1])
            else:
                z, loss = descend(problem, problem.guess)
            best.append((loss, z))
            found.append(Seed(first_seed + n, _rms(loss, problem), problem.values(z), z))
            tell(1.0, "least squares")
    except KeyboardInterrupt:
        stopped = True
    z = min(best, key=lambda b: b[0])[1]
    if not stopped:
        given = dict(problem.noise)
        z = uninformed_at_guess(problem, _with_learnt_noise(problem, z))
        found = _with_same_noise(problem, found, given)
    loss = cost_of(problem, problem.residuals(z))
    return Fit(problem, z, _rms(loss, problem), tuple(found), dict(problem.noise), time.perf_counter() - begun, problem.simulated - before, stopped)


def _multistart(
    problem: Problem,
    rng: np.random.Generator,
    population: int | None,
    ends: list[float],
    best: list[tuple[float, Array]],
    tell: Callable[[float], None],
) -> tuple[Array, float]:
    """Least squares from the best few of a population that lie apart; the best of where they end.

    The losses of the ends of those that went down at all are added to `ends`, and whatever is reached to `best`.
    """
    d = len(problem.parameters)
    rest = problem.guess[d:]
    Z = _population(problem.guess[:d], population or max(24, 10 * d), rng)
    losses = problem.losses(Z)
    starts: list[Array] = []
    before: list[float] = []
    best.append((float(np.min(losses)), np.concatenate((Z[int(np.argmin(losses))], rest))))
    tell(0.0)
    for i in np.argsort(losses, kind="stable"):
        if losses[i] < FAR and all(np.max(np.abs(Z[i] - one)) > DISTINCT for one in starts):
            starts.append(Z[i])
            before.append(float(losses[i]))
        if len(starts) == STARTS:
            break
    reached = []
    for n, start in enumerate(starts or [problem.guess[:d]]):
        reached.append(descend(problem, np.concatenate((start, rest)), tolerance=ROUGH, most=30))
        best.append(reached[-1][::-1])
        tell((n + 1) / max(len(starts) + 1, 2))
    z, loss = descend(problem, min(reached, key=lambda end: end[1])[0])
    ends.append(loss)
    ends += [each for (_, each), first in zip(reached, before, strict=False) if each < LESS * first or _rms(each, problem) < EXACT]
    return z, loss


def _agreed(problem: Problem, ends: list[float], loss: float) -> bool:
    """Whether starts of any seed so far, besides the best one itself, went down to as good a fit, and to a good one: then no evolution is needed.

    Where the loss has steps, nothing goes down from anywhere.
    """
    best = min(ends)
    still = cost_of(
        problem,
        problem.weighed([{path: one.outputs[path].value - np.mean(one.outputs[path].value) for path in problem.paths} for one in problem.trials]),
    )
    if loss > (1.0 - EXPLAINED) * still:
        return False
    within = [each for each in ends if _rms(each, problem) <= max(AGREE * _rms(best, problem), EXACT)]
    return len(within) > 2  # the best one is among them twice: as its start ended, and as it went on


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
        z, _ = descend(problem, z)
    return z


def _with_same_noise(problem: Problem, seeds: list[Seed], given: dict[str, float]) -> list[Seed]:
    """Return the seeds as they end with the learnt noise, which the fit has: with another noise a robust loss or several outputs end elsewhere."""
    if problem.noise == given or (len(problem.paths) == 1 and problem.loss == "linear"):
        return seeds
    ends = [descend(problem, seed.z) for seed in seeds]
    return [Seed(seed.seed, _rms(loss, problem), problem.values(z), z) for seed, (z, loss) in zip(seeds, ends, strict=True)]


def _scatter(problem: Problem, errors: list[dict[str, Array]], path: str) -> float:
    parts = [(e[path] * np.sqrt(one.outputs[path].count))[~one.outputs[path].held_out] for one, e in zip(problem.trials, errors, strict=True)]
    every = np.concatenate(parts)
    if problem.loss == "linear":
        return max(float(np.sqrt(np.mean(every * every))), 1e-15)
    return max(float(1.4826 * np.median(np.abs(every))), 1e-15)  # robust: the standard deviation of what is not an outlier


def _rms(loss: float, problem: Problem) -> float:
    return float(np.sqrt(max(loss, 0.0) / max(problem.samples, 1))) if loss < FAR else float("inf")
