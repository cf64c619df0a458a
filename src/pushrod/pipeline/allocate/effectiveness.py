"""What an allocator of n effectors and m axes is told, and the same scaled to pure numbers.

    v_i = sum_j B_ij u_j         r_i = sqrt(sum_j (B_ij D_j)^2)        D_j = (hi_j - lo_j) / 2
    A_ij = B_ij k_j D_j / r_i    x_j = u_j / D_j                       A x = v / r

B   effectiveness [unit of the axis per unit of the effector];  lo, hi bounds;  k health [-];  r_i authority of axis i with all effectors well

Each row of A then has length 1 with all well, and each x runs over 2: gains, ranks and tolerances mean the same whatever the units are.
"""

import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table
from pushrod.core.scalar import clamp, maximum
from pushrod.pipeline.allocate.axes import M_MOST, N_MOST, Axes, Health, Line, axis_line, effector_line, matrix_line
from pushrod.pipeline.allocate.health import known_health

WEIGHTS_SPREAD = 1e6  # between the most and the least important axis, as errors relative to its authority

SQUARE = (1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0)


class Params(NamedTuple):
    """Four effectors at the corners of a square by default: sum, two tilts and a twist."""

    B: A[Floats, Table("-", shape=("weight", "lo"), about="effectiveness, axis by axis")] = SQUARE
    weight: A[Floats, Table("-", about="of the squared error on each axis")] = (1.0, 1.0, 1.0, 1.0)
    order: A[Floats, Table("-", shape=("weight",), about="axes, most important first: the last are given up first")] = (0.0, 1.0, 2.0, 3.0)
    lo: A[Floats, Table("-", about="least output of each effector")] = (-1.0, -1.0, -1.0, -1.0)
    hi: A[Floats, Table("-", shape=("lo",), about="greatest output of each effector")] = (1.0, 1.0, 1.0, 1.0)
    prefer: A[Floats, Table("-", shape=("lo",), about="where each effector goes when the axes leave it free")] = (0.0, 0.0, 0.0, 0.0)
    stiff: A[Floats, Table("-", shape=("lo",), about="how much it prefers that to the others")] = (1.0, 1.0, 1.0, 1.0)
    gain_max: A[float, Q("-", 2.0, 1e3, "what would need more is not served: effectors per share of the healthy authority")] = 10.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        n, m = len(self.lo), len(self.weight)
        if n > N_MOST:
            yield f"lo has {n} effectors; at most {N_MOST} can be allocated to"
        if m > M_MOST:
            yield f"weight has {m} axes; at most {M_MOST} can be allocated"
        if m and self.order and sorted(self.order) != [float(i) for i in range(m)]:
            yield f"order = {self.order} must name each of the axes 0 to {m - 1} once"
        for j, (lo, hi) in enumerate(zip(self.lo, self.hi, strict=False)):
            if not lo <= hi:
                yield f"lo[{j}] = {lo:g} lies above hi[{j}] = {hi:g}; swap them"
        for name in ("weight", "stiff"):
            for i, x in enumerate(getattr(self, name)):
                if not 1e-6 <= x <= 1e6:
                    yield f"{name}[{i}] = {x:g} is outside its legal range; allowed [1e-06, 1e+06]"
        if n and m and len(self.B) == n * m and len(self.hi) == n:
            yield from self._spread(n, m)

    def _spread(self, n: int, m: int) -> Iterator[str]:
        half = [0.5 * (hi - lo) for lo, hi in zip(self.lo, self.hi, strict=True)]
        for name in ("B", "lo", "hi", "prefer"):
            if any(abs(x) > 1e6 for x in getattr(self, name)):
                yield f"{name} holds a number beyond 1e6; use larger units"
                return
        reach = [w * sum((self.B[i * n + j] * half[j]) ** 2 for j in range(n)) for i, w in enumerate(self.weight)]
        there = [x for x in reach if x > 0.0]
        if there and max(there) > WEIGHTS_SPREAD * min(there):
            yield (
                f"weight lets axis {reach.index(max(there))} count {max(there) / min(there):.2g} times as much as axis {reach.index(min(there))}, "
                f"each at full authority; more than {WEIGHTS_SPREAD:g} cannot be told from a strict order: use the priority policy for that"
            )


class State(NamedTuple):
    lost: Axes = Axes()


class In(NamedTuple):
    v: Axes = Axes()
    health: Health = Health()


@pure
def half_range(p: Params, j: int) -> float:
    """D_j; 1 for an effector that cannot move, which its bounds hold where it is."""
    d = 0.5 * (p.hi[j] - p.lo[j])
    return d if d > 0.0 else 1.0


@pure
def authority(p: Params, i: int, n: int) -> float:
    """r_i; 1 for an axis no effector reaches, whose row is 0 then."""
    r = 0.0
    for j in range(n):
        b = p.B[i * n + j] * 0.5 * (p.hi[j] - p.lo[j])
        r = r + b * b
    return math.sqrt(r) if r > 0.0 else 1.0


@pure
def authorities(r: Line, p: Params, n: int, m: int) -> Line:
    for i in range(m):
        r = axis_line.put(r, i, authority(p, i, n))
    return r


@pure
def scaled(E: Line, p: Params, r: Line, k: Line, n: int, m: int) -> Line:
    """A, row by row."""
    for j in range(n):
        d = known_health(effector_line.get(k, j), p.gain_max) * half_range(p, j)
        for i in range(m):
            E = matrix_line.put(E, i * n + j, p.B[i * n + j] * d / axis_line.get(r, i))
    return E


@pure
def strength(E: Line, kept: Line, j: int, n: int, m: int) -> float:
    """What effector j does on the axes that are kept, in authorities per half-range."""
    t = 0.0
    for i in range(m):
        e = matrix_line.get(E, i * n + j) * axis_line.get(kept, i)
        t = t + e * e
    return math.sqrt(t)


@pure
def share_used(strong: float, gain_max: float) -> float:
    """The share of its way from the preferred output that an effector is used for: all of it where it does 1 / gain_max or more, none from half of
    that down. So it never moves by more than gain_max times what it contributes, and nothing jumps when it is left alone."""
    return clamp(2.0 * gain_max * strong - 1.0, 0.0, 1.0)


@pure
def scaled_weights(w: Line, p: Params, r: Line, kept: Line, differ: bool, m: int) -> Line:
    """Weights of the scaled errors, the largest 1; a lost axis has none. Where they do not differ, all others are 1."""
    most = 0.0
    for i in range(m):
        x = (p.weight[i] * axis_line.get(r, i) * axis_line.get(r, i) if differ else 1.0) * axis_line.get(kept, i)
        most = maximum(most, x)
        w = axis_line.put(w, i, x)
    for i in range(m):
        w = axis_line.put(w, i, axis_line.get(w, i) / most if most > 0.0 else 0.0)
    return w
