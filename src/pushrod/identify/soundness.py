"""Guesses whose parameters contradict each other (a break-away level below Coulomb friction): they are not simulated, and are the worst there are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core import check
from pushrod.core.record import fields, is_record, put

Array = NDArray[np.float64]


class Soundness:
    """Of guesses over a base record. Where no record says more than ranges do, all are sound and nothing is asked."""

    def __init__(self, base: Any, paths: tuple[str, ...], dt: float) -> None:
        self._base = base
        self._paths = paths
        self._dt = dt
        self._asks = _has_flaws(type(base))

    def of(self, values: list[Array], n: int) -> NDArray[np.bool_]:
        """`values` of each path, one for each guess."""
        if not self._asks:
            return np.ones(n, bool)
        return np.array([self._sound([float(column[i]) for column in values]) for i in range(n)])

    def _sound(self, values: list[float]) -> bool:
        record = self._base
        for path, value in zip(self._paths, values, strict=True):
            record = put(record, path, value)
        return next(check.flaws(record, "", self._dt), None) is None


def _has_flaws(record: Any) -> bool:
    return hasattr(record, "flaws") or any(_has_flaws(f.type) for f in fields(record) if is_record(f.type))
