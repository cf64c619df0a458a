"""A rotary joint with viscous and dry friction.

    J dw/dt = tau - b w - c sign(w)        while w != 0
    w = 0                                  while at rest and |tau| <= c
    dq/dt = w

q     angle [rad], w its rate [rad/s]
tau   torque on the joint [N.m], positive in the direction of q
J     inertia [kg.m2];  b viscous friction [N.m.s/rad];  c dry friction [N.m]
Exact for a held torque, through rest and reversal too: the result does not depend on how a time is cut into steps. Dry friction can end a motion,
never reverse it, and then holds exactly.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import dead_band, log1p_ratio, minimum, phi1, phi2, sign


class Params(NamedTuple):
    J: A[float, Q("kg.m2", 1e-8, 1e4)] = 0.02
    b: A[float, Q("N.m.s/rad", 0.0, 1e4)] = 0.05
    c: A[float, Q("N.m", 0.0, 1e4)] = 0.1


class State(NamedTuple):
    q: A[float, Q("rad")] = 0.0
    w: A[float, Q("rad/s")] = 0.0


In = A[float, Q("N.m", about="torque on the joint")]


class Out(NamedTuple):
    q: A[float, Q("rad")] = 0.0
    w: A[float, Q("rad/s")] = 0.0


@pure
def coast(p: Params, s: State, tau: float, dt: float) -> State:
    """Motion under a constant torque and viscous friction alone."""
    x = p.b * dt / p.J
    a = (tau - p.b * s.w) / p.J
    return State(s.q + dt * (s.w + a * dt * phi2(x)), s.w + a * dt * phi1(x))


@pure
def step(p: Params, s: State, tau: float, dt: float) -> tuple[State, Out]:
    if s.w == 0.0:
        e = coast(p, s, dead_band(tau, p.c), dt)
    else:
        brake = p.c * sign(s.w) - tau
        e = coast(p, s, -brake, dt)
        if sign(e.w) != sign(s.w):
            # it comes to rest on the way; what is left of the step starts from rest
            t = minimum(dt, p.J * s.w / brake * log1p_ratio(p.b * s.w / brake)) if sign(brake) == sign(s.w) else dt
            e = coast(p, State(coast(p, s, -brake, t).q, 0.0), dead_band(tau, p.c), dt - t)
    return e, Out(e.q, e.w)


JOINT = Model("joint", Params, State, In, Out, step)
