"""One axis after another: how far each can be served without touching those before it; then the answer nearest to the preferred one.

    max  s (A x)_i  up to v_i        lo <= x <= hi,   (A x)_h constant for all h held before,    s = sign(v_i - (A x)_i)
    min  sum_j (x_j - c_j)^2 / soft_j                 lo <= x <= hi,   (A x)_h constant for all h that are kept

Over the unknowns that are free, not fixed at a bound, Q holds the held rows made orthonormal (Gram-Schmidt), and a step goes along the part of the
gradient that they leave: p = q - Q' Q q. The same sum over a fixed unknown is its reduced gradient.

To serve an axis x follows the projection of its gradient on the directions that bounds and held rows leave: at a bound an unknown is fixed where it
would leave, and free where its reduced gradient points inwards (Murty's pivots, the first one of the wrong kind at a time, find the one choice). This
way does not depend on the order of the effectors, and what it gains per half-range moved never grows along it. So it ends where the axis is met,
where nothing is left, or where too little is left to be worth moving for (`least`), and moves little where the command does.

least   a step that would serve its axis by less than this, in authorities per half-range moved, is not made: effectors do not fight for nothing
ROW     a held row of which no more than this is left by those before it, over what is free, depends on them: in authorities, far above the rounding
        in the effectiveness and far below what counts. Such an axis is held as well as those it depends on.
"""

import math
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, maximum, single
from pushrod.pipeline.allocate.axes import Line, axis_line, effector_line, matrix_line

ROUNDS = 64
PIVOTS = 128
ROW = 1e-9
ROW_SINGLE = 1e-4


class Level(NamedTuple):
    """Where the unknowns are, and the reduced gradient of each axis where its level ended."""

    x: A[tuple[Any, ...], effector_line] = effector_line.empty()
    reduced: A[tuple[Any, ...], matrix_line] = matrix_line.empty()


@pure
def reached(E: Line, x: Line, i: int, n: int) -> float:
    """(A x)_i."""
    t = 0.0
    for j in range(n):
        t = t + matrix_line.get(E, i * n + j) * effector_line.get(x, j)
    return t


@pure
def at_bounds(side: Line, x: Line, lo: Line, hi: Line, n: int) -> Line:
    """-1 fixed at its lower bound, 1 at its upper one, 0 free."""
    for j in range(n):
        t = effector_line.get(x, j)
        side = effector_line.put(side, j, -1.0 if t <= effector_line.get(lo, j) else (1.0 if t >= effector_line.get(hi, j) else 0.0))
    return side


@pure
def over_free(line: Line, soft: Line, side: Line, n: int) -> Line:
    """soft for what is free, 0 for what is fixed: the metric of the rows."""
    for j in range(n):
        line = effector_line.put(line, j, effector_line.get(soft, j) if effector_line.get(side, j) == 0.0 else 0.0)
    return line


@pure
def dot(P: Line, a: int, Q: Line, b: int, metric: Line, n: int) -> float:
    t = 0.0
    for j in range(n):
        t = t + matrix_line.get(P, a * n + j) * matrix_line.get(Q, b * n + j) * effector_line.get(metric, j)
    return t


@pure
def orthonormal(Q: Line, E: Line, held: Line, metric: Line, n: int, m: int) -> Line:
    """The held rows, orthonormal over what is free; one that depends on those before it is 0. Rows that are not held are not written."""
    row = ROW_SINGLE if single() else ROW
    scale = 0.0
    for j in range(n):
        scale = maximum(scale, effector_line.get(metric, j))
    for a in range(m):
        if axis_line.get(held, a) != 0.0:
            for j in range(n):
                Q = matrix_line.put(Q, a * n + j, matrix_line.get(E, a * n + j))
            size = dot(Q, a, Q, a, metric, n)
            again = 2  # once more where little is left, for what rounding left
            while again > 0:
                before = size
                for b in range(a):
                    if axis_line.get(held, b) != 0.0:
                        t = dot(Q, a, Q, b, metric, n)
                        for j in range(n):
                            Q = matrix_line.put(Q, a * n + j, matrix_line.get(Q, a * n + j) - t * matrix_line.get(Q, b * n + j))
                size = dot(Q, a, Q, a, metric, n)
                again = again - 1 if size < 0.1 * before else 0
            t = 1.0 / math.sqrt(size) if size > row * row * scale else 0.0
            for j in range(n):
                Q = matrix_line.put(Q, a * n + j, t * matrix_line.get(Q, a * n + j))
    return Q


@pure
def left_by(p: Line, Q: Line, held: Line, soft: Line, side: Line, n: int, m: int) -> Line:
    """p less what would move a held axis."""
    for b in range(m):
        if axis_line.get(held, b) != 0.0:
            t = 0.0
            for j in range(n):
                t = t + (matrix_line.get(Q, b * n + j) * effector_line.get(p, j) if effector_line.get(side, j) == 0.0 else 0.0)
            for j in range(n):
                p = effector_line.put(p, j, effector_line.get(p, j) - t * effector_line.get(soft, j) * matrix_line.get(Q, b * n + j))
    return p


@pure
def blocking(x: Line, p: Line, side: Line, lo: Line, hi: Line, t: float, n: int) -> int:
    """The unknown that meets its bound first on the way of t p; -1 where none does."""
    block = -1
    for j in range(n):
        d = effector_line.get(p, j)
        if d != 0.0 and effector_line.get(side, j) == 0.0:
            end = abs((effector_line.get(lo, j) if d < 0.0 else effector_line.get(hi, j)) - effector_line.get(x, j))
            if end < t * abs(d):
                t = end / abs(d)
                block = j
    return block


@pure
def share_of_way(x: Line, p: Line, lo: Line, hi: Line, j: int) -> float:
    """How far along p unknown j meets its bound."""
    d: float = effector_line.get(p, j)
    end: float = (effector_line.get(lo, j) if d < 0.0 else effector_line.get(hi, j)) - effector_line.get(x, j)
    return end / d


@pure
def moved(x: Line, p: Line, side: Line, lo: Line, hi: Line, t: float, block: int, n: int) -> Line:
    """x + t p over what is free; the unknown that meets its bound is at the very bound."""
    for j in range(n):
        if effector_line.get(side, j) == 0.0:
            a = effector_line.get(lo, j)
            b = effector_line.get(hi, j)
            d = effector_line.get(p, j)
            x = effector_line.put(x, j, (a if d < 0.0 else b) if j == block else clamp(effector_line.get(x, j) + t * d, a, b))
    return x


@pure
def raise_axis(x: Line, reduced: Line, E: Line, held: Line, v: float, i: int, lo: Line, hi: Line, least: float, n: int, m: int) -> Level:
    """x moved so that axis i is as near to v as the held axes allow."""
    small = ROW_SINGLE if single() else ROW
    side = at_bounds(effector_line.empty(), x, lo, hi, n)
    at = at_bounds(effector_line.empty(), x, lo, hi, n)
    soft = effector_line.empty()
    for j in range(n):
        soft = effector_line.put(soft, j, 1.0)
    p = effector_line.empty()
    metric = effector_line.empty()
    Q = matrix_line.empty()
    sign = 1.0 if v >= reached(E, x, i, n) else -1.0
    rounds = 0
    while rounds < PIVOTS:
        rounds = rounds + 1
        metric = over_free(metric, soft, side, n)
        Q = orthonormal(Q, E, held, metric, n, m)
        for j in range(n):
            p = effector_line.put(p, j, sign * matrix_line.get(E, i * n + j))
        p = left_by(p, Q, held, soft, side, n, m)
        gain = 0.0
        pivot = -1
        for k in range(n):
            j = n - 1 - k
            where = effector_line.get(side, j)
            if where == 0.0:
                outwards = effector_line.get(at, j) * effector_line.get(p, j)
                if outwards > small:
                    pivot = j
                elif outwards > 0.0:
                    p = effector_line.put(p, j, 0.0)  # rounding, which would end the step before it begins
                gain = gain + effector_line.get(p, j) * effector_line.get(p, j)
            elif where * effector_line.get(p, j) < -small and effector_line.get(lo, j) < effector_line.get(hi, j):
                pivot = j
        if pivot >= 0:
            side = effector_line.put(side, pivot, effector_line.get(at, pivot) if effector_line.get(side, pivot) == 0.0 else 0.0)
        elif gain > least * least:
            t = maximum(sign * (v - reached(E, x, i, n)), 0.0) / gain
            block = blocking(x, p, side, lo, hi, t, n)
            if block >= 0:
                t = share_of_way(x, p, lo, hi, block)
            x = moved(x, p, side, lo, hi, t, block, n)
            at = at_bounds(at, x, lo, hi, n)
            if block >= 0:
                side = effector_line.put(side, block, effector_line.get(at, block))
            else:
                rounds = PIVOTS  # the axis is met
        else:
            rounds = PIVOTS  # nothing more to be had
    for j in range(n):
        reduced = matrix_line.put(reduced, i * n + j, effector_line.get(p, j))
    return Level(x, reduced)


@pure
def nearest(x: Line, E: Line, held: Line, c: Line, soft: Line, lo: Line, hi: Line, n: int, m: int) -> Line:
    """x moved as near to c as it goes without moving a held axis."""
    small = 1e-5 if single() else 1e-12
    side = at_bounds(effector_line.empty(), x, lo, hi, n)
    p = effector_line.empty()
    metric = effector_line.empty()
    Q = matrix_line.empty()
    rounds = 0
    stale = True
    while rounds < ROUNDS:
        rounds = rounds + 1
        if stale:
            metric = over_free(metric, soft, side, n)
            Q = orthonormal(Q, E, held, metric, n, m)
            stale = False
        for j in range(n):
            p = effector_line.put(p, j, effector_line.get(c, j) - effector_line.get(x, j))
        p = left_by(p, Q, held, soft, side, n, m)
        size = 0.0
        worst = small
        enter = -1
        for j in range(n):
            where = effector_line.get(side, j)
            if where == 0.0:
                size = maximum(size, abs(effector_line.get(p, j)))
            elif -where * effector_line.get(p, j) > worst and effector_line.get(lo, j) < effector_line.get(hi, j):
                worst = -where * effector_line.get(p, j)
                enter = j
        if size > small:
            block = blocking(x, p, side, lo, hi, 1.0, n)
            t = share_of_way(x, p, lo, hi, block) if block >= 0 else 1.0
            x = moved(x, p, side, lo, hi, t, block, n)
            if block >= 0:
                side = effector_line.put(side, block, -1.0 if effector_line.get(p, block) < 0.0 else 1.0)
                stale = True
        elif enter >= 0:
            side = effector_line.put(side, enter, 0.0)
            stale = True
        else:
            rounds = ROUNDS
    return x
