"""Friction of a loaded gear as a budget that can end a motion but never reverse it: `friction`, and what a real servo has beside it.

    J dw/dt = m + e - D sign(w) - B w        w = 0 while at rest and |m + e| <= D
    D = (1 + skew_c d) (c + s g + (mu + mu_s g + mu_q load) load + mu_m |m| + mu_e |e|)        g = exp(-(w / w_s)^2)
    B = (1 + skew_b d) b        load = |m - e| / 2        d = sign(w), at rest that of m + e

m, e   torque of the motor at the output, and torque on the output from outside [N.m], both positive along w [rad/s];  J inertia [kg.m2]
load   torque through the gear: at rest, where m = -e, both are the load
c      Coulomb friction [N.m];  b viscous friction [N.m.s/rad]
s      what break-away takes above c [N.m];  w_s speed at which that has mostly gone [rad/s]
mu     share of the load that becomes friction [-];  mu_s as much more at rest [-];  mu_q its growth with the load [1/(N.m)]
mu_m, mu_e  shares of the two torques apart [-]: a gear that is driven from outside loses otherwise than one that drives
skew_c, skew_b  how much more of it there is along positive w, and less along negative w [-]
Out    w  the speed at the end of the step;  f  the mean friction torque over it, opposite to the motion

The parameters after b leave an effect out at 0. D is held over a step at its value for the first speed (for rest, once it came to rest inside it);
without s and mu_s the result is then exact and does not depend on the step. The terms are those of Rhoban's BAM, M1 to M6.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import dead_band, log1p_ratio, minimum, sign
from pushrod.models.friction import slide


class Params(NamedTuple):
    c: A[float, Q("N.m", 0.0, 1e4, "Coulomb friction")] = 0.06
    b: A[float, Q("N.m.s/rad", 0.0, 1e4, "viscous friction")] = 0.015
    s: A[float, Q("N.m", 0.0, 1e4, "what break-away takes above c")] = 0.0
    w_s: A[float, Q("rad/s", 1e-3, 1e3, "Stribeck speed")] = 1.5
    mu: A[float, Q("-", 0.0, 1.0, "share of the load that becomes friction")] = 0.0
    mu_s: A[float, Q("-", 0.0, 1.0, "as much more of it at rest")] = 0.0
    mu_q: A[float, Q("1/(N.m)", 0.0, 1e4, "growth of the share with the load")] = 0.0
    mu_m: A[float, Q("-", 0.0, 1.0, "share of the motor's torque")] = 0.0
    mu_e: A[float, Q("-", 0.0, 1.0, "share of the torque from outside")] = 0.0
    skew_c: A[float, Q("-", -1.0, 1.0, "dry friction that is more along positive speed")] = 0.0
    skew_b: A[float, Q("-", -1.0, 1.0, "viscous friction that is more along positive speed")] = 0.0


class State(NamedTuple):
    pass


class In(NamedTuple):
    m: A[float, Q("N.m", about="torque of the motor at the output")] = 0.0
    e: A[float, Q("N.m", about="torque on the output from outside")] = 0.0
    w: A[float, Q("rad/s", about="speed at the start of the step")] = 0.0
    J: A[float, Q("kg.m2", 1e-8, 1e6, "inertia it acts on")] = 0.01


class Out(NamedTuple):
    w: A[float, Q("rad/s", about="speed at the end of the step")] = 0.0
    f: A[float, Q("N.m", about="mean friction torque over the step")] = 0.0
    stuck: A[float, flag("at rest and held there")] = 0.0


@pure
def dry(p: Params, w: float, d: float, m: float, e: float) -> float:
    """The dry part of the budget, D, at the speed w; d is the direction of the motion, or of what would move it."""
    r = w / p.w_s
    g = math.exp(-r * r)
    load = 0.5 * abs(m - e)
    return (1.0 + p.skew_c * d) * (p.c + p.s * g + (p.mu + p.mu_s * g + p.mu_q * load) * load + p.mu_m * abs(m) + p.mu_e * abs(e))


@pure
def viscous(p: Params, d: float) -> float:
    return (1.0 + p.skew_b * d) * p.b


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    tau = u.m + u.e
    side = sign(tau)
    D0 = dry(p, 0.0, side, u.m, u.e)
    D = dry(p, u.w, sign(u.w), u.m, u.e)
    b = viscous(p, sign(u.w))
    if dt <= 0.0:
        f = -D * sign(u.w) - b * u.w if u.w != 0.0 else dead_band(tau, D0) - tau
        return s, Out(u.w, f, 1.0 if u.w == 0.0 and abs(tau) <= D0 else 0.0)
    if u.w == 0.0:
        w = slide(viscous(p, side), u.J, 0.0, dead_band(tau, D0), dt)
    else:
        brake = D * sign(u.w) - tau
        w = slide(b, u.J, u.w, -brake, dt)
        if sign(w) != sign(u.w):
            # it comes to rest on the way; what is left of the step starts from rest
            t = minimum(dt, u.J * u.w / brake * log1p_ratio(b * u.w / brake)) if sign(brake) == sign(u.w) else dt
            w = slide(viscous(p, side), u.J, 0.0, dead_band(tau, D0), dt - t)
    return s, Out(w, u.J * (w - u.w) / dt - tau, 1.0 if w == 0.0 and abs(tau) <= D0 else 0.0)


GEAR_FRICTION = Model("gear_friction", Params, State, In, Out, step)
