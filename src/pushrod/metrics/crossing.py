"""Crossing time: the end of the first tick after which y is at or above the threshold (falling: at or below); infinite if it never is.

A signal that is there from the start has crossed at the end of the first tick: what it was before is not seen.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick
from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q, flag
from pushrod.metrics.metric import Measure, Metric


class Params(NamedTuple):
    threshold: A[float, Q("y")] = 0.0
    falling: A[float, flag("the first tick at or below instead of at or above")] = 0.0


class State(NamedTuple):
    first: A[float, Q("tick")] = -1.0


@pure
def fold(p: Params, m: State, y: float, at: Tick) -> State:
    past = y <= p.threshold if p.falling != 0.0 else y >= p.threshold
    return State(float(at.k + 1) if past and m.first < 0.0 else m.first)


@pure
def finish(p: Params, m: State, at: Tick) -> float:
    return INF if m.first < 0.0 else m.first * at.dt


CROSSING_TIME = Metric("crossing_time", Params, State, fold, finish, unit="s")


def crossing_time(path: str, threshold: float, falling: bool = False, to: str | None = None) -> Measure:
    return Measure(CROSSING_TIME, path, Params(threshold, float(falling)), to)
