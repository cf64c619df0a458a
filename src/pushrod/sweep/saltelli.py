"""Rows for total indices: of each base point, two independent samples and mixtures of them (Saltelli and others, 2010).

    A, B, AB_1 ... AB_d        AB_f is A with factor f of B

A factor is a parameter, or a group that is drawn together. Base point j is rows j (d + 2) ... of the study, in this order. A and all AB_f of a base
point have the same noise, B has noise of its own: the difference of A and AB_f is what factor f does, and noise counts as one more factor.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pushrod.sweep.study import Study

A, B, MIXED = 0, 1, 2  # rows of a base point; the first of the mixed ones


def factor_rows(factor: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows, by their number in a base point, take this factor from B."""
    taken: NDArray[np.bool_] = (rows == B) | (rows == MIXED + factor)
    return taken


def instance(study: "Study", sample: int) -> int:
    """Return the instance whose noise a sample has."""
    if study.design != "saltelli":
        return sample
    base, row = divmod(sample, study.rows)
    return base + (study.runs // study.rows if row == B else 0)


def streams(study: "Study", first: int, last: int) -> Iterator[tuple[slice, int]]:
    """Yield samples first ... last-1 in parts whose instances follow one another: their places, and the first instance."""
    step = study.rows
    for start in range(min(step, last - first)):
        yield slice(start, None, step), instance(study, first + start)
