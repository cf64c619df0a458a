"""How well a model foretells a condition that it was not fitted to: each condition of the recordings is left out in turn.

A condition is a value of what is known of the recordings (one gain, one load, one kind of trajectory), as far as several have it in common; where
nothing is known, each recording is one, and of a single recording each of a few parts, one after another. Without one of them the model is fitted
again from where it ended with all, by least squares alone, and its mean absolute error on that condition is what counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.descent import ROUGH, descend
from pushrod.identify.experiment import Trial
from pushrod.identify.problem import Problem
from pushrod.identify.uninformed import uninformed_at_guess

Array = NDArray[np.float64]
PARTS = 5  # of a single recording
STEPS = 12  # of a descent from where the fit with all ended, which is near


@dataclass(frozen=True)
class Fold:
    """A condition: its name, and which recordings are of it; `part` of PARTS where it is a part of a single one."""

    name: str
    logs: frozenset[int]
    part: int | None = None


def folds(conditions: Sequence[Mapping[str, str]], names: Sequence[str]) -> list[Fold]:
    """The conditions that can be left out, from what is known of each recording. Those that mean the same recordings are one."""
    n = len(conditions)
    if n == 1:
        return [Fold(f"part {part + 1} of {PARTS}", frozenset((0,)), part) for part in range(PARTS)]
    made: dict[frozenset[int], Fold] = {}
    for key in dict.fromkeys(key for one in conditions for key in one):
        groups: dict[str, set[int]] = {}
        for i, one in enumerate(conditions):
            groups.setdefault(one.get(key, ""), set()).add(i)
        if 1 < len(groups) < n:
            for value, logs in groups.items():
                made.setdefault(frozenset(logs), Fold(f"{key} {value}", frozenset(logs)))
    return list(made.values()) or [Fold(name, frozenset((i,))) for i, name in enumerate(names)]


def left_out_errors(problem: Problem, z: Array, every: Sequence[Fold]) -> dict[str, float]:
    """Of each condition: the mean absolute error of a fit without it, over its recordings; of several outputs the mean, each by its noise."""
    return {fold.name: _error(problem, z, fold) for fold in every}


def _error(problem: Problem, z: Array, fold: Fold) -> float:
    trials = [_without_part(one, fold.part) if fold.part is not None else one for one in problem.trials]
    kept = trials if fold.part is not None else [one for i, one in enumerate(trials) if i not in fold.logs]
    ranges = {f.path: (f.lo, f.hi) for f in problem.parameters}
    how = {name: getattr(problem, name) for name in ("params", "noise", "loss", "loss_scale", "device")}
    fitted = Problem(problem.world, kept, ranges, **how)
    near, _ = descend(fitted, z, tolerance=ROUGH, most=STEPS)
    again = uninformed_at_guess(fitted, near, ROUGH, STEPS)  # what only the others could have told is not known here
    judge = Problem(problem.world, [trials[i] for i in sorted(fold.logs)], ranges, **how)
    noise = problem.noise if len(problem.paths) > 1 else dict.fromkeys(problem.paths, 1.0)
    found = []
    for one, errors in zip(judge.trials, judge.errors(again), strict=True):
        use = {path: one.outputs[path].held_out if fold.part is not None else slice(None) for path in problem.paths}
        found.append(np.mean([np.mean(np.abs(errors[path][use[path]])) / noise[path] for path in problem.paths]))
    return float(np.mean(found))


def _without_part(one: Trial, part: int) -> Trial:
    first, last = (one.steps * (part + k) / PARTS for k in (0, 1))
    return replace(one, outputs={path: replace(seen, held_out=(seen.k >= first) & (seen.k < last)) for path, seen in one.outputs.items()})
