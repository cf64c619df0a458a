"""A request and what became of it: the signals to draw side by side, when a limit held it back, and the figures of its largest step."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.report.logged import Array, Logged
from pushrod.report.role import partner
from pushrod.sim import response
from pushrod.sim.response import Response, Step
from pushrod.sim.run import acting
from pushrod.sim.tracked import Tracked

Span = tuple[float, float]


class Following(NamedTuple):
    """A pair with all that is told of it. `lines` are (part, signal), in the order in which they are drawn, the last on top."""

    pair: Tracked
    unit: str
    lines: tuple[tuple[str, str], ...]
    response: Response
    step: Step | None
    t: Array
    dt: float
    saturated: tuple[Span, ...]

    @property
    def names(self) -> tuple[str, str]:
        return self.pair.request, self.pair.achieved


def followings(log: Logged, unarmed: tuple[Span, ...] = (), live: bool = False) -> tuple[Following, ...]:
    """What was asked of a live run while it was not armed, or of a loop that was not in charge, could not be followed, and is in no figure."""
    return tuple(_following(log, pair, unarmed, pair.when if live else ()) for pair in log.pairs)


def _following(log: Logged, pair: Tracked, unarmed: tuple[Span, ...], when: tuple[tuple[str, float], ...]) -> Following:
    t, r, a = log.pair(pair)
    sound = np.isfinite(r) & np.isfinite(a)
    t, r, a = t[sound], r[sound], a[sound]
    dt = _tick(log, pair, t)
    told = acting(pair, log.columns)
    told = None if told is None else told[sound]
    found, step = _respond(r, a, dt, pair, told, _parts(_in_charge(log, when, t), t, unarmed))
    held = response.saturated(a, dt, pair.low, pair.high, pair.rate, told) if len(t) else None
    return Following(pair, log.unit(pair.achieved), _lines(log, pair), found, step, t, dt, () if held is None else spans(t, held, dt))


NOTHING = Response(float("nan"), float("nan"), None, None, None, None, None)


def _respond(r: Array, a: Array, dt: float, pair: Tracked, told: NDArray[np.bool_] | None, parts: list[slice]) -> tuple[Response, Step | None]:
    """The figures of the parts that count: errors and limits of all of them, those of a step of the one with the largest."""
    found: list[tuple[slice, Response, Step | None]] = []
    for part in parts:
        if part.stop - part.start > 1 and dt > 0.0:
            answer = response.respond(r[part], a[part], dt, pair.low, pair.high, pair.rate, None if told is None else told[part])
            found.append((part, answer, response.largest_step(r[part], a[part], dt, answer.delay)))
    if not found:
        return NOTHING, None
    part, best, step = max(found, key=lambda one: (abs(one[2].goal - one[2].start) if one[2] is not None else -1.0, one[0].stop - one[0].start))
    if len(found) > 1:
        e = np.concatenate([r[one] - a[one] for one, _, _ in found])
        held = [answer.saturation_time for _, answer, _ in found if answer.saturation_time is not None]
        best = best._replace(
            error_rms=float(np.sqrt(np.mean(e * e))), error_max=float(np.max(np.abs(e))), saturation_time=sum(held) if held else None
        )
    if step is not None and part.start:
        step = step._replace(first=step.first + part.start, arrived=step.arrived + part.start, last=step.last + part.start)
    return best, step


def _in_charge(log: Logged, when: tuple[tuple[str, float], ...], t: Array) -> NDArray[np.bool_]:
    on = np.ones(len(t), dtype=bool)
    for name, value in when:
        on &= log.at(name, t) == value
    return on


def _parts(on: NDArray[np.bool_], t: Array, unarmed: tuple[Span, ...]) -> list[slice]:
    """The samples that count and are outside of some spans, piece by piece."""
    for begin, end in unarmed:
        on &= (t < begin) | (t > end)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], on, [False])).astype(np.int8)))
    return [slice(int(begin), int(end)) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _tick(log: Logged, pair: Tracked, t: Array) -> float:
    if pair.achieved in log.columns:
        return log.dt
    gaps = np.diff(t)
    return float(np.median(gaps)) if len(gaps) else 0.0


def _lines(log: Logged, pair: Tracked) -> tuple[tuple[str, str], ...]:
    found = {"request": pair.request, "achieved": pair.achieved}
    for part in ("measured", "command", "allocated"):
        name = partner(pair.achieved, part, log.channels) or partner(pair.request, part, log.channels)
        if name is not None and name not in found.values():
            found[part] = name
    return tuple((part, found[part]) for part in ("measured", "request", "command", "allocated", "achieved") if part in found)


def spans(t: Array, on: NDArray[np.bool_], dt: float, apart: int = 1000) -> tuple[Span, ...]:
    """From when to when a flag is on. What is less than a thousandth of the whole apart is told as one: nobody could see it on a page."""
    if not len(t) or not on.any():
        return ()
    edges = np.flatnonzero(np.diff(np.concatenate(([False], on, [False])).astype(np.int8)))
    begin, end = t[edges[::2]] - dt, t[edges[1::2] - 1]
    gap = (t[-1] - t[0]) / apart
    close = np.flatnonzero(begin[1:] - end[:-1] > gap)
    return tuple((float(a), float(b)) for a, b in zip(begin[np.r_[0, close + 1]], end[np.r_[close, len(end) - 1]], strict=True))


def union(groups: Iterable[tuple[Span, ...]]) -> tuple[Span, ...]:
    """Spans of several things as one list without overlaps."""
    found: list[Span] = []
    for a, b in sorted(span for group in groups for span in group):
        if found and a <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], b))
        else:
            found.append((a, b))
    return tuple(found)
