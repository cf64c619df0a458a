"""A metric is a pure fold over the outputs of a run, so that a million runs need not store their trajectories.

m = fold(p, m, y, at)      once per tick, y the watched output after tick at
result = finish(p, m, at)  once at the end, at the last tick
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, eq=False)
class Metric:
    """A kind of metric. `unit` of its result: "y" is that of the watched output, anything else is itself."""

    name: str
    Params: Any
    State: Any
    fold: Callable[[Any, Any, Any, Any], Any]
    finish: Callable[[Any, Any, Any], float]
    unit: str = "y"


class Measure(NamedTuple):
    """A metric of one output, with its parameters: what a user asks a run for."""

    metric: Metric
    path: str
    params: Any
