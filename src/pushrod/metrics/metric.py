"""A metric is a pure fold over the signals of a run, so that a million runs need not store their trajectories.

m = fold(p, m, y, at)      once per tick, y the watched signal after tick at
result = finish(p, m, at)  once at the end, at the last tick
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pushrod.core.quantity import INF


@dataclass(frozen=True, eq=False)
class Metric:
    """A kind of metric. `unit` of its result: "y" is that of the watched signal, anything else is itself."""

    name: str
    Params: Any
    State: Any
    fold: Callable[[Any, Any, Any, Any], Any]
    finish: Callable[[Any, Any, Any], float]
    unit: str = "y"


class Measure(NamedTuple):
    """A metric of one signal, with its parameters: what a user asks a run for.

    `path` is an output, or in.<channel> an input. With `to` it is the difference to that signal that is watched. Only what there is at the end of
    ticks from `since` until `until` [s] counts, both included.
    """

    metric: Metric
    path: str
    params: Any
    to: str | None = None
    since: float = 0.0
    until: float = INF

    @property
    def windowed(self) -> bool:
        return self.since > 0.0 or self.until < INF

    def within(self, since: float, until: float = INF) -> "Measure":
        return self._replace(since=since, until=until)


def window(since: float, until: float, dt: float) -> tuple[float, float]:
    """The first and the last tick whose end, at (k + 1) dt, is from `since` until `until` [s]; the last may be infinite."""
    first = max(0, math.ceil(since / dt) - 2)
    while (first + 1) * dt < since:
        first += 1
    if not math.isfinite(until):
        return float(first), until
    last = math.floor(until / dt) + 1
    while (last + 1) * dt > until:
        last -= 1
    return float(first), float(last)
