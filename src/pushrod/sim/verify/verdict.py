"""What came of replaying one reference file, and the tally that finds its worst value.

A value passes when |value - golden| <= absolute + relative * |golden|; flags, counters and expected errors must be equal.
"""

import math
from typing import NamedTuple

from pushrod.core.errors import VerifyError


class Verdict(NamedTuple):
    file: str
    rows: int
    worst_column: str
    worst_error: float
    tolerance: str
    passed: bool
    note: str = ""
    binds: bool = True  # False: replayed for information; `passed` says whether it agrees, and nothing follows from it

    @property
    def failed(self) -> bool:
        return self.binds and not self.passed


class Tally:
    """Compares value by value and keeps the worst, as a multiple of what is allowed."""

    def __init__(self, absolute: float, relative: float) -> None:
        if not (0.0 <= absolute < math.inf and 0.0 <= relative < math.inf):
            raise VerifyError(f"a tolerance of {absolute:g} + {relative:g} rel; both must be finite and not below 0")
        self.absolute = absolute
        self.relative = relative
        self.rows = 0
        self.share = -1.0
        self.error = 0.0
        self.column = "-"
        self.where = ""

    def compare(self, column: str, value: float, golden: float, where: str = "") -> None:
        allowed = self.absolute + self.relative * abs(golden)
        error = abs(value - golden)
        share = 0.0 if error == 0.0 else error / allowed if math.isfinite(error) and allowed > 0.0 else math.inf
        self._keep(column, error, share, where)

    def equal(self, column: str, value: object, golden: object, where: str = "") -> None:
        """Flags, counters and expected errors."""
        self._keep(column, 0.0 if value == golden else math.inf, 0.0 if value == golden else math.inf, where)

    def _keep(self, column: str, error: float, share: float, where: str) -> None:
        if share > self.share:
            self.share, self.error, self.column, self.where = share, error, column, where

    def verdict(self, file: str, note: str = "") -> Verdict:
        passed = 0.0 <= self.share <= 1.0  # below 0: nothing was compared
        where = f"worst at {self.where}" if self.where and not passed else ""
        tolerance = f"{self.absolute:g} + {self.relative:g} rel"
        return Verdict(file, self.rows, self.column, self.error, tolerance, passed, "; ".join(filter(None, (note, where))))
