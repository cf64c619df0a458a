"""ACTUATION_CMD: a car driven by its pedals and a tyre angle.

    steer' = clamp((steer_cmd - (steer + bias)) / Ts, +-steer_rate_lim),    |steer| <= steer_lim
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L

steer_cmd is the delayed steer_des [rad at the tyre]; v follows the pedals as in actuation.py.

Reference: the steering rate is held over the step (explicit Euler). Sane: the exact lag.
Source: the public vehicle models of Autoware, restated.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp
from pushrod.vehicles import parameter, steering
from pushrod.vehicles.actuation import DELAYS, Out, Pedals, Status, lines, misfits, reference_speed, report, sane_pedal_speed, status_pedals
from pushrod.vehicles.car import Car, driven, put_back
from pushrod.vehicles.gear import DRIVE, Gear, is_held
from pushrod.vehicles.kinematics import curvatures
from pushrod.vehicles.longitudinal import time_constant
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap
from pushrod.vehicles.queues import too_long


class In(NamedTuple):
    accel_des: parameter.PedalCommand = 0.0
    brake_des: parameter.BrakeCommand = 0.0
    slope_accx: parameter.SlopeAcceleration = 0.0
    steer_des: parameter.TireCommand = 0.0
    gear: Gear = DRIVE


@pure
def moved(p: Any, c: Car, u: Pedals, steer_cmd: float, dt: float) -> Car:
    """After a step with commands that come out of the queues."""
    lim = p.steer_lim
    Ts = time_constant(p.steer_time_constant, p.reference)
    if p.reference != 0.0:
        rate = steering.reference_rate(c.steer, steer_cmd, p.steer_bias, Ts, p.steer_rate_lim, 0.0)
        steer = clamp(c.steer + dt * rate, -lim, lim)
        speed = reference_speed(p, c.vx, c.accx, u, dt).speed
        v = clamp(speed.vx, -p.vel_lim, p.vel_lim)
        if is_held(u.gear, v):
            return put_back(c, steer, dt)
        m = driven(c, speed, curvatures(p.wheelbase, c.steer, c.steer + 0.5 * dt * rate, c.steer + dt * rate), steer, dt)
        return Car(m.x, m.y, m.yaw, v, steer, m.accx)
    speed = sane_pedal_speed(p, c.vx, c.accx, u, dt)
    start = clamp(c.steer, -lim, lim)
    half = clamp(steering.towards(start, steer_cmd, p.steer_bias, Ts, p.steer_rate_lim, 0.0, 0.5 * dt), -lim, lim)
    steer = clamp(steering.towards(half, steer_cmd, p.steer_bias, Ts, p.steer_rate_lim, 0.0, 0.5 * dt), -lim, lim)
    return driven(c, speed, curvatures(p.wheelbase, start, half, steer), steer, dt)


@pure
def status(p: Any, s: Any) -> Status:
    """The actuation status in state s; steer is the measured tyre angle [rad]."""
    return status_pedals(p, s.vx, s.accx, s.steer + p.steer_bias)


@functools.cache
def of(slots: int) -> Model:
    """The car with room for `slots` entries in each queue."""
    waiting = lines(parameter.TireCommand, slots)

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
        convert_steer_cmd: parameter.ConvertSteer = 0.0
        enable_pub_steer: parameter.PublishSteer = 1.0
        stop_deceleration: parameter.StopDeceleration = 3.0
        sampling_time: parameter.SamplingTime = 0.025
        accel_map: AccelMap = AccelMap()
        brake_map: BrakeMap = BrakeMap()

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from misfits(self, "ACTUATION_CMD", convert_steer=False)
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

    return Model("ACTUATION_CMD", Params, State, In, Out, step)
