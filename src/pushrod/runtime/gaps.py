"""When to work without being in the way: between the calls of control loops, not shortly before them.

A loop spins before its deadline, and a thread that wants the interpreter then takes it for a tenth of a millisecond. So whoever has time works in the
gaps, as long as there are any and nothing piles up.
"""

import time
from collections.abc import Callable, Iterable

from pushrod.runtime.cadence import Cadence

BEFORE = 250_000  # [ns] before a call is due: a loop spins for 150 us, and a switch of threads takes up to 100 us
AFTER = 150_000  # [ns] after it: the call itself
SHORTEST = 50_000  # [ns] of a gap that is of use
PATIENCE = 20_000_000  # [ns] without a gap: then it works all the same
SLICE = 200_000  # [ns] of work then
LONGEST = 5_000_000  # [ns] of work at a time where nobody is in a hurry
SLOW = 0.05  # [s] from this period on a loop does not count


class Gaps:
    def __init__(self, loops: Callable[[], Iterable[Cadence]]) -> None:
        self._loops = loops

    def wait(self) -> int:
        """Wait for a gap; gives when it ends [ns]."""
        give_up = time.monotonic_ns() + PATIENCE
        while True:
            now = time.monotonic_ns()
            due = min((loop.due(now) for loop in self._loops() if loop.period < SLOW and not loop.stopping), default=None)
            if due is None:
                return now + LONGEST
            if due - BEFORE - now >= SHORTEST:
                return min(due - BEFORE, now + LONGEST)
            if now >= give_up:
                return now + SLICE
            time.sleep((due + AFTER - now) * 1e-9)
