"""Intervals become a Track: open ends are closed, every kind makes its row, overlaps are refused."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pushrod.core.errors import SignalError
from pushrod.signals.kind import FlawError, Kind
from pushrod.signals.table import KINDS
from pushrod.signals.track import FOREVER, Interval, Track

Path = tuple[str | int, ...]
CODES = {name: float(k) for k, name in enumerate(KINDS)}


class Spec(NamedTuple):
    """One interval as it was written. `t_end` None: until the next one begins, or for ever. `times`: how start and end are called there."""

    path: Path
    kind: Kind
    fields: Any
    t_start: float
    t_end: float | None
    times: tuple[str, str] = ("t_start", "t_end")


def spell(channel: str, path: Path) -> str:
    """`steer[2].sine.frequency`."""
    return channel + "".join(f"[{part}]" if isinstance(part, int) else part if part.startswith("[") else f".{part}" for part in path)


def fault(channel: str, path: Path, value: object, why: str, kind: str = "malformed") -> SignalError:
    return SignalError(f"signal {spell(channel, path)} = {value!r} {why}", kind, path)


def compile_terms(channel: str, terms: Sequence[Sequence[Spec]]) -> Track:
    """The sum of several lists of intervals; an empty list counts as 0."""
    bounds = [0.0]
    rows: list[Interval] = []
    points: list[float] = []
    for specs in terms:
        for spec, t_end in _placed(channel, specs):
            made = _row(channel, spec, t_end)
            rows.append(Interval(spec.t_start, t_end, CODES[spec.kind.name], float(len(points)), float(made.n), *made.columns))
            points += made.points
        if float(len(rows)) > bounds[-1]:
            bounds.append(float(len(rows)))
    if not rows:
        return Track()
    return Track(tuple(bounds), tuple(x for q in rows for x in q), tuple(points) or (0.0,))


def _row(channel: str, spec: Spec, t_end: float) -> Any:
    if t_end == FOREVER and not spec.kind.open_ended:
        raise SignalError(f"signal {spell(channel, spec.path)}: {spec.kind.name} has no end; give `until` or `for`, or `t_end`", "missing", spec.path)
    try:
        return spec.kind.row(spec.fields, spec.t_start, t_end)
    except FlawError as flaw:
        names = {"t_start": spec.times[0], "t_end": spec.times[1]}
        inner = () if flaw.name in names or spec.times[0] == "t_start" else (spec.kind.name,)
        raise fault(channel, (*spec.path, *inner, names.get(flaw.name, flaw.name)), flaw.value, flaw.why, flaw.kind) from None


def _placed(channel: str, specs: Sequence[Spec]) -> list[tuple[Spec, float]]:
    """In order of time, each with its end."""
    for spec in specs:
        if spec.t_end is not None and spec.t_end < spec.t_start:
            why = f"s lies before its start at {spec.t_start!r} s; an interval runs forward in time"
            raise fault(channel, (*spec.path, spec.times[1]), spec.t_end, why, "reversed_interval")
    order = sorted(specs, key=lambda spec: (spec.t_start, spec.t_start if spec.t_end is None else spec.t_end))
    placed = []
    for spec, after in zip(order, [*order[1:], None], strict=True):
        t_end = spec.t_end if spec.t_end is not None else after.t_start if after is not None else FOREVER
        if after is not None and after.t_start < t_end:
            why = f"s lies within {spell(channel, spec.path)}, which runs from {spec.t_start!r} s to {t_end!r} s; intervals must not overlap"
            raise fault(channel, (*after.path, after.times[0]), after.t_start, why, "overlap")
        placed.append((spec, t_end))
    return placed
