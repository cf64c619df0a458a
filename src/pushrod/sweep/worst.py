"""The runs that came off worst: those whose nearest criterion is missed by the most.

    margin = min over the criteria of min(high - y, y - low) / w        w = what nine of ten runs span of y

margin   below 0 where a run fails, 0 on the bound;  -inf where y is no number or never came
So numbers of different units stand side by side: -1 is a bound missed by as much as the runs differ anyway.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.sweep.histogram import Spread

Array = NDArray[np.float64]
SHOWN = 10


class Bound(NamedTuple):
    """What a number must keep to pass; in one scenario, by its number, or in all."""

    metric: str
    low: float
    high: float
    scenario: int | None = None

    def holds(self, y: Array, scenario: NDArray[np.generic]) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = (y >= self.low) & (y <= self.high)
        return kept if self.scenario is None else kept | (scenario != self.scenario)


class Margins(NamedTuple):
    margin: Array
    by: NDArray[np.int64]  # the criterion that is nearest, or missed by the most


def margins(bounds: Sequence[Bound], columns: Mapping[str, Array], spreads: Mapping[str, Spread], scenario: NDArray[np.generic]) -> Margins:
    each = np.stack([_margin(bound, columns[bound.metric], spreads[bound.metric], scenario) for bound in bounds])
    by = np.argmin(each, axis=0)
    return Margins(np.take_along_axis(each, by[None], axis=0)[0], by)


def _margin(bound: Bound, y: Array, told: Spread, scenario: NDArray[np.generic]) -> Array:
    width = told.quantiles[3] - told.quantiles[1]
    scale = width if width > 0.0 else max(abs(told.mean), 1e-300) if told.n else 1.0
    with np.errstate(invalid="ignore"):
        away = np.minimum(bound.high - y, y - bound.low) / scale
    away = np.where(np.isnan(y) | np.isnan(away), -np.inf, away)
    return away if bound.scenario is None else np.where(scenario == bound.scenario, away, np.inf)


def worst(margin: Array, count: int = SHOWN) -> list[int]:
    """Rows, the worst first; of equals the earlier."""
    n = min(count, len(margin))
    if n == 0:
        return []
    few = np.argpartition(margin, n - 1)[:n]
    edge = margin[few].max()
    few = np.concatenate((np.flatnonzero(margin < edge), np.flatnonzero(margin == edge)[:n]))
    return [int(i) for i in few[np.lexsort((few, margin[few]))][:n]]
