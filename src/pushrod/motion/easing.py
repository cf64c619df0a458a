"""Easings: how much of its way a motion has gone after how much of its time, both from 0 to 1. They begin at 0 and end at 1 exactly.

    f = elapsed / total,   x = initial + change * e(f)
    in:      e = g(f)
    out:     e = 1 - g(1 - f)
    in_out:  e = g(2 f) / 2  up to the middle,  1 - g(2 - 2 f) / 2  after it

    quad f^2   cubic f^3   quart f^4   quint f^5   sine 1 - cos(pi f / 2)   expo 2^(10 (f - 1)), 0 at 0   circ 1 - sqrt(1 - f^2)

The curves of R. Penner ("Programming Macromedia Flash MX", 2002, chapter 7). `slope` is de/df; the vertical tangent of circ is cut off at 1000.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, maximum


@pure
def linear(f: float) -> float:
    return f


@pure
def linear_slope(f: float) -> float:
    return 1.0


@pure
def quad(f: float) -> float:
    return f * f


@pure
def quad_slope(f: float) -> float:
    return 2.0 * f


@pure
def cubic(f: float) -> float:
    return f * f * f


@pure
def cubic_slope(f: float) -> float:
    return 3.0 * f * f


@pure
def quart(f: float) -> float:
    return f * f * f * f


@pure
def quart_slope(f: float) -> float:
    return 4.0 * f * f * f


@pure
def quint(f: float) -> float:
    return f * f * f * f * f


@pure
def quint_slope(f: float) -> float:
    return 5.0 * f * f * f * f


@pure
def sine(f: float) -> float:
    return 1.0 - math.sin(0.5 * math.pi * (1.0 - f))


@pure
def sine_slope(f: float) -> float:
    return 0.5 * math.pi * math.sin(0.5 * math.pi * f)


@pure
def expo(f: float) -> float:
    return math.exp(10.0 * math.log(2.0) * (f - 1.0)) if f > 0.0 else 0.0


@pure
def expo_slope(f: float) -> float:
    return 10.0 * math.log(2.0) * expo(f)


@pure
def circ(f: float) -> float:
    return 1.0 - math.sqrt(maximum(1.0 - f * f, 0.0))


@pure
def circ_slope(f: float) -> float:
    return f / math.sqrt(maximum(1.0 - f * f, 1e-6))


class Easing(NamedTuple):
    """One curve and the way it is run: in, out or in_out."""

    g: Callable[[float], float]
    dg: Callable[[float], float]
    way: str = "in"


_CURVES = {
    "quad": (quad, quad_slope),
    "cubic": (cubic, cubic_slope),
    "quart": (quart, quart_slope),
    "quint": (quint, quint_slope),
    "sine": (sine, sine_slope),
    "expo": (expo, expo_slope),
    "circ": (circ, circ_slope),
}
EASINGS: dict[str, Easing] = {
    "linear": Easing(linear, linear_slope),
    **{f"ease_{way}_{name}": Easing(g, dg, way) for way in ("in", "out", "in_out") for name, (g, dg) in _CURVES.items()},
}


def progress(easing: Easing, f: float) -> float:
    """How much of the way is gone after the share f of the time."""
    f = clamp(f, 0.0, 1.0)
    if easing.way == "in":
        return easing.g(f)
    if easing.way == "out":
        return 1.0 - easing.g(1.0 - f)
    return 0.5 * easing.g(2.0 * f) if f < 0.5 else 1.0 - 0.5 * easing.g(2.0 - 2.0 * f)


def slope(easing: Easing, f: float) -> float:
    """How fast, in ways per time; 0 outside the motion."""
    if not 0.0 <= f < 1.0:
        return 0.0
    if easing.way == "in":
        return easing.dg(f)
    if easing.way == "out":
        return easing.dg(1.0 - f)
    return easing.dg(2.0 * f) if f < 0.5 else easing.dg(2.0 - 2.0 * f)


def ease(easing: Easing, elapsed: float, initial: float, target: float, total: float) -> tuple[float, float]:
    """Position and velocity of an eased motion; the target exactly, at rest, once its time is over."""
    if elapsed >= total:
        return target, 0.0
    f = elapsed / total
    return initial + (target - initial) * progress(easing, f), (target - initial) * slope(easing, f) / total
