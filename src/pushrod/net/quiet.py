"""Limit repeated log lines: one per subject and period, for a bounded number of subjects, since a subject may hold text that a sender chose."""

import time
from collections import OrderedDict
from collections.abc import Hashable

SUBJECTS = 1024


class Quiet:
    def __init__(self, period: float) -> None:
        self._period = period
        self._logged: OrderedDict[Hashable, float] = OrderedDict()

    def is_due(self, subject: Hashable) -> bool:
        """Return whether this subject was not logged within the period, and count it as logged if so."""
        now = time.monotonic()
        if now < self._logged.get(subject, float("-inf")) + self._period:
            return False
        self._logged[subject] = now
        self._logged.move_to_end(subject)
        while len(self._logged) > SUBJECTS:
            self._logged.popitem(last=False)
        return True
