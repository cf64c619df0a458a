"""Distributions by their quantiles: the value below which the share u of all draws lies. A few places in the unit cube become values by it.

uniform       lo + u (hi - lo)
log_uniform   lo (hi / lo)^u
arc_uniform   c sinh(a + u (b - a)),  a = asinh(lo / c),  b = asinh(hi / c): by size on both sides of 0, where c counts as small
triangular    rises from lo to the mode, falls to hi
normal        mean + sd Phi^-1(u), cut off at lo and hi: u then runs over what lies between
discrete      the first value whose share, with those before it, exceeds u

`level(i, n)` is the i-th of n values for a grid: of bounded ones from end to end, of a normal the middles of n equal shares.
"""

from dataclasses import dataclass

import numpy as np

from pushrod.core.quantity import INF
from pushrod.sweep.counter import Numbers

FAR = 1e-9  # share of the draws beyond which a distribution is not looked at to find room for it


def _clip(x: Numbers, lo: float, hi: float) -> Numbers:
    """Rounding carries nothing beyond the ends."""
    return np.asarray(np.clip(x, lo, hi))


@dataclass(frozen=True)
class Uniform:
    lo: float
    hi: float

    def quantile(self, u: Numbers) -> Numbers:
        return _clip(self.lo + u * (self.hi - self.lo), self.lo, self.hi)

    def span(self) -> tuple[float, float]:
        return self.lo, self.hi

    def level(self, i: Numbers, n: int) -> Numbers:
        return self.quantile(i / (n - 1) if n > 1 else np.full(len(i), 0.5))


@dataclass(frozen=True)
class LogUniform:
    lo: float
    hi: float

    def quantile(self, u: Numbers) -> Numbers:
        return _clip(self.lo * np.exp(u * np.log(self.hi / self.lo)), self.lo, self.hi)

    def span(self) -> tuple[float, float]:
        return self.lo, self.hi

    def level(self, i: Numbers, n: int) -> Numbers:
        return self.quantile(i / (n - 1) if n > 1 else np.full(len(i), 0.5))


@dataclass(frozen=True)
class ArcUniform:
    lo: float
    hi: float
    size: float

    def quantile(self, u: Numbers) -> Numbers:
        a, b = np.arcsinh(self.lo / self.size), np.arcsinh(self.hi / self.size)
        return _clip(self.size * np.sinh(a + u * (b - a)), self.lo, self.hi)

    def span(self) -> tuple[float, float]:
        return self.lo, self.hi

    def level(self, i: Numbers, n: int) -> Numbers:
        return self.quantile(i / (n - 1) if n > 1 else np.full(len(i), 0.5))


@dataclass(frozen=True)
class Triangular:
    lo: float
    mode: float
    hi: float

    def quantile(self, u: Numbers) -> Numbers:
        width, left = self.hi - self.lo, self.mode - self.lo
        rising = self.lo + np.sqrt(u * width * left)
        falling = self.hi - np.sqrt((1.0 - u) * width * (self.hi - self.mode))
        return _clip(np.where(u * width < left, rising, falling), self.lo, self.hi)

    def span(self) -> tuple[float, float]:
        return self.lo, self.hi

    def level(self, i: Numbers, n: int) -> Numbers:
        return self.quantile(i / (n - 1) if n > 1 else np.full(len(i), 0.5))


@dataclass(frozen=True)
class Normal:
    mean: float
    sd: float
    lo: float = -INF
    hi: float = INF

    def quantile(self, u: Numbers) -> Numbers:
        from scipy.special import ndtri

        a, b = self._shares()
        return _clip(self.mean + self.sd * ndtri(a + u * (b - a)), self.lo, self.hi)

    def _shares(self) -> tuple[float, float]:
        from scipy.special import ndtr

        return float(ndtr((self.lo - self.mean) / self.sd)), float(ndtr((self.hi - self.mean) / self.sd))

    def cut(self) -> float:
        """The share that lies beyond lo or hi."""
        a, b = self._shares()
        return 1.0 - (b - a)

    def span(self) -> tuple[float, float]:
        lo, hi = self.quantile(np.array([FAR, 1.0 - FAR]))
        return float(lo), float(hi)

    def level(self, i: Numbers, n: int) -> Numbers:
        return self.quantile((i + 0.5) / n)


@dataclass(frozen=True)
class Discrete:
    values: tuple[float, ...]
    shares: tuple[float, ...]  # of each value, 1 in all

    def quantile(self, u: Numbers) -> Numbers:
        edges = np.cumsum(self.shares)[:-1]
        return np.asarray(np.asarray(self.values, float)[np.searchsorted(edges, u, side="right")])

    def span(self) -> tuple[float, float]:
        return min(self.values), max(self.values)

    def level(self, i: Numbers, n: int) -> Numbers:
        return np.asarray(np.asarray(self.values, float)[i.astype(int)])


Distribution = Uniform | LogUniform | ArcUniform | Triangular | Normal | Discrete
