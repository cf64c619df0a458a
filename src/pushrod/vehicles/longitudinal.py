"""Speed under a lagged acceleration, as the reference integrates it and as the sane mode does.

    v' = a          a' = (a_des - a) / T

v speed [m/s], a acceleration [m/s2], a_des the acceleration asked for, T time constant [s].

Reference: classical Runge-Kutta in which v and a are clamped to their limits where they are used, a_des the same in all stages; the stored a is never
clamped. Sane: the exact solution for a held a_des, with a_des and a within their limit; the gear may stop the car but never put it back.
"""

from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, maximum, minimum, settled
from pushrod.vehicles.gear import NEUTRAL, is_against, is_stopping
from pushrod.vehicles.kinematics import Stages
from pushrod.vehicles.parameter import Acceleration, Velocity

FLOOR = 0.03  # [s] least time constant of the reference
SANE_FLOOR = 1e-4  # [s] far below any step: only keeps the division safe


class Speed(NamedTuple):
    """The speeds the stages of a step drive at, then speed and acceleration after it."""

    v: Stages = Stages()
    vx: Velocity = 0.0
    accx: Acceleration = 0.0


@pure
def time_constant(T: float, reference: float) -> float:
    return maximum(T, FLOOR if reference != 0.0 else SANE_FLOOR)


@pure
def reference_lag(v: float, a: float, a_des: float, T: float, v_lim: float, a_lim: float, dt: float) -> Speed:
    """The reference's Runge-Kutta step; vx is not yet clamped."""
    h = 0.5 * dt
    v1 = clamp(v, -v_lim, v_lim)
    a1 = clamp(a, -a_lim, a_lim)
    d1 = (a_des - a1) / T
    v2 = clamp(v + h * a1, -v_lim, v_lim)
    a2 = clamp(a + h * d1, -a_lim, a_lim)
    d2 = (a_des - a2) / T
    v3 = clamp(v + h * a2, -v_lim, v_lim)
    a3 = clamp(a + h * d2, -a_lim, a_lim)
    d3 = (a_des - a3) / T
    v4 = clamp(v + dt * a3, -v_lim, v_lim)
    a4 = clamp(a + dt * d3, -a_lim, a_lim)
    d4 = (a_des - a4) / T
    w = dt / 6.0
    return Speed(Stages(v1, v2, v3, v4), v + w * (a1 + 2.0 * (a2 + a3) + a4), a + w * (d1 + 2.0 * (d2 + d3) + d4))


@pure
def sane_lag(v: float, a: float, a_des: float, T: float, v_lim: float, a_lim: float, dt: float) -> Speed:
    """The exact step, within the limits."""
    h = 0.5 * dt
    v = clamp(v, -v_lim, v_lim)
    a = clamp(a, -a_lim, a_lim)
    goal = clamp(a_des, -a_lim, a_lim)
    f = settled(dt / T)
    half = clamp(v + goal * h + (a - goal) * T * settled(h / T), -v_lim, v_lim)
    full = clamp(v + goal * dt + (a - goal) * T * f, -v_lim, v_lim)
    a = clamp(a + (goal - a) * f, -a_lim, a_lim)
    # at its greatest speed a car does not accelerate any more, whatever it is asked
    return Speed(Stages(v, half, half, full), full, 0.0 if abs(full) >= v_lim and a * full > 0.0 else a)


@pure
def sane_speed(v: float, a: float, a_des: float, T: float, gear: float, deceleration: float, v_lim: float, a_lim: float, dt: float) -> Speed:
    """The exact step of a car with gears: PARK, NONE and a gear against the motion stop it, and no gear lets it roll through rest the wrong way."""
    if is_stopping(gear, v):
        return stopping(clamp(v, -v_lim, v_lim), minimum(deceleration, a_lim), dt)
    free = sane_lag(v, a, a_des, T, v_lim, a_lim, dt)
    if is_against(gear, free.vx) or (gear == NEUTRAL and v * free.vx < 0.0):
        # it comes to rest within the step and stays there; a stored acceleration would push it on in the next one
        half = 0.0 if free.v.k2 * v <= 0.0 else free.v.k2
        return Speed(Stages(free.v.k1, half, half, 0.0), 0.0, 0.0)
    return free


@pure
def stopping(v: float, deceleration: float, dt: float) -> Speed:
    """Brought to rest at a steady deceleration, and kept there."""
    half = towards_rest(v, 0.5 * dt * deceleration)
    full = towards_rest(v, dt * deceleration)
    a = -deceleration if full > 0.0 else (deceleration if full < 0.0 else 0.0)
    return Speed(Stages(v, half, half, full), full, a)


@pure
def towards_rest(v: float, dv: float) -> float:
    return maximum(v - dv, 0.0) if v > 0.0 else minimum(v + dv, 0.0)


@pure
def opposed(v: float, push: float, resistance: float) -> float:
    """Net acceleration of a push against a resistance that opposes motion and holds a car at rest."""
    if v > 0.0:
        return push - resistance
    if v < 0.0:
        return push + resistance
    return maximum(push - resistance, 0.0) if push > 0.0 else minimum(push + resistance, 0.0)
