"""Least squares within bounds: an exact active-set method for up to 6 equations and 8 unknowns.

    min  sum_i w_i (A x - v)_i^2      lo <= x <= hi        and, of all minimisers, one near c

A' W A + gamma is solved over the unknowns that are free; a step that meets a bound stops there and fixes that unknown, and at the minimum
over the free ones the fixed unknown whose gradient points inwards most is let go. The pull gamma (x - c) towards the preferred place only chooses
among minimisers: once the minimum with it is found, it is dropped from the gradient, and the same steps go on until the gradient of the least
squares themselves is spent.

A   scaled so that each row has length 1 and each x runs over 2 at most      w at most 1      gamma = 1e-8, then 1e-14 (1e-5 in single precision)
optimality   the certificate: the largest component of the projected gradient at x; 0 at an exact minimum
"""

import math
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, maximum
from pushrod.pipeline.allocate.axes import N_MOST, Line, axis_line, effector_line, matrix_line, square_line

HALVES = 2.0**27 + 1.0  # splits a double into two of half its digits
ROUNDS = 60  # far more than are ever needed: each fixes or frees one of at most eight unknowns


class Solved(NamedTuple):
    x: A[tuple[Any, ...], effector_line] = effector_line.empty()
    optimality: A[float, Q("-", 0.0)] = 0.0
    rounds: A[float, Q("-", 0.0)] = 0.0


@pure
def single() -> bool:
    """Is this single precision? Then 1e-10 is lost beside 1."""
    return (1.0 + 1e-10) - 1.0 == 0.0


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
def factor(F: Line, H: Line, stiff: Line, side: Line, n: int, gamma: float) -> Line:
    """Cholesky factor of H + gamma over the free unknowns; a fixed one is a row of the unit matrix. The diagonal is stored as its reciprocal."""
    for a in range(n):
        for b in range(a):
            h = 0.0
            if effector_line.get(side, a) == 0.0 and effector_line.get(side, b) == 0.0:
                h = square_line.get(H, a * N_MOST + b)
                for c in range(b):
                    h = h - square_line.get(F, a * N_MOST + c) * square_line.get(F, b * N_MOST + c)
                h = h * square_line.get(F, b * N_MOST + b)
            F = square_line.put(F, a * N_MOST + b, h)
        d = 1.0
        if effector_line.get(side, a) == 0.0:
            d = square_line.get(H, a * N_MOST + a) + gamma * effector_line.get(stiff, a)
            for c in range(a):
                d = d - square_line.get(F, a * N_MOST + c) * square_line.get(F, a * N_MOST + c)
        F = square_line.put(F, a * N_MOST + a, 1.0 / math.sqrt(maximum(d, 1e-3 * gamma)))
    return F


@pure
def descent(p: Line, F: Line, g: Line, side: Line, n: int) -> Line:
    """The step to the minimum over the free unknowns: F F' p = -g there, 0 elsewhere."""
    for a in range(n):
        t = -effector_line.get(g, a) if effector_line.get(side, a) == 0.0 else 0.0
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
def gradient(g: Line, E: Line, r: Line, stiff: Line, x: Line, c: Line, n: int, m: int, gamma: float) -> Line:
    for j in range(n):
        t = 0.0
        if gamma > 0.0 or single():
            t = gamma * effector_line.get(stiff, j) * (effector_line.get(x, j) - effector_line.get(c, j))
            for i in range(m):
                t = t + matrix_line.get(E, i * n + j) * axis_line.get(r, i)
        else:
            t = slope(E, r, j, n, m)
        g = effector_line.put(g, j, t)
    return g


@pure
def slope(E: Line, r: Line, j: int, n: int, m: int) -> float:
    """Component j of A' r as if summed in twice the digits (Dot2 of Ogita, Rump and Oishi, doi:10.1137/030601818).

    Where x can move without a change of A x, this must be 0 to far below rounding: a step is that over gamma.
    """
    s = 0.0
    error = 0.0
    for i in range(m):
        a = matrix_line.get(E, i * n + j)
        b = axis_line.get(r, i)
        y = a * b
        h = HALVES * a
        a1 = h - (h - a)
        a2 = a - a1
        h = HALVES * b
        b1 = h - (h - b)
        b2 = b - b1
        error = error + (((a1 * b1 - y) + a1 * b2 + a2 * b1) + a2 * b2)
        z = s + y
        h = z - s
        error = error + ((s - (z - h)) + (y - h))
        s = z
    return s + error


@pure
def least_squares(x: Line, E: Line, w: Line, v: Line, c: Line, stiff: Line, lo: Line, hi: Line, n: int, m: int) -> Solved:
    """From any x within the bounds."""
    gamma = 1e-5 if single() else 1e-8
    spent = 5e-6 if single() else 1e-15
    scale = 1.0
    for i in range(m):
        scale = maximum(scale, abs(axis_line.get(v, i)))
    spent = spent * scale
    H = gram(square_line.empty(), E, w, n, m)
    F = square_line.empty()
    side = effector_line.empty()  # 0 free, -1 fixed at lo, 1 fixed at hi
    r = axis_line.empty()
    g = effector_line.empty()
    p = effector_line.empty()
    pulling = 1.0  # 0 once the minimum with the pull is found
    optimality = 0.0
    rounds = 0
    before = 0.0  # the free gradient a whole step ago; 0 where the last step was cut short
    stale = True  # F does not fit the free unknowns
    going = True
    while going and rounds < ROUNDS:
        r = misses(r, E, w, v, x, n, m)
        g = gradient(g, E, r, stiff, x, c, n, m, gamma * pulling)
        # the worst of the free gradient, and the fixed unknown that most wants to come inwards
        free = 0.0
        worst = 0.0
        out = -1
        for j in range(n):
            t = effector_line.get(side, j)
            if t == 0.0:
                free = maximum(free, abs(effector_line.get(g, j)))
            elif t * effector_line.get(g, j) > worst and effector_line.get(lo, j) < effector_line.get(hi, j):
                worst = t * effector_line.get(g, j)
                out = j
        optimality = maximum(free, worst)
        moving = True
        # spent, or down to rounding: a whole step no longer makes it less
        if free <= spent or (free <= 1e4 * spent and free > 0.5 * before and before > 0.0):
            before = 0.0
            if out >= 0 and worst > maximum(spent, 2.0 * free):
                side = effector_line.put(side, out, 0.0)
                free = worst  # it is one of the free ones now: the next step is measured by it
                stale = True
            else:
                moving = False
                going = pulling > 0.0
                pulling = 0.0
                gamma = 1e-5 if single() else 1e-14
                stale = True
        if moving:
            if stale:
                F = factor(F, H, stiff, side, n, gamma)
                stale = False
            p = descent(p, F, g, side, n)
            before = free
            # the first step goes to the minimum without bounds and is brought within them; each later one stops at the first bound it meets
            t = 1.0
            block = -1
            if rounds > 0:
                for j in range(n):
                    d = effector_line.get(p, j)
                    if d != 0.0 and effector_line.get(side, j) == 0.0:
                        end = (effector_line.get(lo, j) if d < 0.0 else effector_line.get(hi, j)) - effector_line.get(x, j)
                        if abs(end) < t * abs(d):
                            t = end / d
                            block = j
            for j in range(n):
                a = effector_line.get(lo, j)
                b = effector_line.get(hi, j)
                to = effector_line.get(x, j) + t * effector_line.get(p, j)
                at = -1.0 if effector_line.get(p, j) < 0.0 else 1.0
                if j == block or (rounds == 0 and not (to >= a and to <= b)):
                    to = a if at < 0.0 else b
                    side = effector_line.put(side, j, at)
                    stale = True
                    before = 0.0
                x = effector_line.put(x, j, clamp(to, a, b))
        rounds = rounds + 1
    return Solved(x, optimality, float(rounds))
