"""One axis after another: how far each can be served without touching those before it.

    max  s (A x)_i  up to v_i        lo <= x <= hi,   (A x)_h constant for all h held before,    s = sign(v_i - (A x)_i)

The step is along s a_i, projected on what leaves the held axes alone: p = q - A_h' z over the unknowns that are not at a bound, (A_h A_h') z =
A_h q. It ends where the axis is met, or at a bound, which is then fixed. Where no step is left, a fixed unknown whose reduced gradient q_j -
a_j.z points inwards is let go; where there is none the axis has all it can get. Of several the first is taken, so that no round comes back to
where it was.
"""

import math

from pushrod.core.purity import pure
from pushrod.core.ring import Ring
from pushrod.core.scalar import clamp, maximum
from pushrod.pipeline.allocate.axes import M_MOST, Line, axis_line, effector_line, matrix_line, number
from pushrod.pipeline.allocate.box import single

normal_line = Ring(number, M_MOST * M_MOST)
ROUNDS = 64


@pure
def reached(E: Line, x: Line, i: int, n: int) -> float:
    """(A x)_i."""
    t = 0.0
    for j in range(n):
        t = t + matrix_line.get(E, i * n + j) * effector_line.get(x, j)
    return t


@pure
def normal(N: Line, E: Line, held: Line, side: Line, n: int, m: int) -> Line:
    """Cholesky factor of A_h A_h' over what is free. An axis that is not held, or depends there on those before it, has 0 on the diagonal."""
    dependent = 1e-6 if single() else 1e-14
    for a in range(m):
        for b in range(a + 1):
            h = 0.0
            if axis_line.get(held, a) != 0.0 and (a == b or normal_line.get(N, b * M_MOST + b) > 0.0):
                for j in range(n):
                    if effector_line.get(side, j) == 0.0:
                        h = h + matrix_line.get(E, a * n + j) * matrix_line.get(E, b * n + j)
                whole = h
                for c in range(b):
                    h = h - normal_line.get(N, a * M_MOST + c) * normal_line.get(N, b * M_MOST + c)
                h = h / normal_line.get(N, b * M_MOST + b) if a != b else (math.sqrt(h) if h > dependent * whole else 0.0)
            N = normal_line.put(N, a * M_MOST + b, h)
    return N


@pure
def multipliers(z: Line, N: Line, E: Line, p: Line, n: int, m: int) -> Line:
    """z + (A_h A_h')^-1 A_h p."""
    y = axis_line.empty()
    for a in range(m):
        d = normal_line.get(N, a * M_MOST + a)
        t = 0.0
        if d > 0.0:
            for j in range(n):
                t = t + matrix_line.get(E, a * n + j) * effector_line.get(p, j)
            for b in range(a):
                t = t - normal_line.get(N, a * M_MOST + b) * axis_line.get(y, b)
            t = t / d
        y = axis_line.put(y, a, t)
    for k in range(m):
        a = m - 1 - k
        d = normal_line.get(N, a * M_MOST + a)
        if d > 0.0:
            t = axis_line.get(y, a)
            for b in range(a + 1, m):
                t = t - normal_line.get(N, b * M_MOST + a) * axis_line.get(y, b)
            y = axis_line.put(y, a, t / d)
            z = axis_line.put(z, a, axis_line.get(z, a) + t / d)
    return z


@pure
def reduced(E: Line, z: Line, i: int, j: int, sign: float, n: int, m: int) -> float:
    """q_j - a_j.z: what unknown j does for axis i once the held axes are made up for."""
    d: float = sign * matrix_line.get(E, i * n + j)
    for a in range(m):
        d = d - matrix_line.get(E, a * n + j) * axis_line.get(z, a)
    return d


@pure
def along(p: Line, E: Line, z: Line, side: Line, i: int, sign: float, n: int, m: int) -> Line:
    for j in range(n):
        p = effector_line.put(p, j, reduced(E, z, i, j, sign, n, m) if effector_line.get(side, j) == 0.0 else 0.0)
    return p


@pure
def raise_axis(x: Line, E: Line, held: Line, v: float, i: int, lo: Line, hi: Line, n: int, m: int) -> Line:
    """x moved so that axis i is as near to v as the held axes allow."""
    small = 1e-5 if single() else 1e-10
    side = effector_line.empty()
    for j in range(n):
        t = effector_line.get(x, j)
        at = -1.0 if t <= effector_line.get(lo, j) else (1.0 if t >= effector_line.get(hi, j) else 0.0)
        side = effector_line.put(side, j, at)
    p = effector_line.empty()
    z = axis_line.empty()
    N = normal_line.empty()
    sign = 1.0 if v >= reached(E, x, i, n) else -1.0
    rounds = 0
    while rounds < ROUNDS:
        rounds = rounds + 1
        N = normal(N, E, held, side, n, m)
        for a in range(m):
            z = axis_line.put(z, a, 0.0)
        p = along(p, E, z, side, i, sign, n, m)
        for _ in range(2):  # once more, for what rounding left
            z = multipliers(z, N, E, p, n, m)
            p = along(p, E, z, side, i, sign, n, m)
        size = 0.0
        gain = 0.0
        enter = -1
        for k in range(n):
            j = n - 1 - k
            where = effector_line.get(side, j)
            if where == 0.0:
                size = maximum(size, abs(effector_line.get(p, j)))
                gain = gain + sign * matrix_line.get(E, i * n + j) * effector_line.get(p, j)
            elif where * reduced(E, z, i, j, sign, n, m) < -small and effector_line.get(lo, j) < effector_line.get(hi, j):
                enter = j
        if size > small and gain > 0.0:
            t = abs(v - reached(E, x, i, n)) / gain
            block = -1
            for j in range(n):
                d = effector_line.get(p, j)
                if d != 0.0:
                    end = (effector_line.get(lo, j) if d < 0.0 else effector_line.get(hi, j)) - effector_line.get(x, j)
                    if abs(end) < t * abs(d):
                        t = end / d
                        block = j
            for j in range(n):
                to = clamp(effector_line.get(x, j) + t * effector_line.get(p, j), effector_line.get(lo, j), effector_line.get(hi, j))
                x = effector_line.put(x, j, to)
            if block >= 0:
                at = -1.0 if effector_line.get(p, block) < 0.0 else 1.0
                side = effector_line.put(side, block, at)
                x = effector_line.put(x, block, effector_line.get(lo, block) if at < 0.0 else effector_line.get(hi, block))
            else:
                rounds = ROUNDS  # the axis is met
        elif enter >= 0:
            side = effector_line.put(side, enter, 0.0)
        else:
            rounds = ROUNDS  # nothing more to be had
    return x
