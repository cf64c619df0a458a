"""Brushed DC motor, or a brushless one behind its commutation: voltage in, torque out.

    L di/dt = v - R i - k w        torque = k i        |v| <= v_max        |i| <= i_max

v      terminal voltage [V];  w speed of the shaft [rad/s];  i current [A]
R, L   terminal resistance [ohm] and inductance [H];  k torque and back-EMF constant [N.m/A = V.s/rad]
Out    torque: the mean over the step, what a plant needs;  i: the current at its end;  v: the mean voltage that the driver really gave

Torque is positive along w. The current is the closed solution for a held speed, so dt may be far above L/R and the result does not depend on the
step. The driver keeps the current limit with the voltage it has: a motor overhauled so fast that even the full opposite voltage cannot hold i_max
carries more. The speed is the plant's: with explicit coupling keep dt below J R / k^2, the mechanical time constant.

Defaults: a 20 W, 24 V coreless motor of the size of a Maxon RE 25 (2.3 ohm, 0.24 mH, 23 mN.m/A).
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, maximum, minimum, phi1
from pushrod.models.first_order import towards


class Params(NamedTuple):
    R: A[float, Q("ohm", 1e-3, 1e3, "terminal resistance")] = 2.3
    L: A[float, Q("H", 0.0, 10.0, "terminal inductance")] = 2.4e-4
    k: A[float, Q("N.m/A", 1e-6, 100.0, "torque and back-EMF constant")] = 0.0234
    v_max: A[float, Q("V", 0.0, 1e4, "greatest voltage of the driver")] = 24.0
    i_max: A[float, Q("A", 0.0, 1e4, "current limit of the driver")] = 4.0


class State(NamedTuple):
    i: A[float, Q("A")] = 0.0


class In(NamedTuple):
    v: A[float, Q("V", about="asked-for voltage")] = 0.0
    w: A[float, Q("rad/s", about="speed of the shaft")] = 0.0


class Out(NamedTuple):
    torque: A[float, Q("N.m", about="mean over the step")] = 0.0
    i: A[float, Q("A", about="at the end of the step")] = 0.0
    v: A[float, Q("V", about="mean terminal voltage")] = 0.0


class Current(NamedTuple):
    end: A[float, Q("A")]
    mean: A[float, Q("A")]


@pure
def settle(p: Params, i: float, goal: float, dt: float) -> Current:
    """The current on its way from i to goal under a constant voltage."""
    if dt <= 0.0:
        return Current(i, i)
    T = p.L / p.R
    end = towards(i, goal, T, dt)
    return Current(end, goal + (i - goal) * (phi1(dt / T) if dt < 1e6 * T else T / dt))


@pure
def rise(p: Params, i: float, goal: float, dt: float) -> Current:
    """The same where the driver holds the current once it has reached i_max; goal > i_max."""
    if i >= p.i_max or p.L <= 0.0:
        return Current(p.i_max if dt > 0.0 else i, p.i_max)
    t = p.L / p.R * math.log((goal - i) / (goal - p.i_max))
    if t >= dt:
        return settle(p, i, goal, dt)
    on_the_way = settle(p, i, goal, t)
    return Current(p.i_max, p.i_max + (on_the_way.mean - p.i_max) * t / dt)


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    v = clamp(u.v, -p.v_max, p.v_max)
    emf = p.k * u.w
    goal = (v - emf) / p.R
    # the current that the full opposite voltage would leave: beyond i_max only where the motor is overhauled
    most = maximum(p.i_max, (-p.v_max - emf) / p.R)
    least = minimum(-p.i_max, (p.v_max - emf) / p.R)
    if goal > p.i_max and most == p.i_max:
        i = rise(p, s.i, goal, dt)
    elif goal < -p.i_max and least == -p.i_max:
        m = rise(p, -s.i, -goal, dt)
        i = Current(-m.end, -m.mean)
    else:
        i = settle(p, s.i, clamp(goal, least, most), dt)
    v_mean = p.R * i.mean + emf + (p.L * (i.end - s.i) / dt if dt > 0.0 else 0.0)
    return State(i.end), Out(p.k * i.mean, i.end, clamp(v_mean, -p.v_max, p.v_max))


DC_MOTOR = Model("dc_motor", Params, State, In, Out, step)
