"""DELAY_STEER_ACC_GEARED_WO_FALL_GUARD: a car that pedals and the slope drive, and that may roll back in gear.

    pedal' = (Ka clamp(pedal_cmd, +-vel_rate_lim) - pedal) / Ta
    v'     = drive(pedal, gear) + slope        pedal >= 0:  pedal forward, -pedal in reverse, 0 in NEUTRAL; PARK and NONE hold
             brake(pedal, v) + slope           pedal < 0:   |pedal| against the motion; holds a car at rest if |pedal| >= |slope|
    steer' = clamp(db(Ks clamp(steer_cmd, +-steer_lim) - (steer + bias)) / Ts, +-steer_rate_lim)
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L

pedal_cmd, steer_cmd are the delayed inputs [m/s2, rad], slope the acceleration of gravity along the car. The rest as in delay_steer_acc.

Reference: explicit Euler throughout; PARK does not stop a moving car, and a brake that cannot hold the car at rest does nothing there. Sane: exact
lags, PARK and NONE bring the car to rest, a brake always takes its share.
Source: the public vehicle models of Autoware, restated.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, maximum, phi1, settled
from pushrod.models import queue
from pushrod.vehicles import parameter, steering
from pushrod.vehicles.gear import DRIVE, NEUTRAL, Gear, is_locked, is_reverse
from pushrod.vehicles.kinematics import Out, Pose, Stages, curvatures, travel
from pushrod.vehicles.longitudinal import Speed, opposed, stopping, time_constant
from pushrod.vehicles.queues import too_long


class In(NamedTuple):
    pedal_accx_des: parameter.AccelerationCommand = 0.0
    gear: Gear = DRIVE
    slope_accx: parameter.SlopeAcceleration = 0.0
    steer_des: parameter.TireCommand = 0.0


class Fields(NamedTuple):
    """What moves."""

    x: parameter.Position = 0.0
    y: parameter.Position = 0.0
    yaw: parameter.Angle = 0.0
    vx: parameter.Velocity = 0.0
    steer: parameter.Angle = 0.0
    accx: parameter.Acceleration = 0.0
    pedal_accx: parameter.Acceleration = 0.0


@pure
def driving(pedal: float, gear: float, slope: float) -> float:
    """Acceleration with the accel pedal pressed or released."""
    if is_locked(gear):
        return 0.0
    if gear == NEUTRAL:
        return slope
    return slope - pedal if is_reverse(gear) else slope + pedal


@pure
def reference_acceleration(pedal: float, gear: float, slope: float, v: float) -> float:
    if pedal >= 0.0:
        return driving(pedal, gear, slope)
    if v > 0.0:
        return slope + pedal
    if v < 0.0:
        return slope - pedal
    return 0.0 if -pedal >= abs(slope) else slope


@pure
def reference_moved(p: Any, c: Fields, pedal_des: float, target: float, gear: float, slope: float, dt: float) -> Fields:
    v = clamp(c.vx, -p.vel_lim, p.vel_lim)
    pedal = clamp(c.pedal_accx, -p.vel_rate_lim, p.vel_rate_lim)
    pedal_accx = c.pedal_accx + dt * (pedal_des - pedal) / time_constant(p.acc_time_constant, 1.0)
    Ts = time_constant(p.steer_time_constant, 1.0)
    rate = steering.reference_rate(c.steer, target, p.steer_bias, Ts, p.steer_rate_lim, p.steer_dead_band)
    vx = clamp(c.vx + dt * reference_acceleration(pedal, gear, slope, v), -p.vel_lim, p.vel_lim)
    if c.vx * vx <= 0.0 and -pedal_accx >= abs(slope):
        vx = 0.0
    way = dt * v
    return Fields(
        c.x + way * math.cos(c.yaw),
        c.y + way * math.sin(c.yaw),
        c.yaw + way * math.tan(c.steer) / p.wheelbase,
        vx,
        c.steer + dt * rate,
        (vx - c.vx) / dt,
        pedal_accx,
    )


@pure
def sane_speed(p: Any, c: Fields, pedal: float, gear: float, slope: float, dt: float) -> Speed:
    """pedal is its mean over the step."""
    v_lim = p.vel_lim
    v = clamp(c.vx, -v_lim, v_lim)
    if is_locked(gear):
        return stopping(v, clamp(maximum(p.stop_deceleration, -pedal), 0.0, p.vel_rate_lim), dt)
    a = driving(pedal, gear, slope) if pedal >= 0.0 else opposed(v, slope, -pedal)
    a = clamp(a, -p.vel_rate_lim, p.vel_rate_lim)
    half = clamp(v + 0.5 * dt * a, -v_lim, v_lim)
    full = clamp(v + dt * a, -v_lim, v_lim)
    if pedal < 0.0 and v * full < 0.0:
        # the brake brings it to rest within the step; whether the slope then moves it is for the next one
        full = 0.0
        half = 0.0 if v * half < 0.0 else half
    return Speed(Stages(v, half, half, full), full, (full - v) / dt)


@pure
def sane_moved(p: Any, c: Fields, pedal_des: float, target: float, gear: float, slope: float, dt: float) -> Fields:
    lim = p.steer_lim
    x = dt / time_constant(p.acc_time_constant, 0.0)
    goal = clamp(pedal_des, -p.vel_rate_lim, p.vel_rate_lim)
    pedal = clamp(c.pedal_accx, -p.vel_rate_lim, p.vel_rate_lim)
    speed = sane_speed(p, c, goal + (pedal - goal) * phi1(x), gear, slope, dt)
    Ts = time_constant(p.steer_time_constant, 0.0)
    start = clamp(c.steer, -lim, lim)
    half = clamp(steering.towards(start, target, p.steer_bias, Ts, p.steer_rate_lim, p.steer_dead_band, 0.5 * dt), -lim, lim)
    steer = clamp(steering.towards(half, target, p.steer_bias, Ts, p.steer_rate_lim, p.steer_dead_band, 0.5 * dt), -lim, lim)
    at = travel(Pose(c.x, c.y, c.yaw), speed.v, curvatures(p.wheelbase, start, half, steer), dt)
    return Fields(at.x, at.y, at.yaw, speed.vx, steer, speed.accx, pedal + (goal - pedal) * settled(x))


@pure
def moved(p: Any, c: Fields, pedal_cmd: float, steer_cmd: float, gear: float, slope: float, dt: float) -> Fields:
    """After a step with commands that come out of the queues."""
    pedal_des = clamp(pedal_cmd, -p.vel_rate_lim, p.vel_rate_lim) * maximum(p.debug_acc_scaling_factor, 0.0)
    target = clamp(steer_cmd, -p.steer_lim, p.steer_lim) * maximum(p.debug_steer_scaling_factor, 0.0)
    if p.reference != 0.0:
        return reference_moved(p, c, pedal_des, target, gear, slope, dt)
    return sane_moved(p, c, pedal_des, target, gear, slope, dt)


@functools.cache
def of(slots: int) -> Model:
    """The car with room for `slots` entries in each queue."""
    pedals = queue.of(parameter.AccelerationCommand, slots)
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
        stop_deceleration: parameter.StopDeceleration = 3.0
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
        pedal_accx: parameter.Acceleration = 0.0
        pedal_queue: pedals.State = pedals.State()  # type: ignore[name-defined]
        steer_queue: angles.State = angles.State()  # type: ignore[name-defined]

    @pure
    def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
        if dt > 0.0:
            pedal_queue, pedal_cmd = pedals.step(pedals.Params(p.acc_time_delay, p.sampling_time), s.pedal_queue, u.pedal_accx_des, dt)
            steer_queue, steer_cmd = angles.step(angles.Params(p.steer_time_delay, p.sampling_time), s.steer_queue, u.steer_des, dt)
            c = moved(p, Fields(s.x, s.y, s.yaw, s.vx, s.steer, s.accx, s.pedal_accx), pedal_cmd, steer_cmd, u.gear, u.slope_accx, dt)
            s = State(c.x, c.y, c.yaw, c.vx, c.steer, c.accx, c.pedal_accx, pedal_queue, steer_queue)
        return s, Out(s.vx, s.accx, s.vx * math.tan(s.steer) / p.wheelbase, s.steer + p.steer_bias)

    return Model("DELAY_STEER_ACC_GEARED_WO_FALL_GUARD", Params, State, In, Out, step)
