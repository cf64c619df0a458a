"""Constant.

y = y_start
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.quantity import Q
from pushrod.signals.kind import Kind, Row


class Fields(NamedTuple):
    y_start: A[float, Q("y", about="the value")] = 0.0


def row(f: Fields, t_start: float, t_end: float) -> Row:
    return Row((f.y_start,))


CONSTANT = Kind("constant", "one value", Fields, row)
