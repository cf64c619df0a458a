"""What the page draws, as plain data for its script: panels of lines over time with bands and marks behind them, ways, and bars.

Numbers go as float32, thinned to what a screen can show; figures are never made of these.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from pushrod.report.logged import Array, Logged
from pushrod.report.number import quantity, unit_text
from pushrod.report.pipeline import CAUSES, Axis
from pushrod.report.role import WORDS
from pushrod.report.thinning import BINS, peaks, thin
from pushrod.report.timing import Loop
from pushrod.report.tracking import Following, Span
from pushrod.report.way import Way, end_labels, heading_marks

Panel = dict[str, Any]
COARSE = 500  # bins of a channel that is only drawn when asked for


class Drawing:
    """Collects panels, and the arrays they share."""

    def __init__(self, names: Sequence[str], span: Span) -> None:
        self.names = list(names)
        self.span = span
        self.arrays: list[dict[str, str]] = []
        self.panels: list[Panel] = []
        self.most = 0  # samples of the longest channel that was thinned where it is always drawn
        self.coarse = False  # whether one was that is drawn when asked for
        self._known: dict[tuple[int, int, int], int] = {}
        self._lines: dict[tuple[int, str, int], tuple[int, int]] = {}
        self._held: list[Array] = []  # what is known by its place in memory stays there

    def add(self, panel: Panel) -> int:
        self.panels.append(panel)
        return len(self.panels) - 1

    def data(self) -> dict[str, Any]:
        return {"runs": self.names, "span": self.span, "arrays": self.arrays, "panels": self.panels}

    def line(self, log: Logged, run: int, name: str, part: str, bins: int = BINS) -> dict[str, Any]:
        """A channel as a line: label, part, and where its numbers are."""
        key = (run, name, bins)
        if key not in self._lines:
            channel = log.channels[name]
            x, y = thin(channel.t, channel.values, bins)
            if len(x) < len(channel):
                self.most = max(self.most, len(channel) if bins == BINS else 0)
                self.coarse = self.coarse or bins == COARSE
            self._lines[key] = (self.times(x), self.array(y))
        x_at, y_at = self._lines[key]
        role = part if part in WORDS else ""
        return {"label": name, "part": part, "role": role, "run": run, "x": x_at, "y": y_at, "unit": unit_text(log.unit(name))}

    def times(self, t: Array) -> int:
        """Channels of one topic share their times, also here. float32 where it tells them apart."""
        key = (t.__array_interface__["data"][0], len(t), t.strides[0])
        if key not in self._known:
            self._held.append(t)
            gaps = np.diff(t)
            least = float(np.min(gaps[gaps > 0.0], initial=np.inf))
            fits = float(np.max(np.abs(t - t.astype(np.float32)), initial=0.0)) < 0.05 * least
            self._known[key] = self.array(t, "f4" if fits else "f8")
        return self._known[key]

    def array(self, y: Array, kind: str = "f4") -> int:
        with np.errstate(over="ignore"):
            made = y.astype(f"<{kind}")
        made[~np.isfinite(made)] = np.nan
        self.arrays.append({"kind": kind, "data": base64.b64encode(made.tobytes()).decode()})
        return len(self.arrays) - 1


def follow_panel(drawing: Drawing, runs: Sequence[tuple[int, Logged, Following]], bands: Sequence[dict[str, Any]]) -> Panel:
    lines = [drawing.line(log, run, name, part) for run, log, one in runs for part, name in one.lines]
    first = runs[0][2]
    return {"type": "time", "unit": unit_text(first.unit), "lines": lines} | behind(first, runs[0][1], bands)


def behind(one: Following, log: Logged, bands: Sequence[dict[str, Any]]) -> Panel:
    """What is drawn behind the lines of a pair: bands, limits that are near, the largest step."""
    held = [{"kind": "saturated", "label": "at a limit", "spans": one.saturated}] if one.saturated else []
    levels = [bound for bound in (one.pair.low, one.pair.high) if bound is not None and _comes_near(log, one, bound)]
    mark = _step_mark(one)
    return {"bands": [*bands, *held], "levels": levels, "steps": [] if mark is None else [mark]}


@np.errstate(all="ignore")
def _comes_near(log: Logged, one: Following, bound: float) -> bool:
    """Whether a limit is worth the room: one that is far off would press the curves flat."""
    sides = [(float(np.nanmin(y)), float(np.nanmax(y))) for _, name in one.lines if np.isfinite(y := log.channels[name].values).any()]
    low, high = min(a for a, _ in sides), max(b for _, b in sides)
    return low - 0.3 * (high - low) <= bound <= high + 0.3 * (high - low)


def _step_mark(one: Following) -> dict[str, Any] | None:
    if one.step is None:
        return None
    told = one.response
    t0 = float(one.t[one.step.first])
    texts = [
        f"rise {quantity(told.rise_time, 's')}" if told.rise_time is not None else "",
        f"overshoot {100.0 * told.overshoot:.1f} %" if told.overshoot and told.overshoot >= 5e-4 else "",
        f"settled after {quantity(told.settling_time, 's')}" if told.settling_time is not None else "",
    ]
    text = ", ".join(filter(None, texts))
    text = f"step at {quantity(t0, 's', 4)}: {text}" if text else ""
    settled = None if told.settling_time is None else t0 + told.settling_time
    return {"from": t0, "to": float(one.t[one.step.last]), "goal": one.step.goal, "settled": settled, "text": text}


def stage_panel(drawing: Drawing, runs: Sequence[tuple[int, Logged, Axis]], bands: Sequence[dict[str, Any]]) -> Panel:
    parts = {"req": "request", "cmd": "command", "alloc": "allocated", "ach": "achieved"}
    lines = [drawing.line(log, run, name, parts[stage]) for run, log, axis in runs for stage, name in axis.stages.items()]
    return {"type": "time", "unit": unit_text(runs[0][2].unit), "lines": lines, "bands": list(bands)}


def loss_panel(drawing: Drawing, run: int, log: Logged, axis: Axis) -> Panel:
    """|loss| of each cause, stacked: how much was lost in all, and where."""
    lines = []
    for loss in axis.losses:
        i = CAUSES.index(loss.cause) if loss.cause in CAUSES else len(CAUSES)  # a cause has one colour on all axes and in both runs
        channel = log.channels[loss.signal]
        t, y = peaks(channel.t, np.abs(channel.values))
        label = loss.cause.replace("_", " ")
        lines.append({"label": label, "part": f"series-{i}", "run": run, "x": drawing.times(t), "y": drawing.array(y), "unit": unit_text(axis.unit)})
    return {"type": "stack", "unit": unit_text(axis.unit), "lines": lines, "bands": []}


@np.errstate(all="ignore")
def way_panel(drawing: Drawing, runs: Sequence[tuple[int, Logged, Way]]) -> Panel:
    ways = []
    for run, log, way in runs:
        at = _spread(log.channels[way.across].values, log.channels[way.up].values)
        t = log.channels[way.across].t[at]
        x, y = (log.channels[name].values[at] for name in (way.across, way.up))
        made: dict[str, Any] = {
            "run": run,
            "t": drawing.times(t),
            "x": drawing.array(x),
            "y": drawing.array(y),
            "ends": ("", "") if run else end_labels(x, y),
        }
        if way.heading is not None:
            px, py, psi = heading_marks(log, way)
            made["marks"] = [drawing.array(px), drawing.array(py), drawing.array(psi)]
        if way.desired is not None and run == 0:
            made["desired"] = [drawing.array(log.channels[name].values[:: max(1, len(log.channels[name]) // 4000)]) for name in way.desired]
        ways.append(made)
    first = runs[0][2]
    return {"type": "way", "across": first.across, "up": first.up, "ways": ways}


def _spread(x: Array, y: Array) -> np.ndarray[Any, Any]:
    """Which samples of a way to draw: as far apart along it as they can be, and those where it does not move a few times."""
    n = len(x)
    if n <= 2 * BINS:
        return np.arange(n)
    gone = np.concatenate(([0.0], np.cumsum(np.nan_to_num(np.hypot(np.diff(x), np.diff(y))))))
    along = np.searchsorted(gone, np.linspace(0.0, gone[-1], BINS)).clip(0, n - 1)
    return np.unique(np.concatenate((along, np.linspace(0, n - 1, BINS).astype(int))))


def timing_panel(runs: Sequence[tuple[int, Loop]]) -> Panel:
    edges = sorted({edge for _, loop in runs for edge, _ in loop.bins})
    bars = [{"run": run, "counts": [dict(loop.bins).get(edge, 0) for edge in edges]} for run, loop in runs]
    return {"type": "bars", "edges": edges, "bars": bars}


def plain_panel(drawing: Drawing, runs: Sequence[tuple[int, Logged]], names: Sequence[str], bands: Sequence[dict[str, Any]]) -> Panel:
    """Channels of one unit side by side, where nobody says what belongs together."""
    lines = [drawing.line(log, run, name, f"series-{i % 8}") for run, log in runs for i, name in enumerate(names) if name in log.channels]
    return {"type": "time", "unit": lines[0]["unit"], "lines": lines, "bands": list(bands)}
