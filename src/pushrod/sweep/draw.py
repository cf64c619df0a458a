"""The values of a study's samples, by their numbers: any part of them alone, equal bits whatever the parts are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pushrod.sweep.correlated import Correlated
from pushrod.sweep.counter import Numbers
from pushrod.sweep.design import places
from pushrod.sweep.varied import Varied

if TYPE_CHECKING:
    from pushrod.sweep.study import Study


def draw(study: "Study", first: int, last: int) -> dict[str, Numbers]:
    """Samples first ... last-1: every varied parameter by its path."""
    if study.design == "grid":
        return _levels(study.vary, first, last)
    u = places(study.design, study.seed, sum(len(item.paths) for item in study.vary), study.runs, first, last)
    index = np.arange(first, last, dtype=np.uint64)
    found: dict[str, Numbers] = {}
    for item in study.vary:
        mine = u[len(found) : len(found) + len(item.paths)]
        found |= {item.path: item.distribution.quantile(mine[0])} if isinstance(item, Varied) else item.quantile(mine, index, study.seed)
    return found


def _levels(vary: Sequence[Varied | Correlated], first: int, last: int) -> dict[str, Numbers]:
    """The last parameter changes first, as digits do."""
    rest = np.arange(first, last)
    found: dict[str, Numbers] = {}
    for item in reversed(vary):
        assert isinstance(item, Varied)  # of a group a grid has no levels, which was said when the study was read
        n = item.levels or 1
        found[item.path] = item.distribution.level((rest % n).astype(float), n)
        rest = rest // n
    return dict(reversed(found.items()))
