"""Small scalar maths for pure steps. Built-in min, max, ** and float % are not pure here: compiled code rounds or orders them otherwise."""

import math

from pushrod.core.purity import pure


@pure
def minimum(a: float, b: float) -> float:
    return a if a < b else b


@pure
def maximum(a: float, b: float) -> float:
    return a if a > b else b


@pure
def clamp(x: float, lo: float, hi: float) -> float:
    return lo if x < lo else (hi if x > hi else x)


@pure
def sign(x: float) -> float:
    """-1, 0 or 1."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@pure
def dead_band(x: float, d: float) -> float:
    """x moved towards zero by d; zero inside +-d."""
    return x - d if x > d else (x + d if x < -d else 0.0)


@pure
def wrap_angle(x: float) -> float:
    """The same angle within [-pi, pi)."""
    return x - 2.0 * math.pi * float(math.floor((x + math.pi) / (2.0 * math.pi)))
