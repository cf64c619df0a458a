"""A step with work lines of its own: the median of the last inputs, sorted in one, and another that must be fresh in every step."""

from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.ring import Ring

N = 7


class Pair(NamedTuple):
    a: A[float, Q("-")] = 0.5
    b: A[float, Q("-")] = -1.0


kept = Ring(A[float, Q("-")], N)
work = Ring(A[float, Q("-")], N)
pairs = Ring(Pair, 3)


class Params(NamedTuple):
    gain: A[float, Q("-")] = 0.9


class State(NamedTuple):
    k: A[float, Q("-", 0.0, N - 1)] = 0.0
    line: A[tuple[Any, ...], kept] = kept.empty()


class Out(NamedTuple):
    middle: A[float, Q("-")] = 0.0
    fresh: A[float, Q("-")] = 0.0


@pure
def sorted_in(w: tuple[Any, ...], x: float, n: int) -> tuple[Any, ...]:
    """w with x put in its place among the first n."""
    j = n
    while j > 0 and work.get(w, j - 1) > x:
        w = work.put(w, j, work.get(w, j - 1))
        j = j - 1
    return work.put(w, j, x)


@pure
def median(line: tuple[Any, ...]) -> float:
    w = work.empty()
    for k in range(N):
        w = sorted_in(w, kept.get(line, k), k)
    middle: float = work.get(w, N // 2)
    return middle


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, Out]:
    line = kept.put(s.line, int(s.k), p.gain * u)
    q = pairs.empty()  # fresh in every step: defaults again, whatever the step before wrote
    fresh = pairs.get(q, 1).a + pairs.get(q, 2).b
    q = pairs.put(q, 1, Pair(u, u))
    fresh = fresh + pairs.get(q, 1).b - pairs.get(q, 0).a
    k = s.k + 1.0 if s.k < float(N - 1) else 0.0
    return State(k, line), Out(median(line), fresh)


MEDIAN = Model("median", Params, State, A[float, Q("-")], Out, step)
