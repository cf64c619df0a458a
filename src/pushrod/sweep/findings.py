"""All that is found in the results of a study; page and --json take it from here.

One run is one line of the results. A sample is one machine, as drawn; it is run in each scenario, and passes if it passes in all of them: the yield,
where it passes and what decides over it count samples. Metrics, criteria and the worst runs count runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.attained import Sets
from pushrod.sweep.design import EVEN, replicates
from pushrod.sweep.influence import Influence, influences, ranked
from pushrod.sweep.number import Array, Column, Counts, Number, number
from pushrod.sweep.over_two import Map, maps
from pushrod.sweep.pass_rate import Share, share
from pushrod.sweep.total import totals
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
    design: str
    column: Callable[[str], NDArray[np.generic]]
    notes: tuple[str, ...] = ()
    sets: Sets | None = None
    rows: int = 1  # samples of a base point: see `saltelli`
    factors: tuple[int, ...] = ()  # of each parameter: its factor in a Saltelli design

    @property
    def is_sample(self) -> bool:
        """Whether samples are drawn: a grid is no sample."""
        return self.design != "grid"

    @property
    def replicates(self) -> int:
        """Independent parts of the design, of which errors are found."""
        return replicates(self.runs // len(self.scenarios) // self.rows)

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
    judged, cases = bool(results.bounds), len(results.scenarios)
    replicate = np.asarray(results.column("sample"), dtype=np.int64)[::cases] // results.rows % results.replicates
    independent = replicate if results.design in EVEN else np.zeros_like(replicate)  # parts of which the errors of shares are found
    all_pass = np.asarray(passed.reshape(-1, cases).all(axis=1))
    metrics = [number(one, results.values(one.name), passed, _limits(results, one.name)) for one in results.metrics]
    drawn = [number(one, results.values(one.name)[::cases], all_pass, (), independent) for one in results.parameters]
    parameters = [one for one in drawn if one.varies]
    told = _margins(results, metrics, scenario) if judged else None
    influence = _influence(results, parameters, replicate, all_pass, told)
    parameters.sort(key=lambda one: -_weight(influence, one.column.name))
    influence.pop(MARGIN, None)

    def share_of(fine: NDArray[np.bool_]) -> Share:
        parts = int(independent.max(initial=0)) + 1
        return share(np.bincount(independent[fine], minlength=parts), np.bincount(independent, minlength=parts), results.rows)

    return Findings(
        results=results,
        found=len(passed),
        samples=len(all_pass),
        share=share_of(all_pass) if judged else None,
        by_scenario=tuple((name, share_of(passed[i::cases])) for i, name in enumerate(results.scenarios)) if judged else (),
        missed=_missed(results, scenario) if judged else (),
        metrics=tuple(metrics),
        parameters=tuple(parameters),
        constants=tuple(one for one in drawn if not one.varies),
        influence=influence,
        ranked_of=min(len(passed), RANKED),
        maps=tuple(maps(parameters, results.metrics, results.values, all_pass, judged)),
        worst=_worst(results, told) if told is not None else (),
    )


def _limits(results: Results, metric: str) -> tuple[float, ...]:
    return tuple(edge for b in results.bounds if b.metric == metric for edge in (b.low, b.high) if np.isfinite(edge))


def _margins(results: Results, metrics: Sequence[Number], scenario: NDArray[np.generic]) -> Margins:
    judged = {b.metric: results.values(b.metric) for b in results.bounds}
    return margins(results.bounds, judged, {one.column.name: one.spread for one in metrics}, scenario)


def _influence(
    results: Results, parameters: Sequence[Number], replicate: Counts, all_pass: NDArray[np.bool_], told: Margins | None
) -> dict[str, dict[str, Influence]]:
    """On passing and on the margin by sample, on metrics by run: in each scenario, then put together."""
    cases = len(results.scenarios)
    some = _some(len(all_pass), RANKED // cases)
    names = [one.column.name for one in parameters]
    repeats = max(1.0, results.rows / 2)  # a base point of a Saltelli design has two values of each parameter
    drawn = [ranked(results.values(name)[::cases][some], replicate[some], results.replicates, repeats) for name in names]
    sample = np.asarray(results.column("sample"), dtype=np.int64)[::cases]
    factor = {one.name: f for one, f in zip(results.parameters, results.factors, strict=False)}

    def on(y: Sequence[Array]) -> dict[str, Influence]:
        found = influences([[one] * len(y) for one in drawn], [v[some] for v in y], results.is_sample)
        if results.rows > 1:
            of = totals(sample, y, results.rows, results.replicates)
            found = [one._replace(ST=of[factor[name]][0], ST_error=of[factor[name]][1]) for name, one in zip(names, found, strict=True)]
        return dict(zip(names, found, strict=True))

    judged = {}
    if told is not None:
        judged = {PASSING: on([all_pass.astype(np.float64)]), MARGIN: on([told.margin.reshape(-1, cases).min(axis=1)])}
    return judged | {one.name: on([results.values(one.name)[i::cases] for i in range(cases)]) for one in results.metrics}


def _some(samples: int, most: int) -> NDArray[np.int64]:
    """Return the samples of which indices are estimated: where there are too many, some taken by chance."""
    return np.arange(samples) if samples <= most else np.sort(np.random.default_rng(0).choice(samples, most, replace=False))


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
