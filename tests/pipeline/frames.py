"""Structured sets of effectors: multirotor frames as a program builds them from sines and cosines, beside what they are exactly.

Random matrices never have two rows that depend on each other over the effectors that are left at no limit; frames have such rows everywhere, up to
rounding.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from exact_program import Exact, Surd, by_priority, gains
from numpy.typing import NDArray

from pushrod.pipeline.allocate.axes import Axes, Health
from pushrod.pipeline.allocate.effectiveness import Params

HALF = Fraction(1, 2)
DIAGONAL = Surd(Fraction(0), HALF)  # sqrt(1/2)
COS45: list[Exact] = [Fraction(1), DIAGONAL, Fraction(0), -DIAGONAL, Fraction(-1), -DIAGONAL, Fraction(0), DIAGONAL]
HEALTHS = (1.0, 0.5, 0.3, 0.15, 0.0)
GAIN_MAX = 10.0
WELL_BEFORE_FAILURES = 0.55  # share of the draws with every effector healthy


class Frame(NamedTuple):
    """Thrust, roll, pitch, yaw: rows as floats out of sin and cos, and exactly, in units of `unit` on each axis."""

    name: str
    B: tuple[tuple[float, ...], ...]
    exact: tuple[tuple[Exact, ...], ...]
    unit: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)


def _frame(name: str, degrees: list[float], spins: list[int], roll: list[Exact], pitch: list[Exact], unit: float = 1.0, length: float = 1.0) -> Frame:
    """Arms at these angles from the nose; `unit` is what an exact 1 of roll is in floats."""
    angles = [math.radians(x) for x in degrees]
    n = len(angles)
    B = (
        (0.25,) * n,
        tuple(0.25 * length * math.sin(x) for x in angles),
        tuple(0.25 * length * math.cos(x) for x in angles),
        tuple(0.25 * s for s in spins),
    )
    exact = ([Fraction(1)] * n, roll, pitch, [Fraction(s) for s in spins])
    return Frame(name, B, tuple(tuple(HALF * HALF * x for x in row) for row in exact), (1.0, unit, 1.0, 1.0))


def _frames() -> Iterator[Frame]:
    one, none = Fraction(1), Fraction(0)
    yield _frame("plus", [0.0, 90.0, 180.0, 270.0], [1, -1, 1, -1], [none, one, none, -one], [one, none, -one, none])
    yield _frame("x", [45.0, 135.0, 225.0, 315.0], [1, -1, 1, -1], [one, one, -one, -one], [one, -one, -one, one], length=math.sqrt(2.0))
    hexagon = [one, HALF, -HALF, -one, -HALF, HALF]
    sixty = [none, one, one, none, -one, -one]
    turns = [60.0 * a for a in range(6)]
    yield _frame("hex", turns, [1, -1] * 3, sixty, hexagon, unit=math.sin(math.pi / 3.0))
    yield _frame("octo", [45.0 * a for a in range(8)], [1, -1] * 4, [COS45[(a - 2) % 8] for a in range(8)], COS45)
    arms = [0.0, 90.0, 180.0, 270.0]
    both = [a for a in arms for _ in range(2)]
    yield _frame("coaxial plus", both, [1, -1] * 4, [none, none, one, one, none, none, -one, -one], [one, one, none, none, -one, -one, none, none])
    yield _frame(
        "coaxial y6",
        [60.0, 60.0, 180.0, 180.0, 300.0, 300.0],
        [1, -1] * 3,
        [one, one, none, none, -one, -one],
        [HALF, HALF, -one, -one, HALF, HALF],
        unit=math.sin(math.pi / 3.0),
    )
    wide = [math.degrees(math.atan2(y, x)) for x, y in ((1.0, 0.5), (-1.0, 0.5), (-1.0, -0.5), (1.0, -0.5))]
    yield _frame("wide x", wide, [1, -1, 1, -1], [HALF, HALF, -HALF, -HALF], [one, -one, -one, one], length=math.sqrt(1.25))


FRAMES = tuple(_frames())


class Case(NamedTuple):
    frame: Frame
    p: Params
    v: Axes
    health: Health


def case(seed: int) -> Case:
    """The case of a number: frame, failures, order of axes, bounds, and a command in eighths or anywhere."""
    rng = np.random.default_rng(seed)
    frame = FRAMES[seed % len(FRAMES)]
    n = len(frame.B[0])
    lo, hi = (-1.0 if rng.random() < 0.3 else 0.0), 1.0
    order = tuple(map(float, rng.permutation(4))) if rng.random() < 0.5 else (1.0, 2.0, 0.0, 3.0)
    k = np.ones(8)
    if rng.random() > WELL_BEFORE_FAILURES:
        for j in rng.choice(n, rng.integers(1, 3), replace=False):
            k[j] = rng.choice(HEALTHS)
    prefer = (0.0,) * n if rng.random() < 0.7 else tuple(map(float, rng.uniform(lo, hi, n)))
    p = Params(tuple(x for row in frame.B for x in row), (1.0,) * 4, order, (lo,) * n, (hi,) * n, prefer, (1.0,) * n, GAIN_MAX)
    reach = 0.25 * n * 1.2
    v = rng.integers(-8, 9, 4) / 8.0 * reach if rng.random() < 0.6 else rng.uniform(-reach, reach, 4)
    if lo == 0.0:
        v[0] = abs(v[0])
    return Case(frame, p, Axes(*(float(x * unit) for x, unit in zip(v, frame.unit, strict=True))), Health(*map(float, k)))


def turned(seed: int) -> Case:
    """A frame turned by any angle, and a command at a corner of what its effectors can do, or beyond: faces of the attainable set are nearly parallel
    there, so that which effectors stand at a limit changes with a very small move."""
    rng = np.random.default_rng(seed)
    frame = FRAMES[seed % len(FRAMES)]
    a = rng.uniform(0.0, math.pi / 3.0)
    B = np.array(frame.B)
    B[1], B[2] = math.cos(a) * B[1] - math.sin(a) * B[2], math.sin(a) * B[1] + math.cos(a) * B[2]
    n = B.shape[1]
    k = np.ones(8)
    if rng.random() > WELL_BEFORE_FAILURES:
        k[rng.integers(n)] = rng.choice(HEALTHS)
    order = tuple(map(float, rng.permutation(4))) if rng.random() < 0.5 else (1.0, 2.0, 0.0, 3.0)
    p = Params(tuple(map(float, B.ravel())), (1.0,) * 4, order, (0.0,) * n, (1.0,) * n, (0.0,) * n, (1.0,) * n, GAIN_MAX)
    v = B @ (k[:n] * (rng.random(n) < 0.5)) * rng.choice([1.0, 1.5])
    return Case(frame._replace(name=f"{frame.name} turned"), p, Axes(*map(float, v)), Health(*map(float, k)))


class Expected(NamedTuple):
    got: NDArray[np.float64]
    lost: tuple[bool, ...]
    near: float  # how near a decision on an axis is to its bound


def expected(c: Case) -> Expected:
    """What each axis gets in exact arithmetic on the exact frame, under the same gain bound."""
    n = len(c.p.lo)
    g = Fraction(c.p.gain_max)
    k = [Fraction(str(x)) for x in c.health[:n]]
    k = [x if x * g > 1 else Fraction(0) for x in k]
    lo, hi = [Fraction(x) for x in c.p.lo], [Fraction(x) for x in c.p.hi]
    share = [min(max(x * g - 1, Fraction(0)), Fraction(1)) for x in k]  # the rest of every frame is 0
    half = [(b - a) / 2 for a, b in zip(lo, hi, strict=True)]
    order = [int(i) for i in c.p.order]
    decided = gains(c.frame.exact, k, half, order, g)
    kept = [i for i, _, serves in decided if serves]
    B = [[x * k[j] for j, x in enumerate(row)] for row in c.frame.exact]
    v = [Fraction(x) / Fraction(unit) for x, unit in zip(c.v[:4], c.frame.unit, strict=True)]
    got = by_priority(B, v, [f * a for f, a in zip(share, lo, strict=True)], [f * b for f, b in zip(share, hi, strict=True)], kept)
    values = np.array([float(got.get(i, Fraction(0))) * c.frame.unit[i] for i in range(4)])
    return Expected(values, tuple(i not in kept for i in range(4)), min(abs(x - c.p.gain_max) for _, x, _ in decided))
