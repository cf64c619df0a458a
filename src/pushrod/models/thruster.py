"""Propeller thruster: dead band, rotor lag with its own time constants for speeding up and slowing down, quadratic thrust.

    n_cmd = n_max (|u| - dead) / (1 - dead) sign(u) where |u| > dead, else 0
    T dn/dt = n_cmd - n,   T = T_rise while |n| grows, T_fall while it shrinks
    F = F_ahead (n / n_max)^2 for n >= 0,   F = -F_astern (n / n_max)^2 for n < 0

u      command, -1 full astern to 1 full ahead [-];  n rotor speed [rad/s];  F thrust [N], positive ahead

Exact for a held command, also through a reversal, which slows down with T_fall to zero and then speeds up with T_rise: the result does not depend
on the step.

Defaults: full thrust and dead band (1500 +- 25 us of +- 400 us) as published for a Blue Robotics T200 at 16 V (5.25 kgf ahead, 4.1 kgf astern); the
time constants and the top speed are of the right size only.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, dead_band
from pushrod.models.first_order import towards


class Params(NamedTuple):
    dead: A[float, Q("-", 0.0, 0.99, "dead band of the command")] = 0.0625
    n_max: A[float, Q("rad/s", 1e-3, 1e5, "rotor speed at full command")] = 370.0
    T_rise: A[float, Q("s", 0.0, 100.0, "time constant of speeding up")] = 0.1
    T_fall: A[float, Q("s", 0.0, 100.0, "time constant of slowing down")] = 0.2
    F_ahead: A[float, Q("N", 0.0, 1e7, "thrust at n_max")] = 51.5
    F_astern: A[float, Q("N", 0.0, 1e7, "thrust at -n_max, as a positive number")] = 40.2


class State(NamedTuple):
    n: A[float, Q("rad/s")] = 0.0


In = A[float, Q("-", about="command, -1 full astern to 1 full ahead")]


class Out(NamedTuple):
    F: A[float, Q("N", about="thrust")] = 0.0
    n: A[float, Q("rad/s", about="rotor speed")] = 0.0


@pure
def thrust(p: Params, n: float) -> float:
    r = n / p.n_max
    return p.F_ahead * r * r if n >= 0.0 else -p.F_astern * r * r


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, Out]:
    n_cmd = p.n_max * dead_band(clamp(u, -1.0, 1.0), p.dead) / (1.0 - p.dead)
    if s.n * n_cmd < 0.0:
        t = p.T_fall * math.log(1.0 - s.n / n_cmd) if p.T_fall > 0.0 else 0.0  # when it passes zero
        n = towards(s.n, n_cmd, p.T_fall, dt) if t >= dt else towards(0.0, n_cmd, p.T_rise, dt - t)
    else:
        n = towards(s.n, n_cmd, p.T_rise if abs(n_cmd) > abs(s.n) else p.T_fall, dt)
    return State(n), Out(thrust(p, n), n)


THRUSTER = Model("thruster", Params, State, In, Out, step)
