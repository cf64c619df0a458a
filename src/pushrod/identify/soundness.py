"""Guesses whose parameters contradict each other (a break-away level below Coulomb friction): they are not simulated, and are the worst there are.

Only records that say more than ranges do (`flaws`), hold a free parameter, and find fault with a corner of what is searched are asked at all.
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.core.record import fields, get, is_record, put
from pushrod.identify.free import Free

Array = NDArray[np.float64]
MOST = 6  # free parameters of one record whose corners are looked at


class Part(NamedTuple):
    """A record with flaws, and which free parameters are where in it."""

    record: Any
    places: tuple[tuple[int, str], ...]

    def sound(self, values: tuple[float, ...], dt: float) -> bool:
        record = self.record
        for (_, path), value in zip(self.places, values, strict=True):
            record = put(record, path, value)
        return next(iter(record.flaws(dt)), None) is None


class Soundness:
    def __init__(self, base: Any, free: tuple[Free, ...], dt: float) -> None:
        self._dt = dt
        self._parts = [part for part in _parts(base, free) if len(part.places) > MOST or not _sound_at_all_corners(part, free, dt)]

    def of(self, values: list[Array], n: int) -> NDArray[np.bool_]:
        """`values` of each free parameter, one for each guess."""
        sound = np.ones(n, bool)
        for part in self._parts:
            columns = [values[j].tolist() for j, _ in part.places]
            sound &= np.array([part.sound(row, self._dt) for row in zip(*columns, strict=True)], bool)
        return sound


def _parts(base: Any, free: tuple[Free, ...]) -> list[Part]:
    found = []
    for path in _with_flaws(type(base), ""):
        inside = tuple((j, f.path[len(path) + 1 if path else 0 :]) for j, f in enumerate(free) if f.path.startswith(f"{path}." if path else ""))
        if inside:
            found.append(Part(get(base, path), inside))
    return found


def _with_flaws(record: Any, path: str) -> list[str]:
    below = [at for f in fields(record) if is_record(f.type) for at in _with_flaws(f.type, f"{path}.{f.name}" if path else f.name)]
    return [*([path] if hasattr(record, "flaws") else []), *below]


def _sound_at_all_corners(part: Part, free: tuple[Free, ...], dt: float) -> bool:
    ends = [(free[j].lo, free[j].hi) for j, _ in part.places]
    return all(part.sound(corner, dt) for corner in product(*ends))
