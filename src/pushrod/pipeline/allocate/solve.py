"""From a command on the axes to outputs of the effectors: both allocators of n effectors and m axes, step by step.

    A x = v / r scaled,  axes that cannot be served left out,  x what each effector contributes: u k / D, within its bounds times its health
    1  the answer nearest to `prefer` without bounds; where it lies within them, it is the answer
    2  else what each axis gets: by priority the axes one after another, by weights least squares under bounds
    3  and of all answers that give the axes that much, the one nearest to `prefer`

So among answers that serve the axes alike the effectors are nearest to `prefer`, with either policy, and they move without jumps.

The gain is bounded with effectors at their limits too. An effector that does little on every axis is used for a share of its range alone
(`effectiveness.share_used`), and effectors do not move against each other for an axis that gets less than LEAST / gain_max of an authority per
half-range moved.

optimality   computed from the outputs u that are given back, within the whole range that health leaves: it shows what the gain bound refuses.
    by priority   the most an axis lacks of what it could get, in authorities: no more than it misses, and no more than duality allows. With the
                  reduced gradient d = s (a_i + sum_h z_h a_h), h before i, no x' that holds all h gets s (A x')_i > s (A x)_i + max d (x' - x)
    weighted      how far a step down the gradient of the scaled problem, brought back within the bounds, moves an effector: 0 at the minimum
"""

from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp, maximum, minimum
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
from pushrod.pipeline.allocate.box import gradient, least_squares, misses
from pushrod.pipeline.allocate.effectiveness import In, Params, State, authorities, half_range, scaled, scaled_weights, share_used, strength
from pushrod.pipeline.allocate.health import edge, known_health, used
from pushrod.pipeline.allocate.level import Level, at_bounds, dot, nearest, orthonormal, over_free, raise_axis, reached
from pushrod.pipeline.allocate.rank import decide, lost

POLICIES = ("ALLOC_PRIORITY", "ALLOC_WEIGHTED")
PRIORITY, WEIGHTED = 0.0, 1.0
LEAST = 0.5
FARTHEST = 1e9  # authorities: what is asked beyond is asked by so much
REFUSED = 1e9  # the certificate of what was not allocated


class Out(NamedTuple):
    u: Effectors = Effectors()
    v: Axes = Axes()
    lost: Axes = Axes()
    gain: A[float, Q("-", 0.0, about="bound on effectors per share of the healthy authority")] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST, "axes that are served")] = 0.0
    optimality: A[
        float,
        Q("-", 0.0, about="weighted: largest component of the projected gradient, scaled; by priority: most an axis lacks of what it could get"),
    ] = 0.0
    rounds: A[float, Q("-", 0.0)] = 0.0
    refused: A[float, flag("the command is not finite: every effector rests")] = 0.0


class Answer(NamedTuple):
    """What an allocator found, as lines: outputs, and which axes are lost."""

    u: A[tuple[Any, ...], effector_line] = effector_line.empty()
    lost: A[tuple[Any, ...], axis_line] = axis_line.empty()
    gain: A[float, Q("-", 0.0)] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST)] = 0.0
    optimality: A[float, Q("-", 0.0)] = 0.0
    rounds: A[float, Q("-", 0.0)] = 0.0


@pure
def per_half(x: Line, p: Params, values: Line, k: Line, n: int) -> Line:
    """u k / D, effector by effector."""
    for j in range(n):
        x = effector_line.put(x, j, effector_line.get(values, j) * known_health(effector_line.get(k, j), p.gain_max) / half_range(p, j))
    return x


@pure
def preferred(c: Line, p: Params, k: Line, lo: Line, hi: Line, n: int) -> Line:
    """c: what the preferred outputs contribute, within the bounds."""
    for j in range(n):
        t = p.prefer[j] * known_health(effector_line.get(k, j), p.gain_max) / half_range(p, j)
        c = effector_line.put(c, j, clamp(t, effector_line.get(lo, j), effector_line.get(hi, j)))
    return c


@pure
def per_authority(x: Line, v: Line, r: Line, m: int) -> Line:
    for i in range(m):
        x = axis_line.put(x, i, clamp(axis_line.get(v, i) / axis_line.get(r, i), -FARTHEST, FARTHEST))
    return x


@pure
def softness(line: Line, p: Params, k: Line, n: int) -> Line:
    """k^2 / stiff, the largest 1: how far each gives way, in what it contributes, for the same displeasure."""
    most = 0.0
    for j in range(n):
        t = known_health(effector_line.get(k, j), p.gain_max)
        line = effector_line.put(line, j, t * t / p.stiff[j] if t > 0.0 else 1.0 / p.stiff[j])
        most = maximum(most, effector_line.get(line, j))
    for j in range(n):
        line = effector_line.put(line, j, effector_line.get(line, j) / most)
    return line


@pure
def healthy(E: Line, p: Params, r: Line, k: Line, n: int, m: int) -> Line:
    """A for what each effector contributes: as if it were healthy, 0 where it is dead."""
    for j in range(n):
        d = half_range(p, j) if known_health(effector_line.get(k, j), p.gain_max) > 0.0 else 0.0
        for i in range(m):
            E = matrix_line.put(E, i * n + j, p.B[i * n + j] * d / axis_line.get(r, i))
    return E


@pure
def narrowed(line: Line, p: Params, E: Line, kept: Line, ends: Line, lo: Line, hi: Line, n: int, m: int) -> Line:
    """How far each output is used towards an end, for what it contributes."""
    for j in range(n):
        f = share_used(strength(E, kept, j, n, m), p.gain_max)
        c = clamp(p.prefer[j], effector_line.get(lo, j), effector_line.get(hi, j))
        end = effector_line.get(ends, j)
        line = effector_line.put(line, j, end if f >= 1.0 else c + f * (end - c))
    return line


@pure
def outputs(u: Line, p: Params, x: Line, k: Line, a: Line, b: Line, lo: Line, hi: Line, n: int) -> Line:
    """From x within a and b back to u within lo and hi, a bound to the very bound; a dead effector is not asked."""
    for j in range(n):
        t = effector_line.get(x, j)
        h = known_health(effector_line.get(k, j), p.gain_max)
        to = 0.0
        if h > 0.0:
            to = (
                effector_line.get(lo, j)
                if t <= effector_line.get(a, j)
                else (effector_line.get(hi, j) if t >= effector_line.get(b, j) else t * half_range(p, j) / h)
            )
        u = effector_line.put(u, j, clamp(to, effector_line.get(lo, j), effector_line.get(hi, j)))
    return u


@pure
def unbounded(x: Line, E: Line, kept: Line, v: Line, soft: Line, lo: Line, hi: Line, n: int, m: int) -> Line:
    """From c the nearest answer that gives every axis that is kept what is asked, whatever the bounds of the effectors that can move."""
    side = effector_line.empty()
    for j in range(n):
        side = effector_line.put(side, j, 0.0 if effector_line.get(lo, j) < effector_line.get(hi, j) else 1.0)
    metric = over_free(effector_line.empty(), soft, side, n)
    rows = orthonormal(matrix_line.empty(), E, kept, metric, n, m)
    for _ in range(2):  # once more, for what rounding left
        for i in range(m):
            if axis_line.get(kept, i) != 0.0:
                d = dot(E, i, rows, i, metric, n)
                t = (axis_line.get(v, i) - reached(E, x, i, n)) / d if d > 0.0 else 0.0
                for j in range(n):
                    x = effector_line.put(x, j, effector_line.get(x, j) + t * effector_line.get(metric, j) * matrix_line.get(rows, i * n + j))
    return x


@pure
def within(x: Line, lo: Line, hi: Line, n: int) -> bool:
    inside = True
    for j in range(n):
        inside = inside and effector_line.get(x, j) >= effector_line.get(lo, j) and effector_line.get(x, j) <= effector_line.get(hi, j)
    return inside


@pure
def served(x: Line, reduced: Line, p: Params, E: Line, kept: Line, v: Line, lo: Line, hi: Line, n: int, m: int) -> Level:
    """x moved until each axis gets what those before it leave, from any x within the bounds."""
    held = axis_line.empty()
    for c in range(m):
        i = int(p.order[c])
        if axis_line.get(kept, i) != 0.0:
            y = raise_axis(x, reduced, E, held, axis_line.get(v, i), i, lo, hi, LEAST / p.gain_max, n, m)
            x = y.x
            reduced = y.reduced
            held = axis_line.put(held, i, 1.0)
    return Level(x, reduced)


@pure
def ways(reduced: Line, E: Line, x: Line, v: Line, n: int, m: int) -> Line:
    """The gradient of each axis towards its command, as if none were held before it."""
    for i in range(m):
        sign = 1.0 if axis_line.get(v, i) >= reached(E, x, i, n) else -1.0
        for j in range(n):
            reduced = matrix_line.put(reduced, i * n + j, sign * matrix_line.get(E, i * n + j))
    return reduced


@pure
def lacking(E: Line, reduced: Line, x: Line, kept: Line, v: Line, lo: Line, hi: Line, n: int, m: int) -> float:
    """The certificate by priority."""
    worst = 0.0
    for i in range(m):
        if axis_line.get(kept, i) != 0.0:
            more = 0.0
            for j in range(n):
                d = matrix_line.get(reduced, i * n + j)
                more = more + d * ((effector_line.get(hi, j) if d > 0.0 else effector_line.get(lo, j)) - effector_line.get(x, j))
            worst = maximum(worst, minimum(abs(axis_line.get(v, i) - reached(E, x, i, n)), maximum(more, 0.0)))
    return worst


@pure
def uphill(E: Line, x: Line, w: Line, v: Line, lo: Line, hi: Line, n: int, m: int) -> float:
    """The weighted certificate."""
    r = misses(axis_line.empty(), E, w, v, x, n, m)
    g = gradient(effector_line.empty(), E, r, n, m)
    worst = 0.0
    for j in range(n):
        at = effector_line.get(x, j)
        worst = maximum(worst, abs(at - clamp(at - effector_line.get(g, j), effector_line.get(lo, j), effector_line.get(hi, j))))
    return worst


@pure
def solve(u: Line, gone: Line, p: Params, policy: float, command: Line, k: Line, low: Line, high: Line, n: int, m: int) -> Answer:
    """The outputs for a command, within bounds that may be narrower than those of the parameters; `gone` says which axes were lost before."""
    r = authorities(axis_line.empty(), p, n, m)
    E = scaled(matrix_line.empty(), p, r, k, n, m)
    found = decide(axis_line.empty(), p, E, gone, n, m)
    kept = found.kept
    E = healthy(E, p, r, k, n, m)
    lo = narrowed(effector_line.empty(), p, E, kept, low, low, high, n, m)
    hi = narrowed(effector_line.empty(), p, E, kept, high, low, high, n, m)
    a = per_half(effector_line.empty(), p, lo, k, n)
    b = per_half(effector_line.empty(), p, hi, k, n)
    c = preferred(effector_line.empty(), p, k, a, b, n)
    x = preferred(effector_line.empty(), p, k, a, b, n)
    soft = softness(effector_line.empty(), p, k, n)
    v = per_authority(axis_line.empty(), command, r, m)
    w = scaled_weights(axis_line.empty(), p, r, kept, policy == WEIGHTED, m)
    reduced = matrix_line.empty()

    x = unbounded(x, E, kept, v, soft, a, b, n, m)
    rounds = 1.0
    met = within(x, a, b, n)
    for j in range(n):
        x = effector_line.put(x, j, clamp(effector_line.get(x, j), effector_line.get(a, j), effector_line.get(b, j)))
    if policy == PRIORITY:
        reduced = ways(reduced, E, x, v, n, m)
    if not met:
        if policy == PRIORITY:
            y = served(x, reduced, p, E, kept, v, a, b, n, m)
            x = y.x
            reduced = y.reduced
            rounds = rounds + 1.0
        else:
            z = least_squares(x, E, w, kept, v, at_bounds(effector_line.empty(), x, a, b, n), a, b, LEAST / p.gain_max, n, m)
            x = z.x
            rounds = rounds + z.rounds
        x = nearest(x, E, kept, c, soft, a, b, n, m)

    u = outputs(u, p, x, k, a, b, lo, hi, n)
    x = per_half(x, p, u, k, n)
    # within the whole range that health leaves, so that the certificate shows what the bound on the gain refuses
    a = per_half(a, p, low, k, n)
    b = per_half(b, p, high, k, n)
    optimality = lacking(E, reduced, x, kept, v, a, b, n, m) if policy == PRIORITY else uphill(E, x, w, v, a, b, n, m)
    return Answer(u, lost(gone, kept, m), found.gain, found.rank, optimality, rounds)


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
def finite(v: Line, m: int) -> bool:
    fine = True
    for i in range(m):
        fine = fine and axis_line.get(v, i) - axis_line.get(v, i) == 0.0
    return fine


@pure
def answer(p: Params, s: State, policy: float, u: In, dt: float) -> tuple[State, Out]:
    """One allocation, within the bounds of the parameters."""
    n = len(p.lo)
    m = len(p.weight)
    k = from_health(effector_line.empty(), u.health)
    lo = bounds(effector_line.empty(), p, p.lo, k, n)
    hi = bounds(effector_line.empty(), p, p.hi, k, n)
    command = from_axes(axis_line.empty(), u.v)
    if not finite(command, m):
        rest = effector_line.empty()
        for j in range(n):
            rest = effector_line.put(rest, j, clamp(0.0, p.lo[j], p.hi[j]))
        done = to_axes(effect(axis_line.empty(), p, rest, k, n, m))
        return s, Out(to_effectors(rest), done, s.lost, 0.0, 0.0, REFUSED, 0.0, 1.0)
    y = solve(effector_line.empty(), from_axes(axis_line.empty(), s.lost), p, policy, command, k, lo, hi, n, m)
    v = effect(axis_line.empty(), p, y.u, k, n, m)
    gone = to_axes(y.lost)
    return State(gone) if dt > 0.0 else s, Out(to_effectors(y.u), to_axes(v), gone, y.gain, y.rank, y.optimality, y.rounds, 0.0)
