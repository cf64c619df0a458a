"""ACTUATION_CMD_VGR: a car driven by its pedals and the steering wheel, with a variable gear ratio between wheel and tyre.

    steer' = clamp((tire_des - (steer + bias)) / Ts, +-steer_rate_lim),    tire_des = wheel_cmd / ratio(v, wheel(v, steer))
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L,        |steer| <= steer_lim

wheel_cmd is the delayed steer_des [rad at the steering wheel]; ratio and wheel are those of vgr.py; v follows the pedals as in actuation.py.

Reference: the wanted tyre angle is that of every Runge-Kutta stage, the angle it is compared with that of the start of the step. Sane: the exact lag
towards the tyre angle wanted at the start of the step.
Source: the public vehicle models of Autoware, restated.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp
from pushrod.vehicles import parameter, steering
from pushrod.vehicles.actuation import DELAYS, Out, Pedals, Status, lines, misfits, reference_speed, report, sane_pedal_speed, status_pedals
from pushrod.vehicles.car import Car, driven, put_back
from pushrod.vehicles.gear import DRIVE, Gear, is_held
from pushrod.vehicles.kinematics import Stages, curvatures
from pushrod.vehicles.longitudinal import time_constant
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap
from pushrod.vehicles.queues import too_long
from pushrod.vehicles.vgr import Vgr, tire_command, wheel_from_tire


class In(NamedTuple):
    accel_des: parameter.PedalCommand = 0.0
    brake_des: parameter.BrakeCommand = 0.0
    slope_accx: parameter.SlopeAcceleration = 0.0
    steer_des: parameter.WheelCommand = 0.0
    gear: Gear = DRIVE


@pure
def reference_moved(p: Any, c: Car, u: Pedals, wheel_cmd: float, dt: float) -> Car:
    h = 0.5 * dt
    lim = p.steer_lim
    rate_lim = p.steer_rate_lim
    ratios = Vgr(p.vgr_coef_a, p.vgr_coef_b, p.vgr_coef_c)
    per_T = 1.0 / time_constant(p.steer_time_constant, 1.0)
    measured = c.steer + p.steer_bias
    rolling = reference_speed(p, c.vx, c.accx, u, dt)
    speed = rolling.speed
    r1 = clamp((tire_command(ratios, rolling.free.k1, c.steer, wheel_cmd) - measured) * per_T, -rate_lim, rate_lim)
    steer2 = c.steer + h * r1
    r2 = clamp((tire_command(ratios, rolling.free.k2, steer2, wheel_cmd) - measured) * per_T, -rate_lim, rate_lim)
    steer3 = c.steer + h * r2
    r3 = clamp((tire_command(ratios, rolling.free.k3, steer3, wheel_cmd) - measured) * per_T, -rate_lim, rate_lim)
    steer4 = c.steer + dt * r3
    r4 = clamp((tire_command(ratios, rolling.free.k4, steer4, wheel_cmd) - measured) * per_T, -rate_lim, rate_lim)
    steer = clamp(c.steer + dt / 6.0 * (r1 + 2.0 * (r2 + r3) + r4), -lim, lim)
    v = clamp(speed.vx, -p.vel_lim, p.vel_lim)
    if is_held(u.gear, v):
        return put_back(c, steer, dt)
    per_L = 1.0 / p.wheelbase
    k = Stages(math.tan(c.steer) * per_L, math.tan(steer2) * per_L, math.tan(steer3) * per_L, math.tan(steer4) * per_L)
    m = driven(c, speed, k, steer, dt)
    return Car(m.x, m.y, m.yaw, v, steer, m.accx)


@pure
def sane_moved(p: Any, c: Car, u: Pedals, wheel_cmd: float, dt: float) -> Car:
    lim = p.steer_lim
    Ts = time_constant(p.steer_time_constant, 0.0)
    speed = sane_pedal_speed(p, c.vx, c.accx, u, dt)
    start = clamp(c.steer, -lim, lim)
    target = tire_command(Vgr(p.vgr_coef_a, p.vgr_coef_b, p.vgr_coef_c), c.vx, start, wheel_cmd)
    half = clamp(steering.towards(start, target, p.steer_bias, Ts, p.steer_rate_lim, 0.0, 0.5 * dt), -lim, lim)
    steer = clamp(steering.towards(half, target, p.steer_bias, Ts, p.steer_rate_lim, 0.0, 0.5 * dt), -lim, lim)
    return driven(c, speed, curvatures(p.wheelbase, start, half, steer), steer, dt)


@pure
def moved(p: Any, c: Car, u: Pedals, wheel_cmd: float, dt: float) -> Car:
    """After a step with commands that come out of the queues."""
    return reference_moved(p, c, u, wheel_cmd, dt) if p.reference != 0.0 else sane_moved(p, c, u, wheel_cmd, dt)


@pure
def status(p: Any, s: Any) -> Status:
    """The actuation status in state s; steer is the steering wheel angle of the measured tyre angle [rad]."""
    wheel = wheel_from_tire(Vgr(p.vgr_coef_a, p.vgr_coef_b, p.vgr_coef_c), s.vx, s.steer + p.steer_bias)
    return status_pedals(p, s.vx, s.accx, wheel)


@functools.cache
def of(slots: int) -> Model:
    """The car with room for `slots` entries in each queue."""
    waiting = lines(parameter.WheelCommand, slots)

    class Params(NamedTuple):
        reference: parameter.Reference = 1.0
        wheelbase: parameter.Wheelbase = 2.79
        vel_lim: parameter.SpeedLimit = 50.0
        vel_rate_lim: parameter.AccelerationLimit = 7.0
        steer_lim: parameter.SteerLimit = 1.0
        steer_rate_lim: parameter.SteerRateLimit = 5.0
        accel_time_delay: parameter.Delay = 0.1
        accel_time_constant: parameter.TimeConstant = 0.1
        brake_time_delay: parameter.Delay = 0.1
        brake_time_constant: parameter.TimeConstant = 0.1
        steer_time_delay: parameter.Delay = 0.24
        steer_time_constant: parameter.TimeConstant = 0.27
        steer_bias: parameter.SteerBias = 0.0
        convert_accel_cmd: parameter.ConvertAccel = 1.0
        convert_brake_cmd: parameter.ConvertBrake = 1.0
        convert_steer_cmd: parameter.ConvertSteer = 1.0
        enable_pub_steer: parameter.PublishSteer = 1.0
        vgr_coef_a: parameter.VgrA = 15.713
        vgr_coef_b: parameter.VgrB = 0.053
        vgr_coef_c: parameter.VgrC = 0.042
        stop_deceleration: parameter.StopDeceleration = 3.0
        sampling_time: parameter.SamplingTime = 0.025
        accel_map: AccelMap = AccelMap()
        brake_map: BrakeMap = BrakeMap()

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from misfits(self, "ACTUATION_CMD_VGR", convert_steer=True)
            yield from too_long(self, DELAYS, slots)

    class State(NamedTuple):
        x: parameter.Position = 0.0
        y: parameter.Position = 0.0
        yaw: parameter.Angle = 0.0
        vx: parameter.Velocity = 0.0
        steer: parameter.Angle = 0.0
        accx: parameter.Acceleration = 0.0
        queues: waiting.State = waiting.State()  # type: ignore[name-defined]

    @pure
    def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
        if dt > 0.0:
            queues, cmd = waiting.push(p, s.queues, u.accel_des, u.brake_des, u.steer_des, dt)
            c = moved(p, Car(s.x, s.y, s.yaw, s.vx, s.steer, s.accx), Pedals(cmd.accel, cmd.brake, u.slope_accx, u.gear), cmd.steer, dt)
            s = State(c.x, c.y, c.yaw, c.vx, c.steer, c.accx, queues)
        return s, report(p, s.vx, s.accx, s.steer)

    return Model("ACTUATION_CMD_VGR", Params, State, In, Out, step)
