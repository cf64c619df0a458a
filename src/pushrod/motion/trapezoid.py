"""From a position and a velocity to rest at another position, as fast as velocity and acceleration limits allow: accelerate, cruise, brake.

    e = d - v0 |v0| / (2 a)     what is left of the way d beyond the point where braking at once would end
    s = sign(e)                 the way to go: against v0 where it is too fast to stop in time (overshoot and return)
    vp^2 = a |e| + max(0, s v0)^2                     the peak without a velocity limit
    vp <= V: triangle     vp > V: cruise at V for (vp^2 - V^2) / (a V)     s v0 > V: brake to V first, cruise for |e| / V

d, v0    way to go [x] and velocity at the start [x/s];  V, a the limits
Time-optimal for a double integrator. To last longer than it must, the motion cruises slower: at vc <= V with a as before, solved in closed form.
Where there is no slower way (braking at once ends exactly on the target) it arrives early and waits. a unlimited: the velocity jumps to V and
back (rectangular). V and a unlimited: it is there at once.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q
from pushrod.core.scalar import maximum
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Phase, Profile, still


class Legs(NamedTuple):
    """Speed up (or down) for t1 to the cruise velocity s vc, hold it for t2, brake for t3."""

    s: A[float, Q("-", -1.0, 1.0, "the way to go")] = 1.0
    s1: A[float, Q("-", -1.0, 1.0, "the way the first leg pushes: s where it speeds up, -s where it brakes")] = 1.0
    vc: A[float, Q("x/s", 0.0)] = 0.0
    t1: A[float, Q("s", 0.0)] = 0.0
    t2: A[float, Q("s", 0.0)] = 0.0
    t3: A[float, Q("s", 0.0)] = 0.0


@pure
def legs(d: float, v0: float, V: float, a: float, T: float) -> Legs:
    """The three legs over the way d; a is finite, T is how long it should last at least."""
    e = d - 0.5 * v0 * abs(v0) / a
    s = 1.0 if e >= 0.0 else -1.0
    e = abs(e)
    w = s * v0
    s1 = s
    vp2 = a * e + (w * w if w > 0.0 else 0.0)
    if w > V:
        s1 = -s
        vc = V
        t1 = (w - V) / a
        t2 = e / V
    elif vp2 <= V * V:
        vc = math.sqrt(vp2)
        # (vc - w) / a without the cancellation where there is hardly any way left
        t1 = (e / (vc + w) if vc > 0.0 else 0.0) if w > 0.0 else (vc - w) / a
        t2 = 0.0
    else:
        vc = V
        t1 = (V - w) / a
        t2 = (vp2 - V * V) / (a * V)
    t3 = vc / a
    if t1 + t2 + t3 < T:
        if w > 0.0 and e / w + w / a < T:
            s1 = -s
            vc = e / (T - w / a)
            t1 = (w - vc) / a
        else:
            b = w + a * T
            vc = 2.0 * vp2 / (b + math.sqrt(maximum(b * b - 4.0 * vp2, 0.0)))
            t1 = (vc - w) / a
        t3 = vc / a
        t2 = maximum(T - t1 - t3, 0.0)
    return Legs(s, s1, vc, t1, t2, t3)


@pure
def trapezoidal(x0: float, v0: float, x1: float, limits: Limits, T: float) -> Profile:
    """From (x0, v0) to rest at x1, in T or, where that is too short, as soon as it can be."""
    if limits.a == INF:
        return rectangle(x0, x1, limits.v, T)
    a = limits.a
    g = legs(x1 - x0, v0, limits.v, a, T)
    end = maximum(g.t1 + g.t2 + g.t3, T)
    t2 = end - g.t3
    one = Phase(g.t1, 0.0, x0, v0, g.s1 * a, 0.0)
    # anchored where they end: the motion lands on x1 however long it took
    two = Phase(t2, t2, x1 - g.s * 0.5 * g.vc * g.t3, g.s * g.vc, 0.0, 0.0)
    three = Phase(end, end, x1, 0.0, -g.s * a, 0.0)
    rest = Phase(end, end, x1, 0.0, 0.0, 0.0)
    return Profile(end, one, two, three, rest, rest, rest, rest, rest)


@pure
def rectangle(x0: float, x1: float, V: float, T: float) -> Profile:
    """Without a limit of acceleration: at V all the way, or slower to last T."""
    d = x1 - x0
    t = maximum(abs(d) / V, T)
    if t == 0.0 or d == 0.0:
        return still(x1, t)
    one = Phase(t, 0.0, x0, d / t, 0.0, 0.0)
    rest = Phase(t, t, x1, 0.0, 0.0, 0.0)
    return Profile(t, one, rest, rest, rest, rest, rest, rest, rest)
