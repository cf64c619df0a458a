"""The values of a study's samples, by their numbers: any part of them alone, equal bits whatever the parts are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pushrod.sweep.correlated import Correlated
from pushrod.sweep.counter import Numbers, Words
from pushrod.sweep.design import places
from pushrod.sweep.saltelli import factor_rows
from pushrod.sweep.varied import Varied

if TYPE_CHECKING:
    from pushrod.sweep.study import Study


def draw(study: "Study", first: int, last: int) -> dict[str, Numbers]:
    """Samples first ... last-1: every varied parameter by its path."""
    if study.design == "grid":
        return _levels(study.vary, first, last)
    dimensions = sum(len(item.paths) for item in study.vary)
    if study.design != "saltelli":
        return _values(study, places(study.design, study.seed, dimensions, study.runs, first, last), np.arange(first, last, dtype=np.uint64))
    base, row = np.divmod(np.arange(first, last), study.rows)
    start, end = first // study.rows, (last - 1) // study.rows + 1
    u = places("sobol", study.seed, 2 * dimensions, study.runs // study.rows, start, end)
    index = np.arange(start, end, dtype=np.uint64) * np.uint64(2)
    A, B = _values(study, u[:dimensions], index), _values(study, u[dimensions:], index + np.uint64(1))
    found: dict[str, Numbers] = {}
    for factor, item in enumerate(study.vary):
        of_B = factor_rows(factor, row)
        found |= {path: np.where(of_B, B[path][base - start], A[path][base - start]) for path in item.paths}
    return found


def _values(study: "Study", u: Numbers, index: Words) -> dict[str, Numbers]:
    """Return the values at places u [parameter, sample] of the samples with these numbers."""
    found: dict[str, Numbers] = {}
    for item in study.vary:
        first = len(found)
        mine = u[first : first + len(item.paths)]
        found |= {item.path: item.distribution.quantile(mine[0])} if isinstance(item, Varied) else item.quantile(mine, index, study.seed, first)
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
