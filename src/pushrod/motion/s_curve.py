"""From a position, velocity and acceleration to rest at another position, under limits of velocity, acceleration and jerk: up to seven phases.

    glide at vc:   change of velocity (v0, a0) -> vc, cruise, change vc -> 0
    push for tau:  the acceleration towards its limit for tau, then the quickest way to rest

Mirrored so that the way to go is positive: stopping at once would end before the target. Then, with D(vc) the way of a glide without cruise:
    D(V) <= d             glide at V, cruising (d - D(V)) / V
    else                  push for the tau that ends on the target
    except v_r > V        (v_r = v0 + a0 |a0| / (2 J), what is left when the acceleration is let go: the start is too fast for the limit)
                          and D(v_r) < d: glide at the vc between V and v_r with D(vc) = d: never faster than it has to be
tau and vc are roots of monotone functions, found by Ridders' method; everything else is closed form. Time-optimal wherever the start respects
the limits (a start too fast for V is brought back first). To last longer than it must, the motion glides at a lower vc; where there is no slower
glide (a start so fast that there is only just room to stop) it arrives early and waits.

d, T      way to go [x], duration asked for [s];  V, A, J the limits
"""

import math
from typing import Annotated, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q
from pushrod.core.scalar import maximum, minimum
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Phase, Profile, at, then
from pushrod.motion.ramp import change
from pushrod.motion.trapezoid import trapezoidal

PUSH, GLIDE, LAST = 0.0, 1.0, 2.0  # what is looked for: tau, vc by its way, vc by its duration
ROUNDING = 1e-15  # of the lengths in play: nearer than this to the target is on it


class Way(NamedTuple):
    """What has to be done, mirrored: the start at x = 0, the target at d, where stopping at once would end short of it."""

    d: Annotated[float, Q("x")] = 0.0
    v: Annotated[float, Q("x/s")] = 0.0
    a: Annotated[float, Q("x/s2")] = 0.0
    V: Annotated[float, Q("x/s")] = INF
    A: Annotated[float, Q("x/s2")] = INF
    J: Annotated[float, Q("x/s3")] = 1.0
    T: Annotated[float, Q("s")] = 0.0


@pure
def released(v: float, a: float, J: float) -> float:
    """The velocity once the acceleration is let go."""
    return v + 0.5 * a * abs(a) / J


@pure
def glide(w: Way, vc: float, t: float) -> Profile:
    """To the velocity vc, on at it for t, to rest."""
    up = change(0.0, 0.0, w.v, w.a, vc, w.A, w.J)
    cruise = then(up.after, t, 0.0)
    x = at(cruise, cruise.end).x
    down = change(cruise.end, x, vc, 0.0, 0.0, w.A, w.J)
    return Profile(down.after.t, up.one, up.two, up.three, cruise, down.one, down.two, down.three, down.after)


@pure
def push(w: Way, tau: float) -> Profile:
    """The acceleration towards its limit for tau, then to rest."""
    t = minimum(abs(w.A - w.a) / w.J, tau)
    one = Phase(t, 0.0, 0.0, w.v, w.a, w.J if w.a <= w.A else -w.J)
    two = then(one, tau - t, 0.0)
    s = at(two, tau)
    c = change(tau, s.x, s.v, s.a, 0.0, w.A, w.J)
    return Profile(c.after.t, one, two, c.one, c.two, c.three, c.after, c.after, c.after)


@pure
def miss(w: Way, what: float, z: float) -> float:
    """How far beyond the target (or how much too late) the motion with tau or vc = z ends."""
    if what == PUSH:
        return push(w, z).after.x - w.d
    p = glide(w, z, 0.0)
    if what == GLIDE:
        return p.after.x - w.d
    return p.T + (w.d - p.after.x) / z - w.T


@pure
def root(w: Way, what: float, lo: float, hi: float, tolerance: float) -> float:
    """z between lo, where `miss` is below 0, and hi, where it is above; lo may be the greater of the two.

    Ridders' method, which halves the bracket at least and squares the error where it can.
    """
    y_lo = miss(w, what, lo)
    y_hi = miss(w, what, hi)
    z = lo if -y_lo < y_hi else hi
    y = minimum(-y_lo, y_hi)
    for _ in range(80):
        m = 0.5 * (lo + hi)
        if y <= tolerance or m == lo or m == hi:  # noqa: SIM109 (pure code has no `in`)
            break
        y_m = miss(w, what, m)
        q = math.sqrt(y_m * y_m - y_lo * y_hi)
        z = m - (m - lo) * y_m / q if q > 0.0 else m
        if y_m < 0.0:
            lo = m
            y_lo = y_m
        else:
            hi = m
            y_hi = y_m
        y_z = miss(w, what, z)
        if y_z < 0.0:
            lo = z
            y_lo = y_z
        else:
            hi = z
            y_hi = y_z
        y = abs(y_z)
    return z


@pure
def soonest_push(w: Way, tolerance: float) -> float:
    """The tau of the push that ends on the target."""
    hi = 1e-3
    if w.V == INF:
        for _ in range(60):
            if miss(w, PUSH, hi) >= 0.0:
                break
            hi = hi + hi
    elif released(w.v, w.a, w.J) > w.V:
        hi = maximum(-w.a / w.J, 0.0)
    else:
        hi = change(0.0, 0.0, w.v, w.a, w.V, w.A, w.J).two.end
    return root(w, PUSH, 0.0, hi, tolerance)


@pure
def longer(w: Way, p: Profile, hi: float) -> Profile:
    """p, which glides at hi, slowed down to last w.T; as it is, and a wait at its end, where that cannot be."""
    lo = hi
    for _ in range(200):
        if lo <= 0.0 or miss(w, LAST, lo) >= 0.0:
            break
        lo = 0.5 * lo
    if lo > 0.0 and lo < hi:
        vc = root(w, LAST, lo + lo, lo, ROUNDING * w.T)
        t = (w.d - glide(w, vc, 0.0).after.x) / vc
        if t >= 0.0:
            p = glide(w, vc, t)
    return Profile(maximum(w.T, p.seven.end), p.one, p.two, p.three, p.four, p.five, p.six, p.seven, p.after)


@pure
def soonest(w: Way) -> Profile:
    """The quickest motion, or the one that lasts w.T where that is longer."""
    v_r = released(w.v, w.a, w.J)
    tolerance = ROUNDING * (abs(w.d) + abs(push(w, 0.0).after.x))
    at_limit = glide(w, w.V if w.V < INF else 0.0, 0.0)
    if w.V < INF and at_limit.after.x <= w.d:
        vc = w.V
        p = glide(w, vc, (w.d - at_limit.after.x) / vc)
    elif v_r > w.V and glide(w, v_r, 0.0).after.x < w.d:
        vc = root(w, GLIDE, v_r, w.V, tolerance)
        p = glide(w, vc, 0.0)
    else:
        tau = soonest_push(w, tolerance)
        p = push(w, tau)
        s = at(p.two, tau)
        vc = released(s.v, s.a, w.J)
    if w.T > p.T:
        p = longer(w, p, vc)
    return p


@pure
def placed(p: Phase, x0: float, s: float) -> Phase:
    """Back from the mirrored frame."""
    return Phase(p.end, p.t, x0 + s * p.x, s * p.v, s * p.a, s * p.j)


@pure
def point_to_point(x0: float, v0: float, a0: float, x1: float, limits: Limits, T: float) -> Profile:
    """From (x0, v0, a0) to rest at x1, in T or, where that is too short, as soon as it can be. Without a jerk limit: the trapezoid, whatever a0."""
    if limits.j == INF:
        return trapezoidal(x0, v0, x1, limits, T)
    stop = change(0.0, 0.0, v0, a0, 0.0, limits.a, limits.j).after.x
    s = 1.0 if x1 - x0 >= stop else -1.0
    p = soonest(Way(s * (x1 - x0), s * v0, s * a0, limits.v, limits.a, limits.j, T))
    after = Phase(p.after.end, p.after.t, x1, 0.0, 0.0, 0.0)
    return Profile(
        p.T,
        placed(p.one, x0, s),
        placed(p.two, x0, s),
        placed(p.three, x0, s),
        placed(p.four, x0, s),
        placed(p.five, x0, s),
        placed(p.six, x0, s),
        placed(p.seven, x0, s),
        after,
    )
