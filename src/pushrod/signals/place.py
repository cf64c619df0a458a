"""Intervals become a Track: open ends are closed, every kind makes its row, overlaps are refused."""

import itertools
import math
import reprlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from pushrod.core.errors import SignalError
from pushrod.signals.kind import FlawError, Kind, Row
from pushrod.signals.table import KINDS
from pushrod.signals.track import FOREVER, Interval, Track

Path = tuple[str | int, ...]
CODES = {name: float(k) for k, name in enumerate(KINDS)}
SHORT = reprlib.Repr()  # what was written, in a length that can be read
SHORT.maxlevel, SHORT.maxlist, SHORT.maxdict, SHORT.maxstring, SHORT.maxother = 4, 8, 8, 100, 100


class Spec(NamedTuple):
    """One interval as it was written. `t_end` None: until the next one begins, or for ever.

    `times`: how start and end are called there; `inner`: where in it the fields of the kind stand.
    """

    path: Path
    kind: Kind
    fields: Any
    t_start: float
    t_end: float | None
    times: tuple[str, str] = ("t_start", "t_end")
    inner: Path = ()


def spell(channel: str, path: Path) -> str:
    """`steer[2].sine.frequency`."""
    return channel + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def fault(channel: str, path: Path, value: object, why: str, kind: str = "malformed") -> SignalError:
    return SignalError(f"signal {spell(channel, path)} = {SHORT.repr(value)} {why}", kind, path)


def compile_terms(channel: str, terms: Sequence[Sequence[Spec]]) -> Track:
    """The sum of several lists of intervals; an empty list counts as 0."""
    bounds = [0.0]
    rows: list[Interval] = []
    points: list[float] = []
    for specs in terms:
        placed = _placed(channel, specs)
        for spec, t_end in placed:
            made = _row(channel, spec, t_end)
            rows.append(Interval(spec.t_start, t_end, CODES[spec.kind.name], float(len(points)), float(made.n), *made.columns))
            points += made.points
        _refuse_overlap(channel, placed)
        if float(len(rows)) > bounds[-1]:
            bounds.append(float(len(rows)))
    if not rows:
        return Track()
    return Track(tuple(bounds), tuple(x for q in rows for x in q), tuple(points) or (0.0,))


def _placed(channel: str, specs: Sequence[Spec]) -> list[tuple[Spec, float]]:
    """In order of time, each with its end."""
    for spec in specs:
        if spec.t_end is not None and spec.t_end < spec.t_start:
            why = f"s lies before its start at {spec.t_start!r} s; an interval runs forward in time"
            raise fault(channel, (*spec.path, spec.times[1]), spec.t_end, why, "reversed_interval")
    order = sorted(specs, key=lambda spec: (spec.t_start, FOREVER if spec.t_end is None else spec.t_end))
    nexts = [*(spec.t_start for spec in order[1:]), FOREVER]
    return [(spec, t_next if spec.t_end is None else spec.t_end) for spec, t_next in zip(order, nexts, strict=False)]


def _row(channel: str, spec: Spec, t_end: float) -> Row:
    if t_end == FOREVER and not spec.kind.open_ended:
        why = f"{spec.kind.name} has no end; give `until` or `for`, or `t_end`"
        raise SignalError(f"signal {spell(channel, spec.path)}: {why}", "missing", spec.path)
    try:
        made = spec.kind.row(spec.fields, spec.t_start, t_end)
    except FlawError as flaw:
        times: dict[Path, Path] = {("t_start",): spec.times[:1], ("t_end",): spec.times[1:]}
        here = times.get(flaw.path, (*spec.inner, *flaw.path))
        raise fault(channel, (*spec.path, *here), flaw.value, flaw.why, flaw.kind) from None
    if not all(math.isfinite(x) for x in (t_end, *made.columns)):
        raise fault(channel, (*spec.path, *spec.times[1:]), t_end, f"s is too near or too far to reckon a {spec.kind.name} to", "not_finite")
    return made


def _refuse_overlap(channel: str, placed: list[tuple[Spec, float]]) -> None:
    """Touching is no overlap; two that start together are one if the earlier was to last until the later."""
    for (spec, t_end), (after, _) in itertools.pairwise(placed):
        if after.t_start < t_end or (spec.t_end is None and after.t_start == spec.t_start):
            why = f"s lies within {spell(channel, spec.path)}, which runs from {spec.t_start!r} s to {t_end!r} s; intervals must not overlap"
            raise fault(channel, (*after.path, after.times[0]), after.t_start, why, "overlap")
