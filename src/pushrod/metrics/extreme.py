"""Largest and smallest value, and the last one:  max_k y_k,  min_k y_k,  y_K."""

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
def most(p: Params, m: Most, y: float, at: Tick) -> Most:
    return Most(y if y > m.y else m.y)


@pure
def least(p: Params, m: Least, y: float, at: Tick) -> Least:
    return Least(y if y < m.y else m.y)


@pure
def last(p: Params, m: Last, y: float, at: Tick) -> Last:
    return Last(y)


@pure
def finish(p: Params, m: Most, at: Tick) -> float:
    return m.y


MAXIMUM = Metric("maximum", Params, Most, most, finish)
MINIMUM = Metric("minimum", Params, Least, least, finish)
FINAL = Metric("final", Params, Last, last, finish)


def maximum(path: str) -> Measure:
    return Measure(MAXIMUM, path, Params())


def minimum(path: str) -> Measure:
    return Measure(MINIMUM, path, Params())


def final(path: str) -> Measure:
    return Measure(FINAL, path, Params())
