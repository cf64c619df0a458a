"""Which axes can still be served: the decision that keeps a nearly singular effectiveness from turning into huge gains.

    gain = sqrt(trace((A_k A_k')^-1)) <= gain_max         A_k the scaled rows of the axes that are kept

The axes are asked in their order of importance. One is kept if its row, together with those kept before, can be inverted with no greater gain
than allowed; else it is lost: no effector is moved for it, and it is reported. The gain bounds how far the effectors go, in half-ranges, for a
command of the whole healthy authority: |x| <= gain |v / r| for the answer of least size.

An axis that was lost comes back where the gain is at most BACK gain_max: so a health that wavers about the bound does not make it come and go, for
at each change the outputs jump.

A' A built row by row as L L' : y = L^-1 A_k a, pivot = a.a - y.y, z = L'^-1 y, and the trace grows by (1 + z.z) / pivot.
"""

import math
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.ring import Ring
from pushrod.pipeline.allocate.axes import M_MOST, Axes, Line, axis_line, effector_line, from_axes, from_health, matrix_line, number, to_axes
from pushrod.pipeline.allocate.effectiveness import In, Params, State, authorities, scaled

factor_line = Ring(number, M_MOST * M_MOST)
PIVOT_LEAST = 1e-12  # of the healthy authority squared; smaller is rounding
BACK = 0.9


class Kept(NamedTuple):
    kept: A[tuple[Any, ...], axis_line] = axis_line.empty()
    gain: A[float, Q("-", 0.0)] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST)] = 0.0


class Out(NamedTuple):
    lost: Axes = Axes()
    gain: A[float, Q("-", 0.0, about="bound on effectors per share of the healthy authority")] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST, "axes that are served")] = 0.0


@pure
def dot(p: Params, E: Line, a: int, b: int, n: int) -> float:
    """Of two rows, over the effectors that can move."""
    t = 0.0
    for j in range(n):
        if p.lo[j] < p.hi[j]:
            t = t + matrix_line.get(E, a * n + j) * matrix_line.get(E, b * n + j)
    return t


@pure
def decide(kept: Line, p: Params, E: Line, gone: Line, n: int, m: int) -> Kept:
    """`gone` says which axes were lost before."""
    L = factor_line.empty()
    y = axis_line.empty()
    z = axis_line.empty()
    who = axis_line.empty()
    rank = 0
    trace = 0.0
    for c in range(m):
        i = int(p.order[c])
        pivot = dot(p, E, i, i, n)
        for a in range(rank):
            t = dot(p, E, i, int(axis_line.get(who, a)), n)
            for b in range(a):
                t = t - factor_line.get(L, a * M_MOST + b) * axis_line.get(y, b)
            t = t / factor_line.get(L, a * M_MOST + a)
            y = axis_line.put(y, a, t)
            pivot = pivot - t * t
        grown = 1.0
        for d in range(rank):
            a = rank - 1 - d
            t = axis_line.get(y, a)
            for b in range(a + 1, rank):
                t = t - factor_line.get(L, b * M_MOST + a) * axis_line.get(z, b)
            t = t / factor_line.get(L, a * M_MOST + a)
            z = axis_line.put(z, a, t)
            grown = grown + t * t
        most = p.gain_max * (BACK if axis_line.get(gone, i) != 0.0 else 1.0)
        serves = pivot > PIVOT_LEAST and trace + grown / pivot <= most * most
        kept = axis_line.put(kept, i, 1.0 if serves else 0.0)
        if serves:
            trace = trace + grown / pivot
            for b in range(rank):
                L = factor_line.put(L, rank * M_MOST + b, axis_line.get(y, b))
            L = factor_line.put(L, rank * M_MOST + rank, math.sqrt(pivot))
            who = axis_line.put(who, rank, float(i))
            rank = rank + 1
    return Kept(kept, math.sqrt(trace), float(rank))


@pure
def lost(line: Line, kept: Line, m: int) -> Line:
    for i in range(m):
        line = axis_line.put(line, i, 1.0 - axis_line.get(kept, i))
    return line


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    n = len(p.lo)
    m = len(p.weight)
    k = from_health(effector_line.empty(), u.health)
    r = authorities(axis_line.empty(), p, n, m)
    E = scaled(matrix_line.empty(), p, r, k, n, m)
    gone = from_axes(axis_line.empty(), s.lost)
    found = decide(axis_line.empty(), p, E, gone, n, m)
    now = to_axes(lost(gone, found.kept, m))
    return State(now) if dt > 0.0 else s, Out(now, found.gain, found.rank)


RANK = Model("rank", Params, State, In, Out, step)
