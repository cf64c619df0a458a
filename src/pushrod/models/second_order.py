"""Second-order actuator with a rate limit and end stops.

    y'' = w^2 (u - y) - 2 z w y'        |y'| <= rate        lo <= y <= hi

u, y   command and position, both in the unit of the signal (written "-")
w      natural frequency [rad/s];  z damping ratio [-]

The free motion is the closed solution, so any step gives the same result there. A step is cut into parts of at most 1/8 radian (64 parts at most); a
limit that comes into or goes out of action within a part costs an error of the order of the part squared. The rate is kept on average over each part
too. A stop takes all speed towards it away: nothing is stored against it, and what is left of the part starts from rest there.
"""

import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, minimum, phi1


class Params(NamedTuple):
    w: A[float, Q("rad/s", 0.0, 1e5, "natural frequency")] = 30.0
    z: A[float, Q("-", 0.0, 100.0, "damping ratio")] = 0.7
    rate: A[float, Q("1/s", 0.0, 1e9, "greatest rate")] = 5.0
    lo: A[float, Q("-", -1e9, 1e9, "lower stop")] = -1.0
    hi: A[float, Q("-", -1e9, 1e9, "upper stop")] = 1.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if self.lo > self.hi:
            yield f"lo = {self.lo:g} lies above hi = {self.hi:g}: there is no way between the stops; swap them"


class State(NamedTuple):
    y: A[float, Q("-")] = 0.0
    v: A[float, Q("1/s")] = 0.0


In = A[float, Q("-", about="commanded position")]


class Out(NamedTuple):
    y: A[float, Q("-", about="position")] = 0.0
    v: A[float, Q("1/s", about="rate")] = 0.0


class Swing(NamedTuple):
    """exp(-z w t) times cosine (c) and sine over frequency (s); their hyperbolic forms where it is overdamped."""

    c: A[float, Q("-")]
    s: A[float, Q("s")]


@pure
def swing(w: float, z: float, t: float) -> Swing:
    if z < 1.0:
        e = math.exp(-z * w * t)
        wd = w * math.sqrt((1.0 - z) * (1.0 + z))
        return Swing(e * math.cos(wd * t), e * math.sin(wd * t) / wd if wd * t > 0.0 else e * t)
    d = w * math.sqrt((z - 1.0) * (z + 1.0))
    slow = math.exp(-w * w * t / (z * w + d)) if w > 0.0 else 1.0  # (z w - d) without its cancellation
    fast = math.exp(-(z * w + d) * t)
    return Swing(0.5 * (slow + fast), slow * t * phi1(2.0 * d * t))


@pure
def stopped(p: Params, y: float, to: float, u: float, h: float) -> State:
    """A part on which a stop is met on the way from y to `to`: what is left of it starts from rest at the stop."""
    stop = p.hi if to > p.hi else p.lo
    left = h * clamp((to - stop) / (to - y), 0.0, 1.0) if to != y else h
    e = abs(u - stop)
    if (u > stop) == (to > p.hi):
        return State(stop, 0.0)
    # two terms of the motion from rest towards u, never faster than that gets and not past u
    v = minimum(minimum(p.w * p.w * e * left * (1.0 - minimum(p.z * p.w * left, 0.5)), p.w * e), p.rate)
    way = -1.0 if to > p.hi else 1.0
    return State(clamp(stop + way * minimum(0.5 * v * left, e), p.lo, p.hi), way * v)


@pure
def advance(p: Params, s: State, u: float, a: Swing, h: float) -> State:
    """One part of a step; `a` is the swing over its length h."""
    e = s.y - u
    y = u + e * (a.c + p.z * p.w * a.s) + s.v * a.s
    v = s.v * (a.c - p.z * p.w * a.s) - e * p.w * (p.w * a.s)
    if abs(v) > p.rate:
        # the limit is reached on the way: speed up to it, then keep it
        v = clamp(v, -p.rate, p.rate)
        dv = p.w * (-e * p.w - 2.0 * p.z * s.v)
        t = clamp((v - s.v) / dv, 0.0, h) if dv != 0.0 else 0.0
        y = s.y + 0.5 * (s.v + v) * t + v * (h - t)
    y = clamp(y, s.y - p.rate * h, s.y + p.rate * h)
    if y > p.hi or y < p.lo:
        return stopped(p, s.y, y, u, h)
    return State(y, 0.0 if (y == p.hi and v > 0.0) or (y == p.lo and v < 0.0) else v)


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, Out]:
    # an eighth of a radian at a time: fine enough for the limits, and the closed solution is computed once for all parts
    n = int(minimum(8.0 * p.w * dt, 63.0)) + 1
    h = dt / float(n)
    a = swing(p.w, p.z, h)
    x = s
    if dt > 0.0:
        for _ in range(n):
            x = advance(p, x, u, a, h)
    return x, Out(x.y, x.v)


SECOND_ORDER = Model("second_order", Params, State, In, Out, step)
