"""The results of a study as they lie in a folder, told in words and columns."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import StudyError
from pushrod.core.quantity import Choice
from pushrod.report.number import whole
from pushrod.sweep import parts
from pushrod.sweep.attained import Sets, sets
from pushrod.sweep.case import targets
from pushrod.sweep.findings import Results
from pushrod.sweep.number import Column
from pushrod.sweep.one import one
from pushrod.sweep.study import Study
from pushrod.sweep.varying import KINDS
from pushrod.sweep.worst import Bound

if TYPE_CHECKING:
    import polars as pl

DESIGNS = {"random": "random", "lhs": "Latin hypercube", "sobol": "Sobol sequence", "saltelli": "Saltelli", "grid": "grid"}


def results(folder: Path, *, trust: bool = False) -> Results:
    """StudyError where there are none, or where a part is not as it was written. `trust`: import the Python file of a world in the folder."""
    study = parts.study_of(folder, trust=trust)
    frame, devices = _read(folder, study)
    if not len(frame):
        raise StudyError(f"{folder}: no run of the study {study.name} is there yet; compute some with `pushrod sweep`")

    def column(name: str) -> NDArray[Any]:
        return np.asarray(frame[name].to_physical().to_numpy())

    return Results(
        study=study.name,
        folder=str(folder),
        facts=tuple(_facts(study, len(frame), devices)),
        scenarios=tuple(case.name for case in study.cases),
        parameters=tuple(parameters(study)),
        metrics=tuple(Column(name, e.unit, str(e)) for name, e in study.metrics.items()),
        bounds=tuple(Bound(c.metric, c.low, c.high, c.scenario) for c in study.criteria),
        runs=study.n,
        design=study.design,
        column=column,
        notes=study.notes,
        sets=_attained(study, column) if study.attained is not None else None,
        rows=study.rows,
        factors=tuple(f for f, item in enumerate(study.vary) for _ in item.paths),
    )


def _read(folder: Path, study: Study) -> tuple["pl.DataFrame", list[str]]:
    import polars as pl

    try:
        found = [parts.read_part(file, study, k) for k, file in parts.part_files(folder).items()]
    except StudyError as e:
        raise StudyError(f"{e}; `pushrod sweep` of this study into this folder computes it again") from e
    frame = pl.concat([frame for frame, _ in found], rechunk=True) if found else pl.DataFrame()
    return frame, list(dict.fromkeys(str(about["device"]) for _, about in found))


def _facts(study: Study, runs: int, devices: list[str]) -> Iterator[tuple[str, str]]:
    yield "Question", study.about
    yield "Machine", study.machine.name
    yield "Scenario" + ("s" if len(study.cases) > 1 else ""), ", ".join(case.name for case in study.cases)
    yield "Runs", f"{whole(runs)} of {sum(case.scenario.steps for case in study.cases) // len(study.cases)} ticks each"
    yield "Design", DESIGNS[study.design] + ("" if study.design == "grid" else f", seed {study.seed}")
    yield "Computed on", f"{', '.join(devices)}, {study.dtype}"
    yield "Digest", study.digest[:12]


def parameters(study: Study) -> Iterator[Column]:
    """All that is drawn, in the order of the study."""
    known = targets([case.scenario for case in study.cases])
    given, units = study.document.data["vary"], study.units
    for item, said in zip(study.vary, given.values(), strict=True):
        for path in item.paths:
            meta = known[path].meta
            yield Column(path, units[path], drawn_as(said), tuple(meta.names) if isinstance(meta, Choice) else ())


def drawn_as(entry: Mapping[str, Any]) -> str:
    """A distribution as the study says it, in words."""
    if "fit" in entry:
        return f"by the errors of {entry['fit']}" + (f", {entry['scale']} times as large" if "scale" in entry else "")
    if "correlated" in entry:
        return "normal, correlated"
    kind, said = next((key, value) for key, value in entry.items() if key in KINDS)
    if kind == "normal":
        return "normal, " + ", ".join(f"{key} {value}" for key, value in said.items())
    if kind == "discrete":
        of = ", ".join(_plain(value) for value in said)
        return of if len(said) == 1 else f"one of {of}" + (f", weighed {', '.join(map(str, entry['weights']))}" if "weights" in entry else "")
    return f"{kind.replace('_', '-')}, {' … '.join(map(_plain, said))}"


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _attained(study: Study, column: Any) -> Sets:
    wanted = study.attained
    assert wanted is not None

    def signals(index: int) -> tuple[Any, Any]:
        run = one(study, index).simulate()
        return run.t, run.columns

    return sets(wanted, column("index"), column(wanted.columns), column(wanted.rows), signals)
