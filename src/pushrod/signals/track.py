"""A channel compiled to three tables, so that one pure function evaluates it in plain Python and inside a compiled run.

    y(t) = sum over terms of the interval of that term that counts at t        (`evaluate.value`)

A term is a slice of `intervals`, sorted by time and free of overlaps. Every interval fills one row of `intervals`, read
back as an `Interval`; what a kind keeps beyond six numbers (recorded points, levels) lies in `points`.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table

FOREVER = 1e30  # stands for no end; finite, also in float32, because tables hold finite numbers only


class Interval(NamedTuple):
    """One row of `Track.intervals`. What a to f mean is the business of the kind."""

    t_start: A[float, Q("s")] = -FOREVER
    t_end: A[float, Q("s")] = FOREVER
    kind: A[float, Q("-", 0.0, about="place of its kind in the table of kinds")] = 0.0
    first: A[float, Q("-", 0.0, about="where its points begin")] = 0.0
    n: A[float, Q("-", 0.0, about="how many points it has")] = 0.0
    a: A[float, Q("-")] = 0.0
    b: A[float, Q("-")] = 0.0
    c: A[float, Q("-")] = 0.0
    d: A[float, Q("-")] = 0.0
    e: A[float, Q("-")] = 0.0
    f: A[float, Q("-")] = 0.0


class Track(NamedTuple):
    """A whole channel; the default is 0 at all times."""

    terms: A[Floats, Table("-", about="the first interval of each term, then one past the last of all")] = (0.0, 1.0)
    intervals: A[Floats, Table("-", about="eleven numbers per interval, in the order of `Interval`")] = tuple(Interval())
    points: A[Floats, Table("-", about="times and values of kinds that are made of points")] = (0.0,)

    def flaws(self, dt: float | None) -> Iterator[str]:
        """Compiled code reads where the tables point without looking: a track made by hand must point into its own tables."""
        n = len(self.intervals) // 11
        ends = (self.terms[:1], self.terms[-1:])
        if len(self.intervals) != 11 * n or ends != ((0.0,), (float(n),)) or list(self.terms) != sorted(self.terms):
            yield f"terms: {self.terms} must rise from 0 to the number of intervals, {len(self.intervals)} / 11"
        for i in range(n):
            q = Interval(*self.intervals[11 * i : 11 * i + 11])
            if not 0.0 <= q.first <= q.first + q.n <= len(self.points):
                yield f"intervals[{11 * i + 3}]: points {q.first:g} to {q.first + q.n:g} are asked for; there are {len(self.points)}"


@pure
def starts(p: Track, i: int) -> float:
    return p.intervals[i * 11]


@pure
def ends(p: Track, i: int) -> float:
    return p.intervals[i * 11 + 1]


@pure
def interval(p: Track, i: int) -> Interval:
    j = i * 11
    return Interval(
        p.intervals[j],
        p.intervals[j + 1],
        p.intervals[j + 2],
        p.intervals[j + 3],
        p.intervals[j + 4],
        p.intervals[j + 5],
        p.intervals[j + 6],
        p.intervals[j + 7],
        p.intervals[j + 8],
        p.intervals[j + 9],
        p.intervals[j + 10],
    )
