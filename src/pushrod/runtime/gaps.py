"""When to work without being in the way: between the calls of control loops, not shortly before them.

A loop spins before its deadline, and a thread that wants the interpreter then takes it for a tenth of a millisecond. So whoever has time works in the
gaps, as long as there are any and nothing piles up. To wake is to want the interpreter, too: the next gap is reckoned, and slept up to in one go.
What is planned for later is planned into a gap.
"""

import time
from collections.abc import Callable, Iterable

from pushrod.runtime.cadence import Cadence

BEFORE = 250_000  # [ns] before a call is due: its loop wakes 110 us before, and whoever works up to here may be late himself by a switch of threads
AFTER = 50_000  # [ns] after a call has ended, which takes as long as usual
SHORTEST = 50_000  # [ns] of a gap that is of use
PATIENCE = 10_000_000  # [ns] without a gap: then it works all the same
SLICE = 200_000  # [ns] of work then
LONGEST = 5_000_000  # [ns] of work at a time where nobody is in a hurry
PUT_OFF = 1_000_000  # [ns] that a plan may be put off
SLOW = 0.05  # [s] from this period on a loop does not count


class Gaps:
    def __init__(self, loops: Callable[[], Iterable[Cadence]]) -> None:
        self._loops = loops

    def wait(self, rest: float = 0.0) -> int:
        """Wait for so long [s], and on to the next gap; gives when it ends [ns]."""
        now = time.monotonic_ns()
        begin, give_up = now + round(rest * 1e9), now + round(rest * 1e9) + PATIENCE
        while True:
            loops = self._quick()
            begin = _following(loops, max(begin, now), give_up)
            if begin <= now:
                break
            time.sleep((begin - now) * 1e-9)
            now = time.monotonic_ns()  # it may have taken longer, and the gap may be over
        if now >= give_up:
            return now + SLICE
        return min((loop.due(now) - BEFORE for loop in loops), default=now + LONGEST)

    def planned(self, t: float) -> float:
        """When to do what should be done at `t` [s of the monotonic clock]: then, or up to a millisecond later, in a gap."""
        ns = round(t * 1e9)
        return t + 1e-9 * (_following(self._quick(), ns, ns + PUT_OFF) - ns)

    def _quick(self) -> list[Cadence]:
        return [loop for loop in self._loops() if loop.period < SLOW and not loop.stopping]


def _following(loops: Iterable[Cadence], t: int, give_up: int) -> int:
    """The first time from `t` on [ns] at which no loop's call is going on, nor due soon; `give_up` where there is none before it."""
    while t < give_up:
        calls = [(due, due + loop.usual + AFTER) for loop in loops for due in (loop.due(t), loop.due(t) - round(1e9 * loop.period))]
        over = [end for due, end in calls if due - BEFORE - SHORTEST < t < end]
        if not over:
            return t
        t = max(over)
    return max(t, give_up)
