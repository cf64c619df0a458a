"""Fit again with one more effect (a constant on outputs, or states that start where they were measured): what that lowers the loss by.

Parameters that are free absorb an offset or another initial state, so that little of it is left in the residuals. A fit that has the effect shows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import PushrodError
from pushrod.core.record import get, numbers
from pushrod.identify.descent import ROUGH, descend
from pushrod.identify.experiment import Trial
from pushrod.identify.problem import Problem

Array = NDArray[np.float64]
MOST = 30  # evaluations of one descent
DIFFERS = 1e-3  # of the span of an output: a smaller difference of an initial state is none


class Alternative(NamedTuple):
    """`loss` is the sum of rho of the weighted residuals; `offsets` by number of the log and output."""

    loss: float
    offsets: Mapping[tuple[int, str], float]


def with_offsets(problem: Problem, z: Array, paths: Sequence[str]) -> Alternative | None:
    """Return the fit with a constant on these outputs besides; None where there is no such fit."""
    return _refitted(problem, z, problem.trials, (*problem.offsets, *paths))


def with_measured_start(problem: Problem, z: Array) -> Alternative | None:
    """Return the fit whose states start where they were measured; None where no state differs, or there is no such fit."""
    if not any(differing_states(problem, i) for i in range(len(problem.trials))):
        return None
    trials = [replace(one, start={**one.start, **differing_states(problem, i)}) for i, one in enumerate(problem.trials)]
    return _refitted(problem, z, trials, problem.offsets)


def state_of(problem: Problem, path: str) -> str | None:
    """Return the state that an output shows, by its name."""
    states = [leaf.path for leaf in numbers(problem.world.State)]
    return next((state for state in states if state == path or state.endswith(f".{path}")), None)


def differing_states(problem: Problem, i: int) -> dict[str, float]:
    """Return the states that outputs of a log show, with their first measured values, where the model starts elsewhere."""
    one, found = problem.trials[i], {}
    free = {f.path for f in problem.extra if f.of == "start" and f.trial == i}
    for path in problem.paths:
        state = state_of(problem, path)
        if state is None or state in one.start or state in free or path not in one.used:
            continue
        value = first_value(one, path)
        if abs(value - float(get(problem.world.State(), state))) > DIFFERS * one.outputs[path].span:
            found[state] = value
    return found


def first_value(one: Trial, path: str) -> float:
    """Return an output where the trial starts."""
    return float(np.interp(one.t0, one.used[path].t, one.used[path].values))


def _refitted(problem: Problem, z: Array, trials: Sequence[Trial], offsets: Sequence[str]) -> Alternative | None:
    ranges = {f.path: (f.lo, f.hi) for f in problem.parameters}
    starts = {f.path: (f.lo, f.hi) for f in problem.extra if f.of == "start"}
    same: dict[str, Any] = {name: getattr(problem, name) for name in ("params", "noise", "loss", "loss_scale", "device", "threads")}
    try:
        other = Problem(problem.world, trials, ranges, offsets=offsets, starts=starts, **same)
        here, known = other.guess, {(f.of, f.path, f.trial): x for f, x in zip(problem.free, z, strict=True)}
        for j, f in enumerate(other.free):
            here[j] = known.get((f.of, f.path, f.trial), here[j])
        ends = [descend(other, start, tolerance=ROUGH, most=MOST) for start in (here, other.guess)]
    except (PushrodError, ValueError):  # a start that the model cannot have
        return None
    z, loss = min(ends, key=lambda end: end[1])
    values = {(f.trial or 0, f.path): float(f.value(x)) for f, x in zip(other.free, z, strict=True) if f.of == "offset"}
    return Alternative(loss, values)
