"""Two recordings of the same signals, bit for bit: where they differ first, with what was before; and how far they are apart over all."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BEFORE = 4  # ticks that are shown before the first difference
OTHERS = 8  # signals that are named with it


class Sample(NamedTuple):
    k: int
    t: float
    recorded: float
    replayed: float


class Difference(NamedTuple):
    """The first tick at which signals differ: the signal that comes first, its last few values, and what else differs there."""

    k: int
    t: float
    signal: str
    unit: str
    recorded: float
    replayed: float
    before: tuple[Sample, ...]
    also: tuple[str, ...]  # others at the same tick

    def __str__(self) -> str:
        more = f", and {len(self.also)} other signals" if self.also else ""
        return f"tick {self.k}, t = {self.t:g} s: {self.signal} was {self.recorded!r}, is {self.replayed!r}{more}"


class Deviation(NamedTuple):
    """How far a signal is from what it was: root mean square, the most and when [s], at the end. `delay` [s] is by how much it is later, if known."""

    signal: str
    unit: str
    rms: float
    most: float
    when: float
    end: float
    delay: float | None = None


def differs(recorded: Array, replayed: Array) -> NDArray[np.bool_]:
    """Where not every bit is the same; a nan is like any other nan."""
    a, b = np.ascontiguousarray(recorded), np.ascontiguousarray(replayed)
    return np.asarray((a.view(np.int64) != b.view(np.int64)) & ~(np.isnan(a) & np.isnan(b)), dtype=np.bool_)


def first_difference(names: Sequence[str], units: Mapping[str, str], recorded: Array, replayed: Array, t: Array, k0: int = 0) -> Difference | None:
    """Of two tables [tick, signal] whose first row is tick k0; `t` are the times of the rows [s]."""
    found = differs(recorded, replayed)
    if not found.any():
        return None
    i = int(np.argmax(found.any(axis=1)))
    columns = np.flatnonzero(found[i])
    j = int(columns[0])

    def sample(row: int) -> Sample:
        return Sample(k0 + row, float(t[row]), float(recorded[row, j]), float(replayed[row, j]))

    here = sample(i)
    before = tuple(sample(row) for row in range(max(0, i - BEFORE), i))
    return Difference(here.k, here.t, names[j], units.get(names[j], ""), here.recorded, here.replayed, before, tuple(names[c] for c in columns[1:]))


def deviation(signal: str, unit: str, t: Array, recorded: Array, replayed: Array) -> Deviation:
    """nan on either side counts as no difference."""
    apart = np.where(np.isfinite(recorded) & np.isfinite(replayed), replayed - recorded, 0.0)
    far = np.abs(apart)
    k = int(np.argmax(far)) if len(far) else 0
    if not len(far):
        return Deviation(signal, unit, 0.0, 0.0, 0.0, 0.0)
    return Deviation(signal, unit, float(np.sqrt(np.mean(apart * apart))), float(far[k]), float(t[k]), float(apart[-1]))
