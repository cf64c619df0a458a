"""Steps: from time t[k] on, the value is y[k].

y = y[k]  for t[k] <= t - t_start < t[k + 1];   initial  before t[0]
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table
from pushrod.signals.kind import Kind, Row
from pushrod.signals.points import from_pairs, points_row, reached


class Fields(NamedTuple):
    t: A[Floats, Table("s", about="times of the steps, from the start of the interval, rising")]
    y: A[Floats, Table("y", about="value from each step on")]
    initial: A[float, Q("y", about="value before the first step")] = 0.0


@pure
def steps(t: float, points: Floats, first: int, n: int, initial: float) -> float:
    k = reached(points, first, n, t)
    return points[first + n + k - 1] if k > 0 else initial


def row(f: Fields, t_start: float, t_end: float) -> Row:
    return points_row(f.t, f.y, t_start, (f.initial,))


STEPS = Kind("steps", "jumps to given values at given times", Fields, row, expand=from_pairs)
