"""A map at one held actuation is a polyline over speed; inside a step its speed moves along one piece of it, or two.

    a(v) = y + slope (v - x)          for lo <= v < hi

The row segment is found once a step (`pressed`), the piece once and again only where the speed leaves it (`line_at`). The ends go on flat.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.table import Grid, fraction, segment
from pushrod.vehicles.parameter import Acceleration, Velocity

FAR = 1e30  # [m/s]


class Pressed(NamedTuple):
    """A row segment of a map and how far into it."""

    i: int = 0
    f: A[float, Q("-", 0.0, 1.0)] = 0.0


class Line(NamedTuple):
    x: Velocity = 0.0
    y: Acceleration = 0.0
    slope: A[float, Q("1/s")] = 0.0
    lo: Velocity = 0.0
    hi: Velocity = 0.0


@pure
def flat(a: float) -> Line:
    """The same acceleration at any speed."""
    return Line(0.0, a, 0.0, -FAR, FAR)


@pure
def pressed(m: Grid, actuation: float) -> Pressed:
    i = segment(m.row, actuation)
    return Pressed(i, fraction(m.row, i, actuation))


@pure
def line_at(m: Grid, at: Pressed, line: Line, v: float) -> Line:
    """The piece that v is on: the given one if v has not left it."""
    if line.lo <= v < line.hi:
        return line
    n = len(m.col)
    j = segment(m.col, v)
    k = at.i * n + j
    a = m.z[k] + at.f * (m.z[k + n] - m.z[k])
    b = m.z[k + 1] + at.f * (m.z[k + n + 1] - m.z[k + 1])
    lo = m.col[j]
    hi = m.col[j + 1]
    if v < lo:
        return Line(lo, a, 0.0, -FAR, lo)
    if v >= hi:
        return Line(hi, b, 0.0, hi, FAR)
    return Line(lo, a, (b - a) / (hi - lo), lo, hi)


@pure
def value(line: Line, v: float) -> float:
    return line.y + line.slope * (v - line.x)
