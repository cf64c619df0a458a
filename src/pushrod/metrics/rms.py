"""Root mean square about a target:  sqrt(1/K sum_k (y_k - target)^2).

The sum is compensated (Kahan) and ticks are counted in blocks: float32 loses nothing over a billion ticks.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.metrics.metric import Measure, Metric

BLOCK = 1048576.0  # ticks; float32 counts sixteen times as far


class Params(NamedTuple):
    target: A[float, Q("y")] = 0.0


class Sum(NamedTuple):
    total: A[float, Q("y2")] = 0.0
    lost: A[float, Q("y2")] = 0.0  # what rounding took from the total
    n: A[float, Q("tick")] = 0.0
    blocks: A[float, Q("-")] = 0.0


@pure
def add(m: Sum, x: float) -> Sum:
    term = x - m.lost
    total = m.total + term
    full = m.n + 1.0 >= BLOCK
    return Sum(total, (total - m.total) - term, 0.0 if full else m.n + 1.0, m.blocks + 1.0 if full else m.blocks)


@pure
def mean_of(m: Sum) -> float:
    n = m.blocks * BLOCK + m.n
    return m.total / n if n > 0.0 else 0.0


@pure
def fold(p: Params, m: Sum, y: float, at: Tick) -> Sum:
    e = y - p.target
    return add(m, e * e)


@pure
def finish(p: Params, m: Sum, at: Tick) -> float:
    return math.sqrt(mean_of(m))


RMS = Metric("rms", Params, Sum, fold, finish)


def rms(path: str, target: float = 0.0, to: str | None = None) -> Measure:
    return Measure(RMS, path, Params(target), to)
