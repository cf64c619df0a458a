"""Recovery time: from the first tick that counts until y stays within target +- band; 0 if it always did, infinite if it is outside at the end."""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick
from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q, flag
from pushrod.metrics.metric import Measure, Metric
from pushrod.metrics.settling import Params, is_outside


class State(NamedTuple):
    first: A[float, Q("tick")] = -1.0
    settled: A[float, Q("tick")] = 0.0  # ticks from the first until y was inside for good
    outside: A[float, flag("y is outside now")] = 0.0


@pure
def fold(p: Params, m: State, y: float, at: Tick) -> State:
    first = float(at.k) if m.first < 0.0 else m.first
    outside = is_outside(p, y)
    return State(first, float(at.k + 1) - first if outside else m.settled, 1.0 if outside else 0.0)


@pure
def finish(p: Params, m: State, at: Tick) -> float:
    return INF if m.outside != 0.0 else m.settled * at.dt


RECOVERY_TIME = Metric("recovery_time", Params, State, fold, finish, unit="s")


def recovery_time(path: str, target: float, band: float, to: str | None = None) -> Measure:
    return Measure(RECOVERY_TIME, path, Params(target, band), to)
