"""All figures of a study as plain data: what `pushrod sweep report --json` prints, and what the page shows."""

from typing import Any

from pushrod.report.figure import finite
from pushrod.sweep.findings import Findings
from pushrod.sweep.histogram import QUANTILES
from pushrod.sweep.influence import Influence
from pushrod.sweep.number import Number
from pushrod.sweep.pass_rate import Share
from pushrod.sweep.worst import Bound


def figures(found: Findings) -> dict[str, Any]:
    results = found.results
    return {
        "study": results.study,
        "folder": results.folder,
        "runs": found.found,
        "runs_missing": results.runs - found.found,
        "samples": found.samples,
        "pass": None if found.share is None else _share(found.share),
        "scenarios": {name: _share(one) for name, one in found.by_scenario},
        "criteria": [_bound(one.bound) | {"missed": one.runs, "missed_alone": one.alone} for one in found.missed],
        "metrics": {one.column.name: _number(one) for one in found.metrics},
        "parameters": {one.column.name: _number(one) | {"drawn_as": one.column.about} for one in (*found.parameters, *found.constants)},
        "influence": {on or "pass": {path: _influence(one) for path, one in of.items()} for on, of in found.influence.items()},
        "worst": [
            {"run": one.run, "sample": one.sample, "scenario": one.scenario, "margin": finite(one.margin), "criterion": _bound(one.bound)}
            | {"metrics": {name: finite(v) for name, v in one.values.items()}, "parameters": one.drawn}
            for one in found.worst
        ],
        "attained": None
        if results.sets is None
        else {
            "columns": {results.sets.wanted.columns: results.sets.columns},
            "rows": {results.sets.wanted.rows: results.sets.rows},
            "area": [[None if cell is None else cell.share for cell in line] for line in results.sets.cells],
        },
        "notes": list(results.notes),
    }


def _share(one: Share) -> dict[str, Any]:
    return {"passed": one.passed, "of": one.of, "share": finite(one.value), "low": one.lo, "high": one.hi}


def _bound(one: Bound) -> dict[str, Any]:
    return {"metric": one.metric, "low": finite(one.low), "high": finite(one.high)}


def _number(one: Number) -> dict[str, Any]:
    s = one.spread
    made = {"unit": one.column.unit, "mean": s.mean, "sd": s.sd, "least": s.least, "most": s.most}
    return made | {"quantiles": {f"{q:g}": finite(v) for q, v in zip(QUANTILES, s.quantiles, strict=True)}, "never": s.never, "unknown": s.unknown}


def _influence(one: Influence) -> dict[str, Any]:
    return {key: finite(value) for key, value in one._asdict().items()}
