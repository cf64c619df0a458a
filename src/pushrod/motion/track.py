"""One pass through waypoints: a polynomial of degree five at most between two neighbours.

    x(u) = c0 + c1 u + c2 u^2 + c3 u^3 + c4 u^4 + c5 u^5,   u = t - t_k

Position and velocity are met at both ends of a segment. Where both ends have an acceleration the segment is a quintic, where one has, a quartic,
where none has, a cubic: the lowest degree that meets what is given.

t   times of the points [s], rising;  c   six coefficients a segment
"""

from itertools import pairwise
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Table
from pushrod.core.table import segment
from pushrod.motion.profile import Sample


class Point(NamedTuple):
    """Where to be at a time, how fast, and with which acceleration, if that matters."""

    t: float
    x: float
    v: float
    a: float | None = None


class Track(NamedTuple):
    t: A[Floats, Table("s", rising=True)] = (0.0, 1.0)
    c: A[Floats, Table("x/s^k", about="c0 ... c5 of each segment")] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@pure
def along(p: Track, t: float) -> Sample:
    """Where the pass is at time t; beyond its ends the first and last segment go on."""
    k = segment(p.t, t)
    u = t - p.t[k]
    i = 6 * k
    c2 = p.c[i + 2]
    c3 = p.c[i + 3]
    c4 = p.c[i + 4]
    c5 = p.c[i + 5]
    return Sample(
        p.c[i] + u * (p.c[i + 1] + u * (c2 + u * (c3 + u * (c4 + u * c5)))),
        p.c[i + 1] + u * (2.0 * c2 + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5))),
        2.0 * c2 + u * (6.0 * c3 + u * (12.0 * c4 + u * 20.0 * c5)),
    )


def between(p: Point, q: Point) -> Floats:
    """The six coefficients of the segment from p to q."""
    h = q.t - p.t
    d = (q.x - p.x - p.v * h) / (h * h)  # what the start velocity leaves to do
    w = (q.v - p.v) / h
    bend = 12.0 * d - 6.0 * w  # (a0 - a1) of a polynomial without u^5
    if p.a is None and q.a is None:
        return (p.x, p.v, 3.0 * d - w, (w - 2.0 * d) / h, 0.0, 0.0)
    a0 = p.a if p.a is not None else (q.a or 0.0) + bend
    a1 = q.a if q.a is not None else a0 - bend
    quintic = 0.0 if p.a is None or q.a is None else (6.0 * d - 3.0 * w + 0.5 * (a1 - a0)) / (h * h * h)
    return (p.x, p.v, 0.5 * a0, (10.0 * d - 4.0 * w - 1.5 * a0 + 0.5 * a1) / h, (-15.0 * d + 7.0 * w + 1.5 * a0 - a1) / (h * h), quintic)


def through(points: tuple[Point, ...]) -> Track:
    """The pass through two points or more, times rising."""
    return Track(tuple(p.t for p in points), tuple(c for p, q in pairwise(points) for c in between(p, q)))
