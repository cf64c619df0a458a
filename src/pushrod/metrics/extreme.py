"""Largest and smallest value, the largest magnitude, and the last value:  max_k y_k,  min_k y_k,  max_k |y_k|,  y_K.

A value that is no number stays: a run that went astray has no largest value.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick
from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q
from pushrod.metrics.metric import Measure, Metric


class Params(NamedTuple):
    pass


class Most(NamedTuple):
    y: A[float, Q("y")] = -INF


class Least(NamedTuple):
    y: A[float, Q("y")] = INF


class Last(NamedTuple):
    y: A[float, Q("y")] = 0.0


@pure
def greater(a: float, b: float) -> float:
    return a if a >= b or a != a else b


@pure
def most(p: Params, m: Most, y: float, at: Tick) -> Most:
    return Most(greater(m.y, y))


@pure
def least(p: Params, m: Least, y: float, at: Tick) -> Least:
    return Least(m.y if m.y <= y or m.y != m.y else y)


@pure
def farthest(p: Params, m: Most, y: float, at: Tick) -> Most:
    return Most(greater(m.y, abs(y)))


@pure
def last(p: Params, m: Last, y: float, at: Tick) -> Last:
    return Last(y)


@pure
def finish(p: Params, m: Most, at: Tick) -> float:
    return m.y


MAXIMUM = Metric("maximum", Params, Most, most, finish)
MINIMUM = Metric("minimum", Params, Least, least, finish)
MAGNITUDE = Metric("magnitude", Params, Most, farthest, finish)
FINAL = Metric("final", Params, Last, last, finish)


def maximum(path: str, to: str | None = None) -> Measure:
    return Measure(MAXIMUM, path, Params(), to)


def minimum(path: str, to: str | None = None) -> Measure:
    return Measure(MINIMUM, path, Params(), to)


def magnitude(path: str, to: str | None = None) -> Measure:
    return Measure(MAGNITUDE, path, Params(), to)


def final(path: str, to: str | None = None) -> Measure:
    return Measure(FINAL, path, Params(), to)
