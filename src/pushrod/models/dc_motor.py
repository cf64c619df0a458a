"""Brushed DC motor, or a brushless one behind its commutation: voltage in, torque out.

    L di/dt = v - R i - k w        torque = k i        |v| <= v_max        |i| <= i_max

v      terminal voltage [V];  w speed of the shaft [rad/s];  i current [A]
R, L   terminal resistance [ohm] and inductance [H];  k torque and back-EMF constant [N.m/A = V.s/rad]
Out    torque: the mean over the step, what a plant needs;  i: the current at its end;  v: the mean voltage that the driver really gave

Torque is positive along w. The current is the closed solution for a held speed, so dt may be far above L/R and the result does not depend on the
step. The driver gives the voltage asked for until the current comes to i_max, and keeps it there with the voltage it has. A current beyond i_max it
brings back by the full opposite voltage, which takes its time; a motor overhauled so fast that even that cannot hold i_max carries more. The speed is
the plant's: with explicit coupling keep dt below J R / k^2, the mechanical time constant.

Defaults: a 20 W, 24 V coreless motor of the size of a Maxon RE 25 (2.3 ohm, 0.24 mH, 23 mN.m/A).
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, minimum, phi1
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


class Phase(NamedTuple):
    goal: A[float, Q("A")]
    change: A[float, Q("A")]


@pure
def settle(p: Params, i: float, goal: float, dt: float) -> Current:
    """The current on its way from i to goal under a constant voltage."""
    if dt <= 0.0:
        return Current(i, i)
    T = p.L / p.R
    end = towards(i, goal, T, dt)
    return Current(end, goal + (i - goal) * (phi1(dt / T) if dt < 1e6 * T else T / dt))


@pure
def until(p: Params, i: float, goal: float, at: float) -> float:
    """When the current passes `at`, which lies between i and goal."""
    return p.L / p.R * math.log((goal - i) / (goal - at))


@pure
def heading(p: Params, i: float, goal: float, down: float, up: float) -> Phase:
    """Where the current goes from i, and the limit at which that changes: the goal itself where it does not.

    `goal` is where the voltage asked for would lead, `down` and `up` where the full voltage of either sign would.
    """
    if i > p.i_max or (i == p.i_max and goal > p.i_max):
        if down >= p.i_max:
            return Phase(down, down)
        return Phase(down, p.i_max) if i > p.i_max else Phase(p.i_max, p.i_max)
    if i < -p.i_max or (i == -p.i_max and goal < -p.i_max):
        if up <= -p.i_max:
            return Phase(up, up)
        return Phase(up, -p.i_max) if i < -p.i_max else Phase(-p.i_max, -p.i_max)
    return Phase(goal, clamp(goal, -p.i_max, p.i_max))


@pure
def limited(p: Params, i: float, goal: float, down: float, up: float, dt: float) -> Current:
    """The current over the step, phase by phase: back to a limit, to the goal or the other limit, and along that."""
    left = dt
    charge = 0.0
    for _ in range(3):
        f = heading(p, i, goal, down, up)
        t = minimum(until(p, i, f.goal, f.change), left) if f.change != f.goal else left
        c = settle(p, i, f.goal, t)
        charge = charge + c.mean * t
        i = f.change if f.change != f.goal and t < left else c.end
        left = left - t
    return Current(i, charge / dt)


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    emf = p.k * u.w
    if not dt > 0.0:
        return s, Out(p.k * s.i, s.i, clamp(u.v, -p.v_max, p.v_max))
    goal = (clamp(u.v, -p.v_max, p.v_max) - emf) / p.R
    i = limited(p, s.i, goal, (-p.v_max - emf) / p.R, (p.v_max - emf) / p.R, dt)
    v_mean = p.R * i.mean + emf + p.L * (i.end - s.i) / dt
    return State(i.end), Out(p.k * i.mean, i.end, clamp(v_mean, -p.v_max, p.v_max))


DC_MOTOR = Model("dc_motor", Params, State, In, Out, step)
