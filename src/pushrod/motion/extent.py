"""How far, how fast and how hard each segment of a track goes: exact extremes of its polynomials.

An extreme lies at an end or where the derivative is 0. The zeros of a polynomial lie one between two neighbouring zeros of its derivative at
most, where it is monotone: so they are found degree by degree, by a formula up to the second and by halving above it.
"""

import math
from itertools import pairwise
from typing import NamedTuple

from pushrod.core.quantity import Floats
from pushrod.motion.track import Track


class Extent(NamedTuple):
    """Of one segment: lowest and highest position, greatest speed and acceleration (magnitudes)."""

    lo: float
    hi: float
    v: float
    a: float


def extent(track: Track) -> list[Extent]:
    """One for each segment."""
    found = []
    for k in range(len(track.t) - 1):
        h = track.t[k + 1] - track.t[k]
        x = track.c[6 * k : 6 * k + 6]
        v = derivative(x)
        a = derivative(v)
        low, high = span(x, h)
        found.append(Extent(low, high, max(map(abs, span(v, h))), max(map(abs, span(a, h)))))
    return found


def derivative(c: Floats) -> Floats:
    return tuple(i * c[i] for i in range(1, len(c)))


def value(c: Floats, u: float) -> float:
    y = 0.0
    for factor in reversed(c):
        y = y * u + factor
    return y


def span(c: Floats, h: float) -> tuple[float, float]:
    """The least and the greatest value on [0, h]."""
    values = [value(c, u) for u in (0.0, *zeros(derivative(c), h), h)]
    return min(values), max(values)


def zeros(c: Floats, h: float) -> list[float]:
    """Where the polynomial changes its sign inside (0, h)."""
    while c and c[-1] == 0.0:
        c = c[:-1]
    if len(c) < 2:
        return []
    if len(c) == 2:
        found = [-c[0] / c[1]]
    elif len(c) == 3:
        found = _quadratic(*c)
    else:
        edges = [0.0, *zeros(derivative(c), h), h]
        found = [_halve(c, lo, hi) for lo, hi in pairwise(edges) if value(c, lo) * value(c, hi) < 0.0]
    return [u for u in found if 0.0 < u < h]


def _quadratic(c: float, b: float, a: float) -> list[float]:
    """The two zeros of a u^2 + b u + c, the lower first; none where they fall together."""
    r = b * b - 4.0 * a * c
    if r <= 0.0:
        return []
    q = -0.5 * (b + math.copysign(math.sqrt(r), b))
    return sorted((q / a, c / q if q != 0.0 else 0.0))


def _halve(c: Floats, lo: float, hi: float) -> float:
    rising = value(c, hi) > 0.0
    for _ in range(100):
        mid = 0.5 * (lo + hi)
        if not lo < mid < hi:
            break
        if (value(c, mid) > 0.0) == rising:
            hi = mid
        else:
            lo = mid
    return 0.5 * (lo + hi)
