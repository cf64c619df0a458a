"""Least squares within bounds: an active-set method for up to 6 equations and 8 unknowns, with a bounded gain.

    min  sum_i w_i (A x - v)_i^2      lo <= x <= hi

A' W A is solved over a basis of the unknowns that are free; a step that meets a bound stops there and fixes that unknown, and at the minimum
over the basis the fixed unknown whose gradient points inwards most is let go. The basis holds free unknowns whose columns are independent of each
other by `least` and more, the most independent first: what only their difference could do would move them by more than 1 / least half-ranges for
an authority, and is not done.

A   scaled so that each row has length 1 and each x runs over 2 at most      w at most 1      gradient A' W (A x - v)
"""

import math
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, maximum, single
from pushrod.pipeline.allocate.axes import N_MOST, Line, axis_line, effector_line, matrix_line, square_line

ROUNDS = 60  # far more than are ever needed: each fixes or frees one of at most eight unknowns


class Solved(NamedTuple):
    x: A[tuple[Any, ...], effector_line] = effector_line.empty()
    rounds: A[float, Q("-", 0.0)] = 0.0


@pure
def gram(H: Line, E: Line, w: Line, n: int, m: int) -> Line:
    """The lower half of A' W A."""
    for a in range(n):
        for b in range(a + 1):
            h = 0.0
            for i in range(m):
                h = h + axis_line.get(w, i) * matrix_line.get(E, i * n + a) * matrix_line.get(E, i * n + b)
            H = square_line.put(H, a * N_MOST + b, h)
    return H


@pure
def entry(H: Line, a: int, b: int) -> float:
    """Of the whole symmetric matrix."""
    h: float = square_line.get(H, (a * N_MOST + b) if a > b else (b * N_MOST + a))
    return h


@pure
def select(basic: Line, G: Line, side: Line, least: float, n: int, m: int) -> Line:
    """The basis: 1 for a free unknown whose column is independent of the others in it.

    G = A' A is factored column by column, the largest first; d is what is left of each.
    """
    L = matrix_line.empty()
    d = effector_line.empty()
    for j in range(n):
        d = effector_line.put(d, j, square_line.get(G, j * N_MOST + j) if effector_line.get(side, j) == 0.0 else 0.0)
        basic = effector_line.put(basic, j, 0.0)
    rank = 0
    for _ in range(m):
        most = least * least
        best = -1
        for j in range(n):
            if effector_line.get(d, j) > most:
                most = effector_line.get(d, j)
                best = j
        if best >= 0:
            basic = effector_line.put(basic, best, 1.0)
            d = effector_line.put(d, best, 0.0)
            root = math.sqrt(most)
            for j in range(n):
                if effector_line.get(d, j) > 0.0:
                    t = entry(G, best, j)
                    for c in range(rank):
                        t = t - matrix_line.get(L, c * n + best) * matrix_line.get(L, c * n + j)
                    t = t / root
                    L = matrix_line.put(L, rank * n + j, t)
                    d = effector_line.put(d, j, effector_line.get(d, j) - t * t)
            rank = rank + 1
    return basic


@pure
def factor(F: Line, H: Line, basic: Line, n: int) -> Line:
    """Cholesky factor of H over the basis; any other unknown is a row of the unit matrix. The diagonal is stored as its reciprocal."""
    floor = 1e-8 if single() else 1e-30
    for a in range(n):
        for b in range(a):
            h = 0.0
            if effector_line.get(basic, a) != 0.0 and effector_line.get(basic, b) != 0.0:
                h = square_line.get(H, a * N_MOST + b)
                for c in range(b):
                    h = h - square_line.get(F, a * N_MOST + c) * square_line.get(F, b * N_MOST + c)
                h = h * square_line.get(F, b * N_MOST + b)
            F = square_line.put(F, a * N_MOST + b, h)
        d = 1.0
        if effector_line.get(basic, a) != 0.0:
            d = square_line.get(H, a * N_MOST + a)
            for c in range(a):
                d = d - square_line.get(F, a * N_MOST + c) * square_line.get(F, a * N_MOST + c)
        F = square_line.put(F, a * N_MOST + a, 1.0 / math.sqrt(maximum(d, floor)))
    return F


@pure
def descent(p: Line, F: Line, g: Line, basic: Line, n: int) -> Line:
    """The step to the minimum over the basis: F F' p = -g there, 0 elsewhere."""
    for a in range(n):
        t = -effector_line.get(g, a) if effector_line.get(basic, a) != 0.0 else 0.0
        for b in range(a):
            t = t - square_line.get(F, a * N_MOST + b) * effector_line.get(p, b)
        p = effector_line.put(p, a, t * square_line.get(F, a * N_MOST + a))
    for k in range(n):
        a = n - 1 - k
        t = effector_line.get(p, a)
        for b in range(a + 1, n):
            t = t - square_line.get(F, b * N_MOST + a) * effector_line.get(p, b)
        p = effector_line.put(p, a, t * square_line.get(F, a * N_MOST + a))
    return p


@pure
def misses(r: Line, E: Line, w: Line, v: Line, x: Line, n: int, m: int) -> Line:
    """w (A x - v), axis by axis."""
    for i in range(m):
        t = -axis_line.get(v, i)
        for j in range(n):
            t = t + matrix_line.get(E, i * n + j) * effector_line.get(x, j)
        r = axis_line.put(r, i, axis_line.get(w, i) * t)
    return r


@pure
def gradient(g: Line, E: Line, r: Line, n: int, m: int) -> Line:
    for j in range(n):
        t = 0.0
        for i in range(m):
            t = t + matrix_line.get(E, i * n + j) * axis_line.get(r, i)
        g = effector_line.put(g, j, t)
    return g


@pure
def least_squares(x: Line, E: Line, w: Line, kept: Line, v: Line, side: Line, lo: Line, hi: Line, least: float, n: int, m: int) -> Solved:
    """From any x within the bounds; `side` says which unknowns are fixed at first: 0 free, -1 at lo, 1 at hi."""
    spent = 5e-6 if single() else 1e-15
    scale = 1.0
    for i in range(m):
        scale = maximum(scale, abs(axis_line.get(v, i)))
    spent = spent * scale
    H = gram(square_line.empty(), E, w, n, m)
    G = gram(square_line.empty(), E, kept, n, m)
    F = square_line.empty()
    basic = effector_line.empty()
    r = axis_line.empty()
    g = effector_line.empty()
    p = effector_line.empty()
    rounds = 0
    before = 0.0  # the gradient over the basis a whole step ago; 0 where the last step was cut short
    stale = True  # F does not fit the free unknowns
    going = True
    while going and rounds < ROUNDS:
        if stale:
            basic = select(basic, G, side, least, n, m)
            F = factor(F, H, basic, n)
            stale = False
        r = misses(r, E, w, v, x, n, m)
        g = gradient(g, E, r, n, m)
        # the worst of the gradient over the basis, and the fixed unknown that most wants to come inwards
        free = 0.0
        worst = 0.0
        out = -1
        for j in range(n):
            t = effector_line.get(side, j)
            if effector_line.get(basic, j) != 0.0:
                free = maximum(free, abs(effector_line.get(g, j)))
            elif t * effector_line.get(g, j) > worst and effector_line.get(lo, j) < effector_line.get(hi, j):
                worst = t * effector_line.get(g, j)
                out = j
        # spent, or down to rounding: a whole step no longer makes it less
        if free <= spent or (free <= 1e4 * spent and free > 0.5 * before and before > 0.0):
            before = 0.0
            going = out >= 0 and worst > maximum(spent, 2.0 * free)
            if going:
                side = effector_line.put(side, out, 0.0)
                stale = True
        else:
            p = descent(p, F, g, basic, n)
            before = free
            t = 1.0
            block = -1
            for j in range(n):
                d = effector_line.get(p, j)
                if d != 0.0:
                    end = (effector_line.get(lo, j) if d < 0.0 else effector_line.get(hi, j)) - effector_line.get(x, j)
                    if abs(end) < t * abs(d):
                        t = end / d
                        block = j
            for j in range(n):
                a = effector_line.get(lo, j)
                b = effector_line.get(hi, j)
                to = clamp(effector_line.get(x, j) + t * effector_line.get(p, j), a, b)
                if j == block:
                    at = -1.0 if effector_line.get(p, j) < 0.0 else 1.0
                    to = a if at < 0.0 else b
                    side = effector_line.put(side, j, at)
                    stale = True
                    before = 0.0
                x = effector_line.put(x, j, to)
        rounds = rounds + 1
    return Solved(x, float(rounds))
