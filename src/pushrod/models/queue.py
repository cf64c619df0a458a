"""Plain queue: a delay by a whole number of steps, as the reference vehicle models have it.

    y[k] = u[k - n],  n = round(delay / sampling_time), halves away from zero;  y[k] = at rest while k < n

Each step pushes the new command and pops the oldest, so the delay is n steps whatever dt is; n = 0 delays nothing. `delay` and `sampling_time` may
differ per instance. If n changes, the output is still the command of n steps ago: commands are skipped or repeated at that moment. A step of dt = 0
pushes nothing and gives the last output again.
"""

import functools
import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.ring import Ring
from pushrod.core.scalar import minimum
from pushrod.models.line import at_rest


@pure
def entries(delay: float, sampling_time: float) -> float:
    """delay / sampling_time rounded, halves away from zero."""
    x = delay / sampling_time
    n = float(math.floor(x))
    return n + 1.0 if x - n >= 0.5 else n


def of(Record: Any, slots: int) -> Model:
    """The queue of one kind of command. Equal arguments give the same Model. Needs round(delay / sampling_time) + 1 <= slots."""
    return _of(Record, int(slots))


@functools.cache
def _of(Record: Any, slots: int) -> Model:
    rest = at_rest(Record)

    class Params(NamedTuple):
        delay: A[float, Q("s", 0.0, 10.0)] = 0.0
        sampling_time: A[float, Q("s", 1e-4, 1.0, "the tick the delay is counted in")] = 0.025

        def flaws(self, dt: float | None) -> Iterator[str]:
            if not (self.sampling_time > 0.0 and self.delay >= 0.0):
                return
            n = int(entries(self.delay, self.sampling_time))
            if n + 1 > slots:
                yield (
                    f"delay = {self.delay:g} s is {n} entries of {self.sampling_time:g} s and needs {n + 1} slots; this queue has {slots}: "
                    f"take at most {(slots - 1) * self.sampling_time:g} s, or lengthen sampling_time "
                    f"(where a queue is built in Python: to slots={n + 1})"
                )

    class Entry(NamedTuple):
        u: Record = rest

    ring = Ring(Entry, slots)

    class State(NamedTuple):
        i: A[float, Q("-", 0.0, slots - 1, "slot of the next push")] = 0.0
        line: A[tuple[Any, ...], ring] = ring.empty()

    @pure
    def back(i: int, n: int) -> int:
        """The slot n pushes before slot i."""
        j = i - n
        return j if j >= 0 else j + slots

    @pure
    def step(p: Params, s: State, u: Any, dt: float) -> tuple[State, Any]:
        n = int(minimum(entries(p.delay, p.sampling_time), float(slots - 1)))
        i = int(s.i)
        if dt <= 0.0:
            return s, ring.get(s.line, back(back(i, 1), n)).u
        line = ring.put(s.line, i, Entry(u))
        return State(float(i + 1 if i + 1 < slots else 0), line), ring.get(line, back(i, n)).u

    return Model("queue", Params, State, Record, Record, step)
