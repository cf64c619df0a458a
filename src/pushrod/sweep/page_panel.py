"""Panels of the page of a study, as plain data for its script (`template/sweep.js`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.report.number import number, unit_text
from pushrod.sweep.attained import Sets
from pushrod.sweep.findings import Findings
from pushrod.sweep.histogram import Bins
from pushrod.sweep.number import Column, Number
from pushrod.sweep.over_two import Map
from pushrod.sweep.pass_rate import interval

Panel = dict[str, Any]
ROUGH = 24  # bins of a share: fewer than of a histogram, so that each holds enough samples


def histogram_panel(one: Number, found: Findings) -> Panel:
    judged = found.share is not None
    limits = [edge for b in found.results.bounds if b.metric == one.column.name for edge in (b.low, b.high) if np.isfinite(edge)]
    lo, hi = (one.bins.edges[0], one.bins.edges[-1]) if len(one.bins.edges) else (np.nan, np.nan)
    return {
        "type": "histogram",
        **_named(one),
        "judged": judged,
        "passed": (one.passed if judged else one.runs).sum(axis=0).tolist(),
        "failed": (one.runs - one.passed).sum(axis=0).tolist(),
        "limits": [edge for edge in limits if lo <= edge <= hi],
    }


def share_panel(one: Number, rows: int = 1) -> Panel:
    one = _rough(one)
    lo, hi = interval(one.passed, one.runs, rows)
    samples, passed = one.runs.sum(axis=0), one.passed.sum(axis=0)
    seen = samples > 0
    share = np.where(seen, passed / np.maximum(samples, 1), np.nan)
    return {
        "type": "share",
        **_named(one),
        "count": samples.tolist(),
        "share": _finite(share),
        "lo": _finite(np.where(seen, lo, np.nan)),
        "hi": _finite(np.where(seen, hi, np.nan)),
    }


def map_panel(one: Map) -> Panel:
    metric = None if one.metric is None else {"name": one.metric.name, "unit": unit_text(one.metric.unit)}
    return {
        "type": "map",
        "x": _named(one.x),
        "y": _named(one.y),
        "metric": metric,
        "count": one.runs.tolist(),
        "mean": [_finite(row) for row in one.mean],
    }


def sets_panel(one: Sets) -> Panel:
    cells = [[None if c is None else {"x": c.x.round(4).tolist(), "y": c.y.round(4).tolist(), "share": c.share} for c in line] for line in one.cells]
    drawn = [c for line in one.cells for c in line if c is not None]
    ranges = [_around([getattr(c, side) for c in drawn]) for side in "xy"]
    axes = [
        {"name": name, "unit": unit_text(unit), "range": span}
        for name, unit, span in zip((one.wanted.across, one.wanted.up), one.wanted.units, ranges, strict=True)
    ]
    return {
        "type": "sets",
        "across": axes[0],
        "up": axes[1],
        "columns": one.columns.tolist(),
        "columnsOf": one.wanted.columns,
        "rows": one.rows.tolist(),
        "rowsOf": one.wanted.rows,
        "cells": cells,
    }


def _around(values: list[NDArray[np.float64]]) -> list[float]:
    lo, hi = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    room = 0.06 * (hi - lo) or 1.0
    return [lo - room, hi + room]


def _named(one: Number) -> Panel:
    return {"name": one.column.name, "unit": unit_text(one.column.unit), "bins": _bins(one.bins, one.column)}


def _bins(bins: Bins, column: Column) -> Panel:
    if not len(bins.values):
        return {"edges": bins.edges.tolist(), "beyond": list(bins.beyond)}
    return {"names": [column.called(value) if column.names else number(value, 4) for value in bins.values]}


def _rough(one: Number) -> Number:
    """Neighbouring bins put together."""
    n = one.bins.n
    if len(one.bins.values) or n <= ROUGH:
        return one
    by = -(-n // ROUGH)
    starts = np.arange(0, n, by)
    edges = np.append(one.bins.edges[:-1][starts], one.bins.edges[-1])
    runs, passed = (np.add.reduceat(counts, starts, axis=1) for counts in (one.runs, one.passed))
    return one._replace(bins=one.bins._replace(edges=edges), runs=runs, passed=passed)


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
