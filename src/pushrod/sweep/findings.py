"""All that is found in the results of a study; page and --json take it from here.

One run is one line of the results. A sample is one machine, as drawn; it is run in each scenario, and passes if it passes in all of them: the yield
counts samples. Everything else counts runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.attained import Sets
from pushrod.sweep.influence import Influence, influences, ranked
from pushrod.sweep.number import Array, Column, Number, number
from pushrod.sweep.over_two import Map, maps
from pushrod.sweep.pass_rate import Share, share
from pushrod.sweep.worst import Bound, Margins, margins, worst

RANKED = 1_000_000  # runs: of more, so many are taken by chance to find out what matters
PASSING = ""  # as that on which parameters have influence; metrics have names
MARGIN = " "  # kept to put parameters in order where all runs pass, or none


@dataclass(frozen=True)
class Results:
    """The results of a study, as columns: `index`, `sample`, `scenario` (its number), `passed`, and those named here."""

    study: str
    folder: str
    facts: tuple[tuple[str, str], ...]  # what was run, in words
    scenarios: tuple[str, ...]
    parameters: tuple[Column, ...]
    metrics: tuple[Column, ...]
    bounds: tuple[Bound, ...]
    runs: int  # that the study asks for; there may be fewer
    is_sample: bool  # drawn, not a grid
    column: Callable[[str], NDArray[np.generic]]
    notes: tuple[str, ...] = ()
    sets: Sets | None = None

    def values(self, name: str) -> Array:
        return np.asarray(self.column(name), dtype=np.float64)


class Missed(NamedTuple):
    """How many runs miss a criterion, and how many miss no other one."""

    bound: Bound
    runs: int
    alone: int


class Worst(NamedTuple):
    run: int
    sample: int
    scenario: str
    margin: float
    bound: Bound
    values: dict[str, float]  # of all metrics
    drawn: dict[str, float]  # of all parameters


@dataclass(frozen=True)
class Findings:
    results: Results
    found: int  # runs
    samples: int
    share: Share | None  # None where nothing says what passes
    by_scenario: tuple[tuple[str, Share], ...]
    missed: tuple[Missed, ...]
    metrics: tuple[Number, ...]
    parameters: tuple[Number, ...]  # those that vary, the most important first
    constants: tuple[Number, ...]  # those of one value
    influence: dict[str, dict[str, Influence]]  # on what, of which parameter
    ranked_of: int  # runs that says so
    maps: tuple[Map, ...]
    worst: tuple[Worst, ...]


def find(results: Results) -> Findings:
    passed = np.asarray(results.column("passed"), dtype=np.bool_)
    scenario = np.asarray(results.column("scenario"))
    judged = bool(results.bounds)
    metrics = [number(one, results.values(one.name), passed, _limits(results, one.name)) for one in results.metrics]
    drawn = [number(one, results.values(one.name), passed) for one in results.parameters]
    parameters = [one for one in drawn if one.varies]
    told = _margins(results, metrics, scenario) if judged else None
    influence = _influence(results, parameters, passed, told)
    parameters.sort(key=lambda one: -_weight(influence, one.column.name))
    influence.pop(MARGIN, None)
    samples, all_pass = _by_sample(np.asarray(results.column("sample"), dtype=np.int64), passed)
    return Findings(
        results=results,
        found=len(passed),
        samples=samples,
        share=share(all_pass, samples) if judged else None,
        by_scenario=tuple((name, _share_of(passed[scenario == i])) for i, name in enumerate(results.scenarios)) if judged else (),
        missed=_missed(results, scenario) if judged else (),
        metrics=tuple(metrics),
        parameters=tuple(parameters),
        constants=tuple(one for one in drawn if not one.varies),
        influence=influence,
        ranked_of=min(len(passed), RANKED),
        maps=tuple(maps(parameters, results.metrics, results.values, passed, judged)),
        worst=_worst(results, told) if told is not None else (),
    )


def _limits(results: Results, metric: str) -> tuple[float, ...]:
    return tuple(edge for b in results.bounds if b.metric == metric for edge in (b.low, b.high) if np.isfinite(edge))


def _margins(results: Results, metrics: Sequence[Number], scenario: NDArray[np.generic]) -> Margins:
    judged = {b.metric: results.values(b.metric) for b in results.bounds}
    return margins(results.bounds, judged, {one.column.name: one.spread for one in metrics}, scenario)


def _by_sample(sample: NDArray[np.int64], passed: NDArray[np.bool_]) -> tuple[int, int]:
    """How many samples there are, and how many passed wherever they were run."""
    there = np.bincount(sample) > 0
    failed = np.bincount(sample[~passed], minlength=len(there)) > 0
    return int(there.sum()), int((there & ~failed).sum())


def _share_of(passed: NDArray[np.bool_]) -> Share:
    return share(int(passed.sum()), len(passed))


def _influence(results: Results, parameters: Sequence[Number], passed: NDArray[np.bool_], told: Margins | None) -> dict[str, dict[str, Influence]]:
    rows = _rows(results, len(passed))
    names = [one.column.name for one in parameters]
    drawn = [[ranked(x[some]) for some in rows] for x in map(results.values, names)]

    def on(y: Array) -> dict[str, Influence]:
        return dict(zip(names, influences(drawn, [y[some] for some in rows], results.is_sample), strict=True))

    judged = {} if told is None else {PASSING: on(passed.astype(np.float64)), MARGIN: on(told.margin)}
    return judged | {one.name: on(results.values(one.name)) for one in results.metrics}


def _rows(results: Results, n: int) -> list[NDArray[np.int64]]:
    """The runs of each scenario; where there are too many, those of the same samples in each, taken by chance."""
    scenario = np.asarray(results.column("scenario"))
    rows = [np.flatnonzero(scenario == i) for i in range(len(results.scenarios))]
    most = RANKED // len(rows)
    return rows if n <= RANKED else [some[np.sort(np.random.default_rng(0).choice(len(some), min(most, len(some)), replace=False))] for some in rows]


def _weight(influence: Mapping[str, Mapping[str, Influence]], name: str) -> float:
    """By what decides over passing; where all pass, or none, by what moves the margin; without criteria by what moves any metric most."""
    for on in (PASSING, MARGIN):
        if on in influence and any(np.isfinite(one.S) for one in influence[on].values()):
            return influence[on][name].weight
    return max((of[name].weight for of in influence.values()), default=0.0)


def _missed(results: Results, scenario: NDArray[np.generic]) -> tuple[Missed, ...]:
    fails = np.stack([~bound.holds(results.values(bound.metric), scenario) for bound in results.bounds])
    alone = fails.sum(axis=0) == 1
    return tuple(Missed(b, int(f.sum()), int((f & alone).sum())) for b, f in zip(results.bounds, fails, strict=True))


def _worst(results: Results, told: Margins) -> tuple[Worst, ...]:
    rows = worst(told.margin)
    columns = {one.name: results.values(one.name)[rows] for one in (*results.metrics, *results.parameters)}
    index, sample, scenario = (np.asarray(results.column(name))[rows] for name in ("index", "sample", "scenario"))
    return tuple(
        Worst(
            run=int(index[i]),
            sample=int(sample[i]),
            scenario=results.scenarios[int(scenario[i])],
            margin=float(told.margin[row]),
            bound=results.bounds[int(told.by[row])],
            values={one.name: float(columns[one.name][i]) for one in results.metrics},
            drawn={one.name: float(columns[one.name][i]) for one in results.parameters},
        )
        for i, row in enumerate(rows)
    )
