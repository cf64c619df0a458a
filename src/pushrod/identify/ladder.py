"""Climb a ladder: fit each rung, judge it by conditions that it was not fitted to, recommend the simplest unbeaten.

    found = climb(servo(), fitted_to, held_out)
    found.recommended.rung.name, found.table()

A rung starts from the best of those it adds to, so that no effect is worse for being added. Of its seeds that fit about as well, the one counts that
foretells best what is left out: each condition of the recordings in turn (`left_out.py`). The least training loss does not tell which one that is. A
rung is beaten where a later one has a left-out error that is less by more than `MARGIN`. Held-out recordings are only looked at: they choose nothing.

    BIC = n ln(loss / n) + k ln n        n: values that count as independent, from how long the residuals of the best rung stay alike;  k: parameters
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError
from pushrod.core.record import put
from pushrod.identify.left_out import Fold, folds, left_out_errors
from pushrod.identify.problem import Problem
from pushrod.identify.rung import Ladder, Log, Rung, prepared
from pushrod.identify.search import Fit, Progress, fit

Array = NDArray[np.float64]
ALIKE = 1.15  # times the least loss: seeds that fit about as well
SAME = 0.02  # of a range: seeds that lie nearer in all of them are one
MARGIN = 0.05  # of the error: a gain that is less is none
SHARE = 0.01  # of its span: the noise of an output where none is given. It is the same for all rungs, so that their losses can be compared

Told = Callable[[Rung, Progress], None]


@dataclass(frozen=True)
class Step:
    """A rung as it was fitted. Errors are mean absolute differences, one for each recording, in the unit of the output.

    `left_out` is the error on each condition of a fit without it. `judge` holds the recordings that were held out; `held_by_seed` is the error on
    them of what each seed found: how much of it is luck.
    """

    rung: Rung
    fit: Fit
    errors: tuple[float, ...]
    held_errors: tuple[float, ...]
    held_by_seed: tuple[float, ...] = ()
    left_out: Mapping[str, float] = field(default_factory=dict)
    judge: Problem | None = None
    criterion: float = float("nan")

    @property
    def error(self) -> float:
        return float(np.mean(self.errors))

    @property
    def held_error(self) -> float:
        return float(np.mean(self.held_errors)) if self.held_errors else float("nan")

    @property
    def left_out_error(self) -> float:
        return float(np.mean(list(self.left_out.values()))) if self.left_out else float("inf")


@dataclass(frozen=True)
class Climb:
    ladder: Ladder
    steps: tuple[Step, ...]
    unit: str

    @property
    def recommended(self) -> Step:
        """The simplest that no later one beats."""
        return next(step for i, step in enumerate(self.steps) if not any(beats(later, step) for later in self.steps[i + 1 :]))

    def table(self) -> list[dict[str, Any]]:
        return [
            {
                "rung": step.rung.name,
                "about": step.rung.about,
                "parameters": len(step.fit.problem.parameters),
                "error": step.error,
                "left_out_error": step.left_out_error if step.left_out else None,
                "left_out": dict(step.left_out),
                "held_out_error": step.held_error if step.held_errors else None,
                "criterion": step.criterion,
                "seconds": step.fit.seconds,
                "recommended": step is self.recommended,
            }
            for step in self.steps
        ]


def beats(later: Step, step: Step) -> bool:
    """By what was left out; where nothing could be, because the climb was stopped, by the criterion."""
    if step.left_out and later.left_out:
        return later.left_out_error < (1.0 - MARGIN) * step.left_out_error
    return later.criterion < step.criterion


def climb(
    ladder: Ladder,
    logs: Sequence[Log],
    held: Sequence[Log] = (),
    *,
    rungs: Sequence[str] | None = None,
    noise: dict[str, float] | None = None,
    loss: str = "huber",
    loss_scale: float = 1.0,
    dt: float | None = None,
    hold: str = "zero",
    begin: float | None = None,
    end: float | None = None,
    missing: str = "refuse",
    seeds: int = 5,
    first_seed: int = 0,
    generations: int = 60,
    population: int | None = None,
    search: bool = True,
    device: str = "cpu",
    told: Told | None = None,
) -> Climb:
    """Fit the rungs of a ladder (all, or those named, in its order) to `logs`; `held` are only looked at. `dt` to `missing` are those of a trial."""
    if not logs:
        raise InputError("there is no recording to fit to")
    chosen = list(ladder.rungs) if rungs is None else [ladder.rung(name) for name in rungs]
    taken: dict[str, Any] = {"dt": dt, "hold": hold, "begin": begin, "end": end, "missing": missing}
    steps: list[Step] = []
    conditions = folds([log.known for log in logs], [log.name or f"log {i + 1}" for i, log in enumerate(logs)])
    for rung in chosen:
        world = rung.kind.world
        params = world.Params()
        for path, value in {**_reached(rung, steps), **rung.fixed}.items():
            params = put(params, path, value)
        trials, others = ([prepared(ladder, rung.kind, log, **taken) for log in some] for some in (logs, held))
        spread = noise or {path: SHARE * max(one.outputs[path].span for one in trials) or 1.0 for path in ladder.outputs}
        how: dict[str, Any] = {"params": params, "noise": spread, "loss": loss, "loss_scale": loss_scale, "device": device}
        problem = Problem(world, trials, rung.free, **how)
        tell = None if told is None else (lambda progress, rung=rung: told(rung, progress))
        found = fit(problem, seeds=seeds, first_seed=first_seed, generations=generations, population=population, search=search, told=tell)
        judge = Problem(world, others, rung.free, **how) if others else None
        left_out: dict[str, float] = {}
        try:
            found, left_out = (found, left_out) if found.stopped else _by_left_out(found, conditions)
        except KeyboardInterrupt:
            found = replace(found, stopped=True)
        steps.append(_step(rung, found, judge, left_out))
        if found.stopped:  # Ctrl-C is meant for all that was still to come
            break
    unit = steps[0].fit.problem.trials[0].used[ladder.outputs[0]].unit if len(ladder.outputs) == 1 else "of the noise"
    return Climb(ladder, _judged(steps), unit)


def _by_left_out(found: Fit, conditions: Sequence[Fold]) -> tuple[Fit, dict[str, float]]:
    """The fit of the seed that foretells best what is left out, of those that fit about as well; and its errors."""
    near = [seed for seed in found.seeds if seed.loss <= ALIKE * found.loss and np.max(np.abs(seed.z - found.z)) > SAME]
    tried = [(found.z, found.loss), *((seed.z, seed.loss) for seed in near)]
    errors = [left_out_errors(found.problem, z, conditions) for z, _ in tried]
    least = min(range(len(tried)), key=lambda i: float(np.mean(list(errors[i].values()))))
    z, loss = tried[least]
    return replace(found, z=z, loss=loss), errors[least]


def _step(rung: Rung, found: Fit, judge: Problem | None, left_out: Mapping[str, float]) -> Step:
    d = len(found.problem.parameters)
    errors = mean_absolute(found.problem, found.z)
    if judge is None:
        return Step(rung, found, errors, (), left_out=left_out)
    by_seed = tuple(float(np.mean(mean_absolute(judge, seed.z[:d]))) for seed in found.seeds)
    return Step(rung, found, errors, mean_absolute(judge, found.z[:d]), by_seed, left_out, judge)


def mean_absolute(problem: Problem, z: Array) -> tuple[float, ...]:
    """Of each recording: the mean absolute error over all its values; of several outputs the mean, each by its noise."""
    noise = problem.noise if len(problem.paths) > 1 else dict.fromkeys(problem.paths, 1.0)
    return tuple(float(np.mean([np.mean(np.abs(e[path])) / noise[path] for path in problem.paths])) for e in problem.errors(z))


def _reached(rung: Rung, steps: Sequence[Step]) -> dict[str, float]:
    """Where to start: at the best of the rungs that this one adds to, else at the last in its world, without what this one does not have."""
    before = [step for step in steps if step.rung.kind.world is rung.kind.world]
    below = [step for step in before if step.rung.free.keys() <= rung.free.keys()]
    start = min(below, key=lambda step: step.fit.loss) if below else before[-1] if before else None
    return {} if start is None else {path: value for path, value in start.fit.values.items() if path in rung.free}


def _judged(steps: list[Step]) -> tuple[Step, ...]:
    best = min(steps, key=lambda step: step.fit.loss)
    n = max(_independent(best.fit.problem, best.fit.z), 2.0)
    judged = []
    for step in steps:
        k = len(step.fit.problem.parameters)
        criterion = n * 2.0 * float(np.log(max(step.fit.loss, 1e-12))) + k * float(np.log(n))
        judged.append(replace(step, criterion=criterion))
    return tuple(judged)


def _independent(problem: Problem, z: Array) -> float:
    """How many independent values the residuals are worth: n (1 - r) / (1 + r), r how alike neighbours are."""
    total = 0.0
    for errors in problem.errors(z):
        for e in errors.values():
            d = e - np.mean(e)
            r = float(np.dot(d[1:], d[:-1]) / max(float(np.dot(d, d)), 1e-300))
            total += len(e) * (1.0 - min(max(r, 0.0), 0.9999)) / (1.0 + max(r, 0.0))
    return total
