"""Kinds that are made of points: n times, then n values, in a slice of `Track.points`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats
from pushrod.signals.kind import FlawError, Row


@pure
def reached(points: Floats, first: int, n: int, t: float) -> int:
    """How many of the times lie at or before t."""
    lo = 0
    hi = n
    while lo < hi:
        mid = (lo + hi) // 2
        if points[first + mid] <= t:
            lo = mid + 1
        else:
            hi = mid
    return lo


def points_row(t: Floats, y: Floats, t_start: float, columns: Floats) -> Row:
    """Times are written from the start of the interval and kept as times of the channel, so that t_start + t[k] meets point k exactly."""
    if not t:
        raise FlawError("t", list(t), "holds no points; give t and y of equal length")
    if len(t) != len(y):
        raise FlawError("y", f"{len(y)} values", f"does not match the {len(t)} times in t; give one value per time")
    times = tuple(t_start + x for x in t)
    for k in range(1, len(t)):
        if not times[k] > times[k - 1]:
            raise FlawError(("t", k), t[k], f"does not lie after t[{k - 1}] = {t[k - 1]!r} s; times must rise")
    return Row(columns, times + tuple(y), len(t))


def from_pairs(data: Any, folder: Path | None) -> Any:
    """`[[t, y], [t, y], ...]` as a second way to write `{t: [...], y: [...]}`."""
    if isinstance(data, Mapping) or not isinstance(data, (list, tuple)):
        return data
    for k, pair in enumerate(data):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise FlawError((k,), pair, "is not a pair [time, value]")
    return {"t": [pair[0] for pair in data], "y": [pair[1] for pair in data]}
