"""DELAY_STEER_ACC and DELAY_STEER_ACC_GEARED: a car that follows an acceleration and a tyre angle, each after a dead time and with a lag.

    a'     = (Ka clamp(accx_cmd, +-vel_rate_lim) - a) / Ta           v' = a,  |v| <= vel_lim
    steer' = clamp(db(Ks clamp(steer_cmd, +-steer_lim) - (steer + bias)) / Ts, +-steer_rate_lim)
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L

accx_cmd, steer_cmd are the delayed inputs; db moves its argument towards 0 by steer_dead_band; Ka, Ks are the debug scaling factors, at least 0. The
acceleration is along the car, positive forward, in every gear. GEARED adds what the gear allows (gear.py); in NEUTRAL with `reference` off only what
slows the car acts. Reference: a is clamped where it is used, never where it is stored; steer never is. Sane: exact lags within the limits.
Source: the public vehicle models of Autoware, restated.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, maximum
from pushrod.models import queue
from pushrod.vehicles import parameter, steering
from pushrod.vehicles.car import Car, driven, put_back
from pushrod.vehicles.gear import DRIVE, NEUTRAL, Gear, is_held
from pushrod.vehicles.kinematics import Out, curvatures
from pushrod.vehicles.longitudinal import reference_lag, sane_lag, sane_speed, time_constant
from pushrod.vehicles.queues import too_long

FREE = -1.0  # stands for a car without gears


class In(NamedTuple):
    accx_des: parameter.AccelerationCommand = 0.0
    steer_des: parameter.TireCommand = 0.0


class GearedIn(NamedTuple):
    accx_des: parameter.AccelerationCommand = 0.0
    steer_des: parameter.TireCommand = 0.0
    gear: Gear = DRIVE


@pure
def reference_moved(p: Any, c: Car, a_des: float, target: float, gear: float, dt: float) -> Car:
    rate = steering.reference_rate(c.steer, target, p.steer_bias, time_constant(p.steer_time_constant, 1.0), p.steer_rate_lim, p.steer_dead_band)
    steer = c.steer + dt * rate
    speed = reference_lag(c.vx, c.accx, a_des, time_constant(p.acc_time_constant, 1.0), p.vel_lim, p.vel_rate_lim, dt)
    v = clamp(speed.vx, -p.vel_lim, p.vel_lim)
    if gear != FREE and is_held(gear, v):
        return put_back(c, steer, dt)
    k = curvatures(p.wheelbase, c.steer, c.steer + 0.5 * dt * rate, steer)
    m = driven(c, speed, k, steer, dt)
    return Car(m.x, m.y, m.yaw, v, m.steer, m.accx)


@pure
def sane_moved(p: Any, c: Car, a_des: float, target: float, dead: float, gear: float, deceleration: float, dt: float) -> Car:
    lim = p.steer_lim
    T = time_constant(p.acc_time_constant, 0.0)
    if gear == FREE:
        speed = sane_lag(c.vx, c.accx, a_des, T, p.vel_lim, p.vel_rate_lim, dt)
    else:
        goal = 0.0 if gear == NEUTRAL and a_des * c.vx >= 0.0 else a_des
        speed = sane_speed(c.vx, c.accx, goal, T, gear, deceleration, p.vel_lim, p.vel_rate_lim, dt)
    Ts = time_constant(p.steer_time_constant, 0.0)
    start = clamp(c.steer, -lim, lim)
    half = clamp(steering.towards(start, target, p.steer_bias, Ts, p.steer_rate_lim, dead, 0.5 * dt), -lim, lim)
    steer = clamp(steering.towards(half, target, p.steer_bias, Ts, p.steer_rate_lim, dead, 0.5 * dt), -lim, lim)
    return driven(c, speed, curvatures(p.wheelbase, start, half, steer), steer, dt)


@pure
def moved(p: Any, c: Car, accx_cmd: float, steer_cmd: float, gear: float, deceleration: float, dt: float) -> Car:
    """After a step with commands that come out of the queues."""
    a_des = clamp(accx_cmd, -p.vel_rate_lim, p.vel_rate_lim) * maximum(p.debug_acc_scaling_factor, 0.0)
    target = clamp(steer_cmd, -p.steer_lim, p.steer_lim) * maximum(p.debug_steer_scaling_factor, 0.0)
    if p.reference != 0.0:
        return reference_moved(p, c, a_des, target, gear, dt)
    return sane_moved(p, c, a_des, target, p.steer_dead_band, gear, deceleration, dt)


@functools.cache
def of(slots: int) -> Model:
    """DELAY_STEER_ACC with room for `slots` entries in each queue."""
    accs = queue.of(parameter.AccelerationCommand, slots)
    angles = queue.of(parameter.TireCommand, slots)

    class Params(NamedTuple):
        reference: parameter.Reference = 1.0
        wheelbase: parameter.Wheelbase = 2.79
        vel_lim: parameter.SpeedLimit = 50.0
        vel_rate_lim: parameter.AccelerationLimit = 7.0
        steer_lim: parameter.SteerLimit = 1.0
        steer_rate_lim: parameter.SteerRateLimit = 5.0
        acc_time_delay: parameter.Delay = 0.1
        acc_time_constant: parameter.TimeConstant = 0.1
        steer_time_delay: parameter.Delay = 0.24
        steer_time_constant: parameter.TimeConstant = 0.27
        steer_dead_band: parameter.DeadBand = 0.0
        steer_bias: parameter.SteerBias = 0.0
        debug_acc_scaling_factor: parameter.Scaling = 1.0
        debug_steer_scaling_factor: parameter.Scaling = 1.0
        sampling_time: parameter.SamplingTime = 0.025

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from too_long(self, ("acc_time_delay", "steer_time_delay"), slots)

    class State(NamedTuple):
        x: parameter.Position = 0.0
        y: parameter.Position = 0.0
        yaw: parameter.Angle = 0.0
        vx: parameter.Velocity = 0.0
        steer: parameter.Angle = 0.0
        accx: parameter.Acceleration = 0.0
        accx_queue: accs.State = accs.State()  # type: ignore[name-defined]
        steer_queue: angles.State = angles.State()  # type: ignore[name-defined]

    @pure
    def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
        if dt > 0.0:
            accx_queue, accx_cmd = accs.step(accs.Params(p.acc_time_delay, p.sampling_time), s.accx_queue, u.accx_des, dt)
            steer_queue, steer_cmd = angles.step(angles.Params(p.steer_time_delay, p.sampling_time), s.steer_queue, u.steer_des, dt)
            c = moved(p, Car(s.x, s.y, s.yaw, s.vx, s.steer, s.accx), accx_cmd, steer_cmd, FREE, 0.0, dt)
            s = State(c.x, c.y, c.yaw, c.vx, c.steer, c.accx, accx_queue, steer_queue)
        return s, Out(s.vx, s.accx, s.vx * math.tan(s.steer) / p.wheelbase, s.steer + p.steer_bias)

    return Model("DELAY_STEER_ACC", Params, State, In, Out, step)


@functools.cache
def geared(slots: int) -> Model:
    """DELAY_STEER_ACC_GEARED with room for `slots` entries in each queue."""
    accs = queue.of(parameter.AccelerationCommand, slots)
    angles = queue.of(parameter.TireCommand, slots)
    State = of(slots).State

    class Params(NamedTuple):
        reference: parameter.Reference = 1.0
        wheelbase: parameter.Wheelbase = 2.79
        vel_lim: parameter.SpeedLimit = 50.0
        vel_rate_lim: parameter.AccelerationLimit = 7.0
        steer_lim: parameter.SteerLimit = 1.0
        steer_rate_lim: parameter.SteerRateLimit = 5.0
        acc_time_delay: parameter.Delay = 0.1
        acc_time_constant: parameter.TimeConstant = 0.1
        steer_time_delay: parameter.Delay = 0.24
        steer_time_constant: parameter.TimeConstant = 0.27
        steer_dead_band: parameter.DeadBand = 0.0
        steer_bias: parameter.SteerBias = 0.0
        debug_acc_scaling_factor: parameter.Scaling = 1.0
        debug_steer_scaling_factor: parameter.Scaling = 1.0
        stop_deceleration: parameter.StopDeceleration = 3.0
        sampling_time: parameter.SamplingTime = 0.025

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from too_long(self, ("acc_time_delay", "steer_time_delay"), slots)

    @pure
    def step(p: Params, s: Any, u: GearedIn, dt: float) -> tuple[Any, Out]:
        if dt > 0.0:
            accx_queue, accx_cmd = accs.step(accs.Params(p.acc_time_delay, p.sampling_time), s.accx_queue, u.accx_des, dt)
            steer_queue, steer_cmd = angles.step(angles.Params(p.steer_time_delay, p.sampling_time), s.steer_queue, u.steer_des, dt)
            c = moved(p, Car(s.x, s.y, s.yaw, s.vx, s.steer, s.accx), accx_cmd, steer_cmd, u.gear, p.stop_deceleration, dt)
            s = State(c.x, c.y, c.yaw, c.vx, c.steer, c.accx, accx_queue, steer_queue)
        return s, Out(s.vx, s.accx, s.vx * math.tan(s.steer) / p.wheelbase, s.steer + p.steer_bias)

    return Model("DELAY_STEER_ACC_GEARED", Params, State, GearedIn, Out, step)
