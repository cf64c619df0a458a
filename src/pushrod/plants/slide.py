"""A slide on a screw or a belt: a mass with friction of its own in each direction, and other friction at low speed than at high.

    M dv/dt = F + offset - k q - D sign(v) - B v         while v != 0
    v = 0                                                while at rest and |F + offset - k q| <= D
    D = (1 + skew_c d) Fc (1 - drop exp(-(v / v_s)^2))   B = (1 + skew_v d) Fv   dq/dt = v   d = sign(v), at rest that of what would move it

q, v   position [m] and speed [m/s];  F force of the drive [N], positive along q
M      moving mass [kg], what turns included;  offset  constant force [N]: a slope, or an amplifier that is not zero at zero
k      stiffness [N/m]: cables and hoses that bend, a rail that is not level
Fc     Coulomb friction [N];  Fv viscous friction [N.s/m];  skew_c, skew_v  how much more of it there is along q, and less against [-]
drop   share of Coulomb friction that is missing at rest [-], below 0 where it is higher there (Stribeck);  v_s speed where that has gone [m/s]
D is held over a step at its value for the first speed (for rest, once it came to rest inside it), k q at half the way it is about to go. With drop
and k at 0 the result is exact and does not depend on the step.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import dead_band, log1p_ratio, minimum, phi1, phi2, sign


class Params(NamedTuple):
    M: A[float, Q("kg", 1e-6, 1e6, "moving mass, what turns included")] = 100.0
    Fv: A[float, Q("N.s/m", 0.0, 1e7, "viscous friction, mean of both directions")] = 200.0
    Fc: A[float, Q("N", 0.0, 1e7, "Coulomb friction, mean of both directions")] = 20.0
    skew_v: A[float, Q("-", -1.0, 1.0, "viscous friction that is more along q")] = 0.0
    skew_c: A[float, Q("-", -1.0, 1.0, "Coulomb friction that is more along q")] = 0.0
    offset: A[float, Q("N", -1e7, 1e7, "constant force")] = 0.0
    k: A[float, Q("N/m", 0.0, 1e6, "stiffness of what pulls it back to q = 0")] = 0.0
    drop: A[float, Q("-", -10.0, 1.0, "share of Coulomb friction missing at rest")] = 0.0
    v_s: A[float, Q("m/s", 1e-6, 1e3, "speed at which it has come back")] = 0.01


class State(NamedTuple):
    q: A[float, Q("m")] = 0.0
    v: A[float, Q("m/s")] = 0.0


In = A[float, Q("N", about="force of the drive")]


class Out(NamedTuple):
    q: A[float, Q("m")] = 0.0
    v: A[float, Q("m/s")] = 0.0


@pure
def dry(p: Params, v: float, d: float) -> float:
    """D at the speed v; d is the direction of the motion, or of what would move it: -1, 0 or 1."""
    r = v / p.v_s
    return (1.0 + p.skew_c * d) * p.Fc * (1.0 - p.drop * math.exp(-r * r))


@pure
def viscous(p: Params, d: float) -> float:
    return (1.0 + p.skew_v * d) * p.Fv


@pure
def coast(M: float, b: float, s: State, F: float, dt: float) -> State:
    """Motion under a constant force and viscous friction alone."""
    x = b * dt / M
    a = (F - b * s.v) / M
    return State(s.q + dt * (s.v + a * dt * phi2(x)), s.v + a * dt * phi1(x))


@pure
def from_rest(p: Params, q: float, F: float, dt: float) -> State:
    return coast(p.M, viscous(p, sign(F)), State(q, 0.0), dead_band(F, dry(p, 0.0, sign(F))), dt)


@pure
def step(p: Params, s: State, force: float, dt: float) -> tuple[State, Out]:
    F = force + p.offset - p.k * (s.q + 0.5 * dt * s.v)
    if s.v == 0.0:
        e = from_rest(p, s.q, F, dt)
    else:
        b = viscous(p, sign(s.v))
        brake = dry(p, s.v, sign(s.v)) * sign(s.v) - F
        e = coast(p.M, b, s, -brake, dt)
        if sign(e.v) != sign(s.v):
            # it comes to rest on the way; what is left of the step starts from rest
            t = minimum(dt, p.M * s.v / brake * log1p_ratio(b * s.v / brake)) if sign(brake) == sign(s.v) else dt
            e = from_rest(p, coast(p.M, b, s, -brake, t).q, F, dt - t)
    return e, Out(e.q, e.v)


SLIDE = Model("slide", Params, State, In, Out, step)
