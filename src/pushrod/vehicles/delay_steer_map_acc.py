"""DELAY_STEER_MAP_ACC_GEARED: as DELAY_STEER_ACC_GEARED, with a map from the acceleration asked for to the one the car gives at its speed.

    a'     = (map(clamp(accx_cmd, +-vel_rate_lim), v) - a) / Ta           v' = a,  |v| <= vel_lim
    steer' = clamp((clamp(steer_cmd, +-steer_lim) - (steer + bias)) / Ts, +-steer_rate_lim)
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L

No dead band, no scaling. Reference: the map is looked up with the signed speed, so that backwards its first column counts, and steer is not clamped
where it is used. Sane: the map is looked up with |v|, once a step.
Source: the public vehicle models of Autoware, restated.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp
from pushrod.core.table import lookup_grid
from pushrod.models import queue
from pushrod.vehicles import delay_steer_acc, parameter, steering
from pushrod.vehicles.car import Car, driven, put_back
from pushrod.vehicles.delay_steer_acc import GearedIn, sane_moved
from pushrod.vehicles.gear import is_held
from pushrod.vehicles.kinematics import Out, Stages, curvatures
from pushrod.vehicles.longitudinal import Speed, time_constant
from pushrod.vehicles.pedal_line import Line, line_at, pressed, value
from pushrod.vehicles.pedal_map import AccelerationMap
from pushrod.vehicles.queues import too_long


@pure
def reference_speed(p: Any, v: float, a: float, accx_cmd: float, dt: float) -> Speed:
    """Runge-Kutta with the map looked up at the speed of every stage."""
    h = 0.5 * dt
    v_lim = p.vel_lim
    a_lim = p.vel_rate_lim
    per_T = 1.0 / time_constant(p.acc_time_constant, 1.0)
    pedal = pressed(p.acceleration_map, clamp(accx_cmd, -a_lim, a_lim))
    v1 = clamp(v, -v_lim, v_lim)
    a1 = clamp(a, -a_lim, a_lim)
    line = line_at(p.acceleration_map, pedal, Line(0.0, 0.0, 0.0, 0.0, 0.0), v1)
    d1 = (value(line, v1) - a1) * per_T
    v2 = clamp(v + h * a1, -v_lim, v_lim)
    a2 = clamp(a + h * d1, -a_lim, a_lim)
    line = line_at(p.acceleration_map, pedal, line, v2)
    d2 = (value(line, v2) - a2) * per_T
    v3 = clamp(v + h * a2, -v_lim, v_lim)
    a3 = clamp(a + h * d2, -a_lim, a_lim)
    line = line_at(p.acceleration_map, pedal, line, v3)
    d3 = (value(line, v3) - a3) * per_T
    v4 = clamp(v + dt * a3, -v_lim, v_lim)
    a4 = clamp(a + dt * d3, -a_lim, a_lim)
    line = line_at(p.acceleration_map, pedal, line, v4)
    d4 = (value(line, v4) - a4) * per_T
    w = dt / 6.0
    return Speed(Stages(v1, v2, v3, v4), v + w * (a1 + 2.0 * (a2 + a3) + a4), a + w * (d1 + 2.0 * (d2 + d3) + d4))


@pure
def moved(p: Any, c: Car, accx_cmd: float, steer_cmd: float, gear: float, dt: float) -> Car:
    """After a step with commands that come out of the queues."""
    target = clamp(steer_cmd, -p.steer_lim, p.steer_lim)
    if p.reference == 0.0:
        a_des = lookup_grid(p.acceleration_map, clamp(accx_cmd, -p.vel_rate_lim, p.vel_rate_lim), abs(c.vx))
        return sane_moved(p, c, a_des, target, 0.0, gear, p.stop_deceleration, dt)
    rate = steering.reference_rate(c.steer, target, p.steer_bias, time_constant(p.steer_time_constant, 1.0), p.steer_rate_lim, 0.0)
    steer = c.steer + dt * rate
    speed = reference_speed(p, c.vx, c.accx, accx_cmd, dt)
    v = clamp(speed.vx, -p.vel_lim, p.vel_lim)
    if is_held(gear, v):
        return put_back(c, steer, dt)
    m = driven(c, speed, curvatures(p.wheelbase, c.steer, c.steer + 0.5 * dt * rate, steer), steer, dt)
    return Car(m.x, m.y, m.yaw, v, m.steer, m.accx)


@functools.cache
def of(slots: int) -> Model:
    """The car with room for `slots` entries in each queue."""
    accs = queue.of(parameter.AccelerationCommand, slots)
    angles = queue.of(parameter.TireCommand, slots)
    State = delay_steer_acc.of(slots).State

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
        steer_bias: parameter.SteerBias = 0.0
        stop_deceleration: parameter.StopDeceleration = 3.0
        sampling_time: parameter.SamplingTime = 0.025
        acceleration_map: AccelerationMap = AccelerationMap()

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from too_long(self, ("acc_time_delay", "steer_time_delay"), slots)

    @pure
    def step(p: Params, s: Any, u: GearedIn, dt: float) -> tuple[Any, Out]:
        if dt > 0.0:
            accx_queue, accx_cmd = accs.step(accs.Params(p.acc_time_delay, p.sampling_time), s.accx_queue, u.accx_des, dt)
            steer_queue, steer_cmd = angles.step(angles.Params(p.steer_time_delay, p.sampling_time), s.steer_queue, u.steer_des, dt)
            c = moved(p, Car(s.x, s.y, s.yaw, s.vx, s.steer, s.accx), accx_cmd, steer_cmd, u.gear, dt)
            s = State(c.x, c.y, c.yaw, c.vx, c.steer, c.accx, accx_queue, steer_queue)
        return s, Out(s.vx, s.accx, s.vx * math.tan(s.steer) / p.wheelbase, s.steer + p.steer_bias)

    return Model("DELAY_STEER_MAP_ACC_GEARED", Params, State, GearedIn, Out, step)
