"""DELAY_STEER_VEL: a car that follows a speed and a tyre angle, each after a dead time and with a lag.

    v'     = clamp((v_des - v) / Tv, +-vel_rate_lim)           v_des the delayed vx_des, clamped to +-vel_lim
    steer' = clamp(db(steer_cmd - (steer + bias)) / Ts, +-steer_rate_lim)
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L

steer_cmd is the delayed steer_des clamped to +-steer_lim; db moves its argument towards 0 by steer_dead_band. Dead times are queues of whole sampling
times. ax reported is the change of v over the step. Reference: v and steer are clamped where they are used, never where they are stored. Sane: exact
lags within the limits.
Source: the public vehicle models of Autoware, restated.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp
from pushrod.models import queue
from pushrod.vehicles import parameter, steering
from pushrod.vehicles.kinematics import Out, Pose, Stages, curvatures, travel
from pushrod.vehicles.longitudinal import Speed, time_constant
from pushrod.vehicles.queues import too_long


class In(NamedTuple):
    vx_des: parameter.SpeedCommand = 0.0
    steer_des: parameter.TireCommand = 0.0


class Fields(NamedTuple):
    """What moves."""

    x: parameter.Position = 0.0
    y: parameter.Position = 0.0
    yaw: parameter.Angle = 0.0
    vx: parameter.Velocity = 0.0
    steer: parameter.Angle = 0.0
    accx: parameter.Acceleration = 0.0


@pure
def reference_speed(v: float, v_des: float, T: float, v_lim: float, a_lim: float, dt: float) -> Speed:
    h = 0.5 * dt
    v1 = clamp(v, -v_lim, v_lim)
    a1 = clamp((v_des - v1) / T, -a_lim, a_lim)
    v2 = clamp(v + h * a1, -v_lim, v_lim)
    a2 = clamp((v_des - v2) / T, -a_lim, a_lim)
    v3 = clamp(v + h * a2, -v_lim, v_lim)
    a3 = clamp((v_des - v3) / T, -a_lim, a_lim)
    v4 = clamp(v + dt * a3, -v_lim, v_lim)
    a4 = clamp((v_des - v4) / T, -a_lim, a_lim)
    vx = v + dt / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
    return Speed(Stages(v1, v2, v3, v4), vx, (vx - v) / dt)


@pure
def sane_speed(v: float, v_des: float, T: float, v_lim: float, a_lim: float, dt: float) -> Speed:
    """Exact, by the law that the tyre angle follows too: at full rate first, then exponentially."""
    h = 0.5 * dt
    v = clamp(v, -v_lim, v_lim)
    half = steering.towards(v, v_des, 0.0, T, a_lim, 0.0, h)
    full = steering.towards(half, v_des, 0.0, T, a_lim, 0.0, h)
    return Speed(Stages(v, half, half, full), full, (full - v) / dt)


@pure
def moved(p: Any, s: Fields, vx_cmd: float, steer_cmd: float, dt: float) -> Fields:
    """After a step with commands that come out of the queues."""
    lim = p.steer_lim
    v_des = clamp(vx_cmd, -p.vel_lim, p.vel_lim)
    target = clamp(steer_cmd, -lim, lim)
    Tv = time_constant(p.vel_time_constant, p.reference)
    Ts = time_constant(p.steer_time_constant, p.reference)
    if p.reference != 0.0:
        speed = reference_speed(s.vx, v_des, Tv, p.vel_lim, p.vel_rate_lim, dt)
        rate = steering.reference_rate(s.steer, target, p.steer_bias, Ts, p.steer_rate_lim, p.steer_dead_band)
        steer = s.steer + dt * rate
        k = curvatures(p.wheelbase, clamp(s.steer, -lim, lim), clamp(s.steer + 0.5 * dt * rate, -lim, lim), clamp(steer, -lim, lim))
    else:
        speed = sane_speed(s.vx, v_des, Tv, p.vel_lim, p.vel_rate_lim, dt)
        start = clamp(s.steer, -lim, lim)
        half = clamp(steering.towards(start, target, p.steer_bias, Ts, p.steer_rate_lim, p.steer_dead_band, 0.5 * dt), -lim, lim)
        steer = clamp(steering.towards(half, target, p.steer_bias, Ts, p.steer_rate_lim, p.steer_dead_band, 0.5 * dt), -lim, lim)
        k = curvatures(p.wheelbase, start, half, steer)
    at = travel(Pose(s.x, s.y, s.yaw), speed.v, k, dt)
    return Fields(at.x, at.y, at.yaw, speed.vx, steer, speed.accx)


@functools.cache
def of(slots: int) -> Model:
    """The car with room for `slots` entries in each queue."""
    speeds = queue.of(parameter.SpeedCommand, slots)
    angles = queue.of(parameter.TireCommand, slots)

    class Params(NamedTuple):
        reference: parameter.Reference = 1.0
        wheelbase: parameter.Wheelbase = 2.79
        vel_lim: parameter.SpeedLimit = 50.0
        vel_rate_lim: parameter.AccelerationLimit = 7.0
        steer_lim: parameter.SteerLimit = 1.0
        steer_rate_lim: parameter.SteerRateLimit = 5.0
        vel_time_delay: parameter.Delay = 0.25
        vel_time_constant: parameter.TimeConstant = 0.5
        steer_time_delay: parameter.Delay = 0.24
        steer_time_constant: parameter.TimeConstant = 0.27
        steer_dead_band: parameter.DeadBand = 0.0
        steer_bias: parameter.SteerBias = 0.0
        sampling_time: parameter.SamplingTime = 0.025

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from too_long(self, ("vel_time_delay", "steer_time_delay"), slots)

    class State(NamedTuple):
        x: parameter.Position = 0.0
        y: parameter.Position = 0.0
        yaw: parameter.Angle = 0.0
        vx: parameter.Velocity = 0.0
        steer: parameter.Angle = 0.0
        accx: parameter.Acceleration = 0.0
        vx_queue: speeds.State = speeds.State()  # type: ignore[name-defined]
        steer_queue: angles.State = angles.State()  # type: ignore[name-defined]

    @pure
    def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
        if dt > 0.0:
            vx_queue, vx_cmd = speeds.step(speeds.Params(p.vel_time_delay, p.sampling_time), s.vx_queue, u.vx_des, dt)
            steer_queue, steer_cmd = angles.step(angles.Params(p.steer_time_delay, p.sampling_time), s.steer_queue, u.steer_des, dt)
            m = moved(p, Fields(s.x, s.y, s.yaw, s.vx, s.steer, s.accx), vx_cmd, steer_cmd, dt)
            s = State(m.x, m.y, m.yaw, m.vx, m.steer, m.accx, vx_queue, steer_queue)
        return s, Out(s.vx, s.accx, s.vx * math.tan(s.steer) / p.wheelbase, s.steer + p.steer_bias)

    return Model("DELAY_STEER_VEL", Params, State, In, Out, step)
