"""How far the host's clock is ahead of this program's, and how well that is known.

t1 sent, t4 back: this clock.   t2 came, t3 answered: the host's.
offset = ((t2 - t1) + (t3 - t4)) / 2,  wrong by at most half of the way there and back, ((t4 - t1) - (t3 - t2)) / 2.

Of the last exchanges the one counts that leaves least doubt now: a quick one is trusted longer, but clocks drift apart.
"""

from collections import deque
from math import isfinite
from typing import NamedTuple

DRIFT = 1e-4  # [s/s] that two quartz clocks may drift apart, at worst
KEPT = 16


class Offset(NamedTuple):
    """host's clock = this clock + seconds, within doubt; both in s."""

    seconds: float
    doubt: float


class Exchange(NamedTuple):
    at: float
    offset: float
    half_way: float


class Estimate:
    def __init__(self) -> None:
        self._kept: deque[Exchange] = deque(maxlen=KEPT)
        self._best: Exchange | None = None

    def add(self, t1: float, t2: float, t3: float, t4: float) -> None:
        """Add an exchange; one that holds a time that is not finite is ignored, since a NaN would pass for the best one."""
        if not all(map(isfinite, (t1, t2, t3, t4))):
            return
        self._kept.append(Exchange(t4, 0.5 * ((t2 - t1) + (t3 - t4)), max(0.5 * ((t4 - t1) - (t3 - t2)), 0.0)))
        self._best = min(self._kept, key=lambda x: x.half_way - DRIFT * x.at)  # all grow alike: which is best changes with a new one only

    def at(self, now: float) -> Offset:
        """Nothing is known before the first exchange: the doubt is infinite."""
        best = self._best
        return Offset(0.0, float("inf")) if best is None else Offset(best.offset, best.half_way + DRIFT * max(now - best.at, 0.0))
