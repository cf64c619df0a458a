"""A free number: its range, and the scale on which a search sees it as 0 to 1.

linear   x = lo + z (hi - lo)
log      x = lo (hi / lo)^z                              where a range without 0 spans more than a factor of 30
arc      x = c sinh(a + z (b - a)),  a = asinh(lo / c)   where a range around or from 0 spans decades; c is of the size of the value guessed
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError

Array = NDArray[np.float64]
DECADES = 30.0  # a range that spans more than this factor is searched by size, not by difference
SMALL = 1e-6  # of the larger bound, or 0.1 if that is more: the size of a value that nobody guessed


@dataclass(frozen=True)
class Free:
    """`path` in Params, or in State for what is `of` a start; `trial` is the number of the log it belongs to, None where to all of them."""

    path: str
    unit: str
    lo: float
    hi: float
    guess: float
    of: str = "parameter"  # parameter, start or offset
    trial: int | None = None
    about: str = ""

    @property
    def name(self) -> str:
        where = {"parameter": self.path, "start": f"start of {self.path}", "offset": f"offset of {self.path}"}[self.of]
        return where if self.trial is None else f"{where}, log {self.trial + 1}"

    @property
    def size(self) -> float:
        """Return the size of a value that counts as small."""
        most = max(abs(self.lo), abs(self.hi))
        return abs(self.guess) or max(SMALL * most, 0.1 * min(most, 1.0))

    @property
    def scale(self) -> str:
        if self.of != "parameter":
            return "linear"
        if self.lo > 0.0:
            return "log" if self.hi / self.lo > DECADES else "linear"
        return "arc" if max(abs(self.lo), abs(self.hi)) > DECADES * self.size else "linear"

    def value(self, z: Any) -> Any:
        """The number at z in 0..1, never outside of its range."""
        z = np.clip(z, 0.0, 1.0)
        if self.scale == "log":
            x = self.lo * np.exp(z * math.log(self.hi / self.lo))
        elif self.scale == "arc":
            a, b = math.asinh(self.lo / self.size), math.asinh(self.hi / self.size)
            x = self.size * np.sinh(a + z * (b - a))
        else:
            x = self.lo + z * (self.hi - self.lo)
        return np.clip(x, self.lo, self.hi)

    def place(self, x: float) -> float:
        """The inverse of `value`."""
        x = min(max(x, self.lo), self.hi)
        if self.scale == "log":
            return math.log(x / self.lo) / math.log(self.hi / self.lo)
        if self.scale == "arc":
            a, b = math.asinh(self.lo / self.size), math.asinh(self.hi / self.size)
            return (math.asinh(x / self.size) - a) / (b - a)
        return (x - self.lo) / (self.hi - self.lo)

    def slope(self, z: float) -> float:
        """dx/dz."""
        if self.scale == "log":
            return float(self.value(z)) * math.log(self.hi / self.lo)
        if self.scale == "arc":
            a, b = math.asinh(self.lo / self.size), math.asinh(self.hi / self.size)
            return self.size * math.cosh(a + z * (b - a)) * (b - a)
        return self.hi - self.lo


def narrowed(path: str, meta: Any, asked: tuple[float, float] | None, guess: float, of: str = "parameter") -> tuple[float, float]:
    """The range to search: the legal one, or the part of it that was asked for. What has no end must be given one."""
    lo, hi = (meta.lo, meta.hi) if asked is None else asked
    what = f"range of {of} {path}"
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise InputError(
            f"{what}: its record allows {meta.legal()}, which is no range to search; give one, such as {path}=({guess - 1:g}, {guess + 1:g})"
        )
    if not lo < hi:
        raise InputError(f"{what}: {lo:g} to {hi:g} {meta.unit} holds nothing to choose from")
    if lo < meta.lo or hi > meta.hi:
        raise InputError(f"{what}: {lo:g} to {hi:g} {meta.unit} goes beyond what is legal; allowed {meta.legal()}")
    return float(lo), float(hi)
