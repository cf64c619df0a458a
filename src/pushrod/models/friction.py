"""Coulomb, viscous and Stribeck friction, and friction that grows with the load, as a budget that can end a motion but never reverse it.

    J dw/dt = tau - D sign(w) - b w        D = c + (s - c) exp(-(w / w_s)^2) + mu |load|
    w = 0                                  while at rest and |tau| <= D

tau    all other torques on the inertia [N.m], positive along w;  load: torque through the gear [N.m]
w      speed [rad/s];  J inertia [kg.m2]
c      Coulomb friction [N.m];  s break-away level at rest [N.m], at least c;  w_s speed at which the difference has mostly gone [rad/s]
b      viscous friction [N.m.s/rad];  mu share of the load that becomes friction [-]
Out    w  the speed at the end of the step;  f  the mean friction torque over it, opposite to the motion

D is held over a step at its value for the first speed (for rest, once it came to rest inside it). With s = c the result is then exact and does not
depend on the step; with s > c the error is of the order of the step. The budget idea and the defaults (rounded, without the load) are those of
Rhoban's BAM for a Dynamixel MX-64; the Stribeck curve is the Gaussian one.
"""

import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import dead_band, log1p_ratio, minimum, phi1, sign


class Params(NamedTuple):
    c: A[float, Q("N.m", 0.0, 1e4, "Coulomb friction")] = 0.06
    s: A[float, Q("N.m", 0.0, 1e4, "break-away level")] = 0.085
    w_s: A[float, Q("rad/s", 1e-3, 1e3, "Stribeck speed")] = 1.5
    b: A[float, Q("N.m.s/rad", 0.0, 1e4, "viscous friction")] = 0.015
    mu: A[float, Q("-", 0.0, 1.0, "share of the load that becomes friction")] = 0.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if self.s < self.c:
            yield f"s = {self.s:g} N.m, the break-away level, is below c = {self.c:g} N.m: set s to at least c (s = c leaves the Stribeck effect out)"


class State(NamedTuple):
    pass


class In(NamedTuple):
    tau: A[float, Q("N.m", about="all other torques")] = 0.0
    w: A[float, Q("rad/s", about="speed at the start of the step")] = 0.0
    J: A[float, Q("kg.m2", 1e-8, 1e6, "inertia it acts on")] = 0.01
    load: A[float, Q("N.m", about="torque through the gear")] = 0.0


class Out(NamedTuple):
    w: A[float, Q("rad/s", about="speed at the end of the step")] = 0.0
    f: A[float, Q("N.m", about="mean friction torque over the step")] = 0.0
    stuck: A[float, flag("at rest and held there")] = 0.0


@pure
def level(p: Params, w: float, load: float) -> float:
    """The dry part of the budget, D."""
    r = w / p.w_s
    return p.c + (p.s - p.c) * math.exp(-r * r) + p.mu * abs(load)


@pure
def slide(b: float, J: float, w: float, drive: float, dt: float) -> float:
    """Speed after dt under a constant drive and viscous friction alone."""
    return w + (drive - b * w) * dt / J * phi1(b * dt / J)


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    D = level(p, u.w, u.load)
    D0 = level(p, 0.0, u.load)
    if dt <= 0.0:
        f = -D * sign(u.w) - p.b * u.w if u.w != 0.0 else dead_band(u.tau, D0) - u.tau
        return s, Out(u.w, f, 1.0 if u.w == 0.0 and abs(u.tau) <= D0 else 0.0)
    if u.w == 0.0:
        w = slide(p.b, u.J, 0.0, dead_band(u.tau, D0), dt)
    else:
        brake = D * sign(u.w) - u.tau
        w = slide(p.b, u.J, u.w, -brake, dt)
        if sign(w) != sign(u.w):
            # it comes to rest on the way; what is left of the step starts from rest
            t = minimum(dt, u.J * u.w / brake * log1p_ratio(p.b * u.w / brake)) if sign(brake) == sign(u.w) else dt
            w = slide(p.b, u.J, 0.0, dead_band(u.tau, D0), dt - t)
    return s, Out(w, u.J * (w - u.w) / dt - u.tau, 1.0 if w == 0.0 and abs(u.tau) <= D0 else 0.0)


FRICTION = Model("friction", Params, State, In, Out, step)
