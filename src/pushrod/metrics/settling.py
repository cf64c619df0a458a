"""Settling time: the end of the first tick after which y stays within target +- band, 0 if it always did; infinite if it is outside at the end."""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick
from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q, flag
from pushrod.metrics.metric import Measure, Metric


class Params(NamedTuple):
    target: A[float, Q("y")] = 0.0
    band: A[float, Q("y", 0.0)] = 0.02


class State(NamedTuple):
    settled: A[float, Q("tick")] = 0.0  # ticks until y was inside for good
    outside: A[float, flag("y is outside now")] = 0.0


@pure
def is_outside(p: Params, y: float) -> bool:
    return not abs(y - p.target) <= p.band  # what is no number is outside


@pure
def fold(p: Params, m: State, y: float, at: Tick) -> State:
    outside = is_outside(p, y)
    return State(float(at.k + 2) if outside else m.settled, 1.0 if outside else 0.0)


@pure
def finish(p: Params, m: State, at: Tick) -> float:
    return INF if m.outside != 0.0 else m.settled * at.dt


SETTLING_TIME = Metric("settling_time", Params, State, fold, finish, unit="s")


def settling_time(path: str, target: float, band: float, to: str | None = None) -> Measure:
    return Measure(SETTLING_TIME, path, Params(target, band), to)
