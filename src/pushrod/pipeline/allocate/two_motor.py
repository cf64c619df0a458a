"""Stage 2 for two motors, in closed form: the nearest command the motors can do, by one of three policies.

    L = s - d in [a_L, b_L],   R = s + d in [a_R, b_R]
    ALLOC_SPEED_PRIORITY   s clamped to what any d allows, then d to what is left
    ALLOC_YAW_PRIORITY     d clamped to what any s allows, then s to what is left
    ALLOC_WEIGHTED         min w_s (s - s_cmd)^2 + w_d (d - d_cmd)^2: the command itself, or the best of its four projections on the edges

s, d   surge and differential [-];  a, b bounds of each motor [-];  w weights [-]
A command the motors can do is left as it is. Bounds may differ between the motors: a weak or dead one, one that is still slewing.

`optimality` is the certificate of an answer L, R, whoever found it. By priority: the most an axis lacks of what it could get, the first whatever the
other does, the second with the first as it is. Weighted: how far a step down the gradient, brought back within the bounds, moves a motor.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, maximum, minimum
from pushrod.pipeline.act import Alloc
from pushrod.pipeline.names import SPEED_PRIORITY, YAW_PRIORITY
from pushrod.pipeline.topic import ActuatorCmd, Allocated


class Bounds(NamedTuple):
    """What each motor may contribute."""

    a_L: A[float, Q("-", -10.0, 10.0)] = -1.0
    b_L: A[float, Q("-", -10.0, 10.0)] = 1.0
    a_R: A[float, Q("-", -10.0, 10.0)] = -1.0
    b_R: A[float, Q("-", -10.0, 10.0)] = 1.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        for side in "LR":
            lo, hi = getattr(self, f"a_{side}"), getattr(self, f"b_{side}")
            if lo > hi:
                yield f"a_{side} = {lo:g} lies above b_{side} = {hi:g}; swap them"


class Params(NamedTuple):
    alloc: Alloc = Alloc()
    bounds: Bounds = Bounds()


class State(NamedTuple):
    pass


In = ActuatorCmd
Out = Allocated


@pure
def speed_first(b: Bounds, s_cmd: float, d_cmd: float) -> Allocated:
    s = clamp(s_cmd, 0.5 * (b.a_L + b.a_R), 0.5 * (b.b_L + b.b_R))
    return Allocated(s, clamp(d_cmd, maximum(s - b.b_L, b.a_R - s), minimum(s - b.a_L, b.b_R - s)))


@pure
def yaw_first(b: Bounds, s_cmd: float, d_cmd: float) -> Allocated:
    d = clamp(d_cmd, 0.5 * (b.a_R - b.b_L), 0.5 * (b.b_R - b.a_L))
    return Allocated(clamp(s_cmd, maximum(b.a_L + d, b.a_R - d), minimum(b.b_L + d, b.b_R - d)), d)


@pure
def nearer(p: Alloc, s_cmd: float, d_cmd: float, best: Allocated, L: float, R: float) -> Allocated:
    """Of the best so far and another point, the one that costs less."""
    s = 0.5 * (L + R)
    d = 0.5 * (R - L)
    here = p.w_s * (s - s_cmd) * (s - s_cmd) + p.w_d * (d - d_cmd) * (d - d_cmd)
    e_s = best.u_s_alloc - s_cmd
    e_d = best.u_d_alloc - d_cmd
    return Allocated(s, d) if here < p.w_s * e_s * e_s + p.w_d * e_d * e_d else best


@pure
def weighted(p: Alloc, b: Bounds, s: float, d: float) -> Allocated:
    if s - d >= b.a_L and s - d <= b.b_L and s + d >= b.a_R and s + d <= b.b_R:
        return Allocated(s, d)
    w = p.w_s + p.w_d
    # with L held at v the best R is (w_s (2 s - v) + w_d (2 d + v)) / w; with R held the best L likewise
    R_a = clamp((p.w_s * (2.0 * s - b.a_L) + p.w_d * (2.0 * d + b.a_L)) / w, b.a_R, b.b_R)
    R_b = clamp((p.w_s * (2.0 * s - b.b_L) + p.w_d * (2.0 * d + b.b_L)) / w, b.a_R, b.b_R)
    L_a = clamp((p.w_s * (2.0 * s - b.a_R) - p.w_d * (2.0 * d - b.a_R)) / w, b.a_L, b.b_L)
    L_b = clamp((p.w_s * (2.0 * s - b.b_R) - p.w_d * (2.0 * d - b.b_R)) / w, b.a_L, b.b_L)
    best = Allocated(0.5 * (b.a_L + R_a), 0.5 * (R_a - b.a_L))
    best = nearer(p, s, d, best, b.b_L, R_b)
    best = nearer(p, s, d, best, L_a, b.a_R)
    return nearer(p, s, d, best, L_b, b.b_R)


@pure
def allocate(p: Alloc, b: Bounds, s: float, d: float) -> Allocated:
    if p.policy == SPEED_PRIORITY:
        return speed_first(b, s, d)
    if p.policy == YAW_PRIORITY:
        return yaw_first(b, s, d)
    return weighted(p, b, s, d)


@pure
def lack(x: float, cmd: float, lo: float, hi: float) -> float:
    """How much nearer to its command an axis could get within lo and hi."""
    return minimum(abs(cmd - x), maximum(hi - x if cmd > x else x - lo, 0.0))


@pure
def optimality(p: Alloc, b: Bounds, s_cmd: float, d_cmd: float, L: float, R: float) -> float:
    s = 0.5 * (L + R)
    d = 0.5 * (R - L)
    if p.policy == SPEED_PRIORITY:
        first = lack(s, s_cmd, 0.5 * (b.a_L + b.a_R), 0.5 * (b.b_L + b.b_R))
        return maximum(first, lack(d, d_cmd, maximum(s - b.b_L, b.a_R - s), minimum(s - b.a_L, b.b_R - s)))
    if p.policy == YAW_PRIORITY:
        first = lack(d, d_cmd, 0.5 * (b.a_R - b.b_L), 0.5 * (b.b_R - b.a_L))
        return maximum(first, lack(s, s_cmd, maximum(b.a_L + d, b.a_R - d), minimum(b.b_L + d, b.b_R - d)))
    w = maximum(p.w_s, p.w_d)
    g_s = 0.5 * p.w_s / w * (s - s_cmd)
    g_d = 0.5 * p.w_d / w * (d - d_cmd)
    return maximum(abs(L - clamp(L - (g_s - g_d), b.a_L, b.b_L)), abs(R - clamp(R - (g_s + g_d), b.a_R, b.b_R)))


@pure
def step(p: Params, s: State, u: ActuatorCmd, dt: float) -> tuple[State, Allocated]:
    return s, allocate(p.alloc, p.bounds, u.u_s_cmd, u.u_d_cmd)


TWO_MOTOR_ALLOCATION = Model("two_motor_allocation", Params, State, In, Out, step)
