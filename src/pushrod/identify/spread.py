"""From samples at their own times to one value a tick."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EVEN = 0.01  # of a period: gaps that differ by less are taken to be equal


def period(t: Array) -> float:
    """The time between two samples: the mean one where they come evenly, else the middle one of all gaps."""
    gaps = np.diff(t)
    gaps = gaps[gaps > 0.0]
    if not len(gaps):
        return 0.0
    middle = float(np.median(gaps))
    even = bool(np.all(np.abs(gaps - middle) < EVEN * middle))
    return float((t[-1] - t[0]) / len(gaps)) if even and len(gaps) == len(t) - 1 else middle


def held(t: Array, values: Array, t0: float, dt: float, steps: int, whole: bool = False) -> Array:
    """Each value holds until the next: the mean over every tick, or with `whole` the value in its middle. The first one holds from ever."""
    at = (t - t0) / dt
    near = np.round(at)
    at = np.where(np.abs(at - near) < 1e-6, near, at)
    if whole:
        return values[np.maximum(np.searchsorted(at, np.arange(steps) + 0.5, side="right") - 1, 0)]
    edges = np.arange(steps + 1.0)
    cuts = np.unique(np.concatenate((edges, at[(at > 0.0) & (at < steps)])))
    value = values[np.maximum(np.searchsorted(at, cuts[:-1], side="right") - 1, 0)]
    first = np.searchsorted(cuts, edges)
    alone = np.diff(first) == 1
    mean = np.add.reduceat(np.diff(cuts) * value, first[:-1])
    return np.where(alone, value[first[:-1]], mean)  # to the last bit where nothing changes inside


def interpolated(t: Array, values: Array, t0: float, dt: float, steps: int) -> Array:
    """Straight lines between the samples, at the middle of every tick; beyond the ends the end values."""
    return np.asarray(np.interp(t0 + (np.arange(steps) + 0.5) * dt, t, values))
