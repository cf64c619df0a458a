"""Pure transport delay in front of any command record, by a real number of seconds.

    y(t) = u(t - delay)

A command is given at the start of a tick and acts from  m = floor(delay / dt)  ticks and  h = delay - m dt  seconds later. What follows the delay is
called twice: with `before` for h, then with `after` for dt - h; either may be 0. No command overtakes another:

- a changed delay leaves what is on its way alone; a command that would arrive with or before the one ahead of it takes its place in the line, and its
  arrival time: the one ahead would act for no time at all;
- at most one command arrives inside a tick. A second one (the delay shrank by less than a tick) acts from the start of the next, and is counted late;
- a delay of more than `slots` ticks is cut to that, and each command cut is counted (`Params.flaws` reports it beforehand).

dt is the same at every tick; the line stores arrival ticks and offsets, no times. Ticks are counted round a circle, so that float32 is exact for
ever. Two delays in series are one delay by their sum. A tick of length 0 takes no command and delivers none: the line stays as it is.
"""

import functools
import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.errors import InputError
from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.ring import Ring
from pushrod.core.scalar import clamp, minimum
from pushrod.models.line import at_rest

# delay / dt of a whole number of ticks may round to just below it; this much of a tick is taken for rounding
ROUNDING = 1e-9
# ticks on the circle: float32 counts to twice as many, and no command is on its way for half as many
CIRCLE = 8388608.0


@pure
def on_circle(n: float) -> float:
    return n if n < CIRCLE else n - CIRCLE


@pure
def ticks_until(n: float, now: float) -> float:
    """Below 0 where n is past."""
    d = n - now
    return d - CIRCLE if d > 0.5 * CIRCLE else (d + CIRCLE if d < -0.5 * CIRCLE else d)


def of(Record: Any, slots: int) -> Model:
    """The delay of one kind of command. Equal arguments give the same Model. Needs floor(delay / dt) + 2 <= slots."""
    if slots < 2:
        raise InputError(f"a delay line needs at least 2 slots, got {slots}: floor(delay / dt) + 2")
    return _of(Record, int(slots))


@functools.cache
def _of(Record: Any, slots: int) -> Model:
    rest = at_rest(Record)

    class Params(NamedTuple):
        delay: A[float, Q("s", 0.0, 10.0, "from giving a command to its acting")] = 0.0

        def flaws(self, dt: float | None) -> Iterator[str]:
            if dt is None or not dt > 0.0:
                return
            need = math.floor(self.delay / dt + ROUNDING) + 2
            if need > slots:
                yield (
                    f"delay = {self.delay:g} s is {need - 2} ticks of dt = {dt:g} s and needs {need} slots; this line has {slots}: "
                    f"keep it below {(slots - 1) * dt:g} s, or lengthen dt of the scenario (where a line is built in Python, to slots={need})"
                )

    class Entry(NamedTuple):
        n: A[float, Q("tick", 0.0, CIRCLE - 1.0)] = 0.0
        h: A[float, Q("s", 0.0)] = 0.0
        u: Record = rest

    ring = Ring(Entry, slots)

    class State(NamedTuple):
        n: A[float, Q("tick", 0.0, CIRCLE - 1.0, "ticks done, round the circle")] = 0.0
        first: A[float, Q("-", 0.0, slots - 1, "slot of the next to arrive")] = 0.0
        waiting: A[float, Q("-", 0.0, slots, "commands on their way")] = 0.0
        last_n: A[float, Q("tick", 0.0, CIRCLE - 1.0, "arrival tick of the newest")] = 0.0
        last_h: A[float, Q("s", 0.0, about="arrival offset of the newest")] = 0.0
        late: A[float, Q("-", 0.0, about="commands that acted a tick start late")] = 0.0
        cut: A[float, Q("-", 0.0, about="commands whose delay did not fit the line")] = 0.0
        u: Record = rest
        line: A[tuple[Any, ...], ring] = ring.empty()

    class Out(NamedTuple):
        before: Record = rest
        after: Record = rest
        h: A[float, Q("s", 0.0, about="how long `before` acts in this tick")] = 0.0

    @pure
    def slot(k: float) -> int:
        j = int(k)
        return j if j < slots else j - slots

    @pure
    def step(p: Params, s: State, u: Any, dt: float) -> tuple[State, Out]:
        if dt <= 0.0:
            return s, Out(s.u, s.u, 0.0)
        # send
        r = p.delay / dt + ROUNDING
        cut = s.cut + 1.0 if r >= float(slots) else s.cut
        m = float(math.floor(minimum(r, float(slots - 1))))
        h = clamp(p.delay - m * dt, 0.0, dt)
        waiting = s.waiting + 1.0
        last = ticks_until(s.last_n, s.n)
        if s.waiting > 0.0 and (m < last or (m == last and h <= s.last_h)):
            m = last
            h = s.last_h
            waiting = s.waiting
        n = on_circle(s.n + m)
        line = ring.put(s.line, slot(s.first + waiting - 1.0), Entry(n, h, u))

        # arrive: what is overdue acts from the start of the tick, then at most one more inside it
        before = s.u
        first = s.first
        late = s.late
        head = ring.get(line, slot(first))
        while waiting > 0.0 and ticks_until(head.n, s.n) < 0.0:
            before = head.u
            first = float(slot(first + 1.0))
            waiting = waiting - 1.0
            late = late + 1.0
            head = ring.get(line, slot(first))
        after = before
        until = dt
        if waiting > 0.0 and head.n == s.n:
            after = head.u
            until = minimum(head.h, dt)
            first = float(slot(first + 1.0))
            waiting = waiting - 1.0
        return State(on_circle(s.n + 1.0), first, waiting, n, h, late, cut, after, line), Out(before, after, until)

    return Model("delay", Params, State, Record, Out, step)
