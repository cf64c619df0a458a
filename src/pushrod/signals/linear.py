"""Straight line between two points.

    y = y0 + (y1 - y0) (t - t0) / (t1 - t0)

Reckoned from the nearer end, so that both ends are met exactly and a line between equal values is constant to the last bit.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.signals.kind import Kind, Row, refuse_zero_length


class Fields(NamedTuple):
    y_start: A[float, Q("y", about="value at the start")] = 0.0
    y_end: A[float, Q("y", about="value at the end")] = 0.0


@pure
def linear(t: float, t0: float, t1: float, y0: float, y1: float) -> float:
    y = y1
    if t1 > t0:  # two times may fall together in float32
        f = (t - t0) / (t1 - t0)
        y = y0 + (y1 - y0) * f if f < 0.5 else y1 - (y1 - y0) * ((t1 - t) / (t1 - t0))
    return y


def row(f: Fields, t_start: float, t_end: float) -> Row:
    refuse_zero_length("linear", t_start, t_end)
    return Row((f.y_start, f.y_end))


LINEAR = Kind("linear", "straight line from y_start to y_end", Fields, row, open_ended=False)
