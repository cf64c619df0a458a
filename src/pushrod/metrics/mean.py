"""Mean value:  1/K sum_k y_k, the sum compensated as that of `rms`."""

from typing import NamedTuple

from pushrod.core.model import Tick
from pushrod.core.purity import pure
from pushrod.metrics.metric import Measure, Metric
from pushrod.metrics.rms import Sum, add, mean_of


class Params(NamedTuple):
    pass


@pure
def fold(p: Params, m: Sum, y: float, at: Tick) -> Sum:
    return add(m, y)


@pure
def finish(p: Params, m: Sum, at: Tick) -> float:
    return mean_of(m)


MEAN = Metric("mean", Params, Sum, fold, finish)


def mean(path: str, to: str | None = None) -> Measure:
    return Measure(MEAN, path, Params(), to)
