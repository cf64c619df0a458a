"""Small scalar maths for pure steps. Built-in min, max, ** and float % are not pure here: compiled code rounds or orders them otherwise."""

import math

from pushrod.core.purity import pure

PARTS_MOST = 10000.0


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
def single() -> bool:
    """Whether numbers are single precision: 1e-10 is lost beside 1 then."""
    return (1.0 + 1e-10) - 1.0 == 0.0


@pure
def parts(dt: float, longest: float) -> int:
    """How many equal parts of at most `longest` a step is cut into: none for no time, and no more than PARTS_MOST, which are longer then."""
    return int(minimum(dt / longest - 1e-4, PARTS_MOST - 1.0)) + 1 if dt > 1e-12 else 0


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


@pure
def settled(x: float) -> float:
    """1 - exp(-x) for x >= 0, without loss for small x: how much of its way a lag goes in x time constants."""
    return x * (1.0 - x * phi2(x)) if x < 0.25 else 1.0 - math.exp(-x)


@pure
def phi1(x: float) -> float:
    """(1 - exp(-x)) / x for x >= 0, 1 at 0: the mean of exp(-x) on the way to x."""
    return 1.0 - x * phi2(x) if x < 0.25 else (1.0 - math.exp(-x)) / x


@pure
def phi2(x: float) -> float:
    """(x - 1 + exp(-x)) / x^2 for x >= 0, 1/2 at 0; the series where the formula would cancel."""
    if x >= 0.25:
        return (1.0 - (1.0 - math.exp(-x)) / x) / x
    a = 1.0 / 3628800.0 - x * (1.0 / 39916800.0 - x * (1.0 / 479001600.0 - x * (1.0 / 6227020800.0)))
    a = 1.0 / 5040.0 - x * (1.0 / 40320.0 - x * (1.0 / 362880.0 - x * a))
    a = 1.0 / 120.0 - x * (1.0 / 720.0 - x * a)
    return 0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * a))


@pure
def log1p_ratio(z: float) -> float:
    """log(1 + z) / z for z >= 0, 1 at 0; the rounding of 1 + z cancels between the two."""
    u = 1.0 + minimum(z, 1e30)
    return math.log(u) / (u - 1.0) if u > 1.0 else 1.0
