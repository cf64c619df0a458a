"""A chunk of a study: what is computed together, kept together, and lost and redone together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError, ParameterError
from pushrod.sweep.case import INITIAL, Case
from pushrod.sweep.counter import Numbers
from pushrod.sweep.draw import draw
from pushrod.sweep.saltelli import streams
from pushrod.sweep.study import Study

Column = NDArray[Any]


@dataclass(frozen=True)
class Chunk:
    """Rows by their index. `columns`: index, sample, scenario (its number), every varied parameter, every metric, passed."""

    k: int
    columns: dict[str, Column]
    device: str
    seconds: float = 0.0  # inside the compiled time loop

    @property
    def n(self) -> int:
        return len(self.columns["index"])

    @property
    def passed(self) -> int:
        return samples_passed(self.columns["passed"], self.columns["scenario"])


def samples_passed(passed: Column, scenario: Column) -> int:
    """Samples that pass in every scenario, of rows in the order of their index: whole samples, one scenario after the other."""
    cases = int(scenario.max(initial=0)) + 1
    return int(np.count_nonzero(passed.reshape(-1, cases).all(axis=1)))


def run_chunk(study: Study, k: int, device: str = "cpu", threads: int | None = None) -> Chunk:
    """Chunk k, from nothing but the study: equal bits on the same kind of device, whoever computes it."""
    if not 0 <= k < study.chunks:
        raise InputError(f"chunk {k}; the study {study.name} has the chunks 0 to {study.chunks - 1}")
    first, last = study.span(k)
    return run_samples(study, first, last, k, device, threads)


def run_samples(study: Study, first: int, last: int, k: int = -1, device: str = "cpu", threads: int | None = None) -> Chunk:
    """Samples first ... last-1 in every scenario."""
    drawn, cases = draw(study, first, last), len(study.cases)
    sample = np.repeat(np.arange(first, last, dtype=np.int64), cases)
    scenario = np.tile(np.arange(cases, dtype=np.int64), last - first)
    columns: dict[str, Column] = {"index": sample * cases + scenario, "sample": sample, "scenario": scenario}
    columns |= {path: np.repeat(values, cases) for path, values in drawn.items()}
    metrics = {name: np.empty((last - first, cases), study.dtype) for name in study.measures}
    seconds = 0.0
    for number, case in enumerate(study.cases):
        for part, instance in streams(study, first, last):
            try:
                run = _batch(study, case, {path: values[part] for path, values in drawn.items()}, instance, device, threads)
            except ParameterError as e:
                line = study.document.line(("vary",))
                where = f"{study.document.file}:{line}: vary: among samples {first} to {last - 1}, in the scenario {case.name}"
                raise ParameterError([f"{where}: {problem}" for problem in e.problems]) from e
            seconds += run.seconds
            for name, values in metrics.items():
                values[part, number] = run.metrics[name]
    columns |= {name: values.reshape(-1) for name, values in metrics.items()}
    columns["passed"] = passed(study, columns)
    return Chunk(k, columns, device, seconds)


def _batch(study: Study, case: Case, drawn: dict[str, Numbers], instance: int, device: str, threads: int | None) -> Any:
    from pushrod.compiled.rollout import batch

    states = {path.removeprefix(INITIAL): values for path, values in drawn.items() if path.startswith(INITIAL)}
    return batch(
        case.world,
        case.params,
        case.inputs,
        steps=case.scenario.steps,
        dt=case.scenario.dt,
        vary={path: values for path, values in drawn.items() if not path.startswith(INITIAL)},
        vary_state=states,
        n=len(next(iter(drawn.values()))),
        state=case.state,
        seed=case.seed,
        instance=instance,
        outputs=(),  # what no metric looks at need not be worked out
        metrics=study.measures,
        dtype=study.dtype,
        device=device,
        threads=threads,
    )


def passed(study: Study, columns: dict[str, Column]) -> NDArray[np.bool_]:
    """Which runs keep all criteria; a metric that is no number keeps none. Where nothing is asked, all do."""
    found = np.ones(len(columns["index"]), bool)
    for c in study.criteria:
        held = (columns[c.metric] >= c.low) & (columns[c.metric] <= c.high)
        found &= held if c.scenario is None else held | (columns["scenario"] != c.scenario)
    return found
