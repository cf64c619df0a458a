"""From a command on the axes to outputs of the effectors: both allocators of n effectors and m axes, step by step.

    A x = v / r scaled,  axes that cannot be served left out,  least squares under bounds
    by priority, where that misses:  the axes served one after another,  then least squares to what each of them gets

So among answers that serve the axes alike the effectors are near `prefer`, with either policy, and they move without jumps.
"""

from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, maximum
from pushrod.pipeline.allocate.axes import (
    M_MOST,
    Axes,
    Effectors,
    Line,
    axis_line,
    effector_line,
    from_axes,
    from_health,
    matrix_line,
    to_axes,
    to_effectors,
)
from pushrod.pipeline.allocate.box import least_squares, single
from pushrod.pipeline.allocate.effectiveness import In, Params, authorities, half_range, scaled, scaled_weights
from pushrod.pipeline.allocate.health import edge, known_health, used
from pushrod.pipeline.allocate.level import raise_axis, reached
from pushrod.pipeline.allocate.rank import decide, lost

POLICIES = ("ALLOC_PRIORITY", "ALLOC_WEIGHTED")
PRIORITY, WEIGHTED = 0.0, 1.0


class Out(NamedTuple):
    u: Effectors = Effectors()
    v: Axes = Axes()
    lost: Axes = Axes()
    gain: A[float, Q("-", 0.0, about="bound on effectors per share of the healthy authority")] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST, "axes that are served")] = 0.0
    optimality: A[
        float, Q("-", 0.0, about="weighted: largest component of the projected gradient, scaled; by priority: most an axis misses what it gets")
    ] = 0.0
    rounds: A[float, Q("-", 0.0)] = 0.0


class Answer(NamedTuple):
    """What an allocator found, as lines: outputs, and which axes are lost."""

    u: A[tuple[Any, ...], effector_line] = effector_line.empty()
    lost: A[tuple[Any, ...], axis_line] = axis_line.empty()
    gain: A[float, Q("-", 0.0)] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST)] = 0.0
    optimality: A[float, Q("-", 0.0)] = 0.0
    rounds: A[float, Q("-", 0.0)] = 0.0


@pure
def per_half(x: Line, p: Params, values: Line, n: int) -> Line:
    """u / D, effector by effector."""
    for j in range(n):
        x = effector_line.put(x, j, effector_line.get(values, j) / half_range(p, j))
    return x


@pure
def preferred(c: Line, p: Params, lo: Line, hi: Line, n: int) -> Line:
    """c: the preferred outputs within the bounds."""
    for j in range(n):
        c = effector_line.put(c, j, clamp(p.prefer[j] / half_range(p, j), effector_line.get(lo, j), effector_line.get(hi, j)))
    return c


@pure
def per_authority(x: Line, v: Line, r: Line, m: int) -> Line:
    for i in range(m):
        x = axis_line.put(x, i, axis_line.get(v, i) / axis_line.get(r, i))
    return x


@pure
def stiffness(line: Line, p: Params, n: int) -> Line:
    for j in range(n):
        line = effector_line.put(line, j, p.stiff[j])
    return line


@pure
def outputs(u: Line, p: Params, x: Line, k: Line, a: Line, b: Line, lo: Line, hi: Line, n: int) -> Line:
    """From x within a and b back to u within lo and hi, a bound to the very bound; a dead effector is not asked."""
    for j in range(n):
        t = effector_line.get(x, j)
        to = (
            effector_line.get(lo, j)
            if t <= effector_line.get(a, j)
            else (effector_line.get(hi, j) if t >= effector_line.get(b, j) else t * half_range(p, j))
        )
        to = to if known_health(effector_line.get(k, j), p.gain_max) > 0.0 else 0.0
        u = effector_line.put(u, j, clamp(to, effector_line.get(lo, j), effector_line.get(hi, j)))
    return u


@pure
def served(a: Line, p: Params, x: Line, E: Line, kept: Line, v: Line, lo: Line, hi: Line, n: int, m: int) -> Line:
    """What each axis gets, from any x within the bounds."""
    held = axis_line.empty()
    for c in range(m):
        i = int(p.order[c])
        if axis_line.get(kept, i) != 0.0:
            x = raise_axis(x, E, held, axis_line.get(v, i), i, lo, hi, n, m)
            held = axis_line.put(held, i, 1.0)
    for i in range(m):
        a = axis_line.put(a, i, reached(E, x, i, n))
    return a


@pure
def misses(E: Line, x: Line, aim: Line, kept: Line, n: int, m: int) -> float:
    """The most by which an axis is missed."""
    miss = 0.0
    for i in range(m):
        miss = maximum(miss, abs(reached(E, x, i, n) - axis_line.get(aim, i)) * axis_line.get(kept, i))
    return miss


@pure
def solve(u: Line, gone: Line, p: Params, policy: float, command: Line, k: Line, lo: Line, hi: Line, n: int, m: int) -> Answer:
    """The outputs for a command, within bounds that may be narrower than those of the parameters."""
    r = authorities(axis_line.empty(), p, n, m)
    E = scaled(matrix_line.empty(), p, r, k, n, m)
    found = decide(axis_line.empty(), p, E, n, m)
    kept = found.kept
    a = per_half(effector_line.empty(), p, lo, n)
    b = per_half(effector_line.empty(), p, hi, n)
    c = preferred(effector_line.empty(), p, a, b, n)
    x = preferred(effector_line.empty(), p, a, b, n)
    start = effector_line.empty()
    stiff = stiffness(effector_line.empty(), p, n)
    v = per_authority(axis_line.empty(), command, r, m)
    aim = per_authority(axis_line.empty(), command, r, m)
    w = scaled_weights(axis_line.empty(), p, r, kept, policy == WEIGHTED, m)
    close = 1e-4 if single() else 1e-10  # of the authority: what can be done is not far above it

    optimality = 0.0
    rounds = 0.0
    going = True
    while going:
        y = least_squares(x, E, w, aim, c, stiff, a, b, n, m)
        x = y.x
        miss = misses(E, x, aim, kept, n, m)
        going = policy == PRIORITY and miss > close and rounds == 0.0
        optimality = miss if policy == PRIORITY else y.optimality
        rounds = rounds + y.rounds
        if going:
            for j in range(n):
                start = effector_line.put(start, j, effector_line.get(x, j))
            aim = served(aim, p, start, E, kept, v, a, b, n, m)
            x = preferred(x, p, a, b, n)
    return Answer(outputs(u, p, x, k, a, b, lo, hi, n), lost(gone, kept, m), found.gain, found.rank, optimality, rounds)


@pure
def effect(v: Line, p: Params, u: Line, k: Line, n: int, m: int) -> Line:
    """B u, each effector with its health."""
    for i in range(m):
        t = 0.0
        for j in range(n):
            t = t + p.B[i * n + j] * known_health(effector_line.get(k, j), p.gain_max) * effector_line.get(u, j)
        v = axis_line.put(v, i, t)
    return v


@pure
def bounds(line: Line, p: Params, ends: tuple[float, ...], k: Line, n: int) -> Line:
    """How far each is used."""
    for j in range(n):
        line = effector_line.put(line, j, edge(used(effector_line.get(k, j), p.gain_max), ends[j], p.lo[j], p.hi[j]))
    return line


@pure
def answer(p: Params, policy: float, u: In) -> Out:
    """One allocation, within the bounds of the parameters."""
    n = len(p.lo)
    m = len(p.weight)
    k = from_health(effector_line.empty(), u.health)
    lo = bounds(effector_line.empty(), p, p.lo, k, n)
    hi = bounds(effector_line.empty(), p, p.hi, k, n)
    y = solve(effector_line.empty(), axis_line.empty(), p, policy, from_axes(axis_line.empty(), u.v), k, lo, hi, n, m)
    v = effect(axis_line.empty(), p, y.u, k, n, m)
    return Out(to_effectors(y.u), to_axes(v), to_axes(y.lost), y.gain, y.rank, y.optimality, y.rounds)
