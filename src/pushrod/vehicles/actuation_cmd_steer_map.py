"""ACTUATION_CMD_STEER_MAP: a car driven by its pedals and an arbitrary steering actuation (a voltage, say), which a map turns into a tyre rate.

    steer' = clamp(map(steer_cmd, v) / Ts, +-steer_rate_lim)          reference: looked up by SPEED, although the columns are tyre angles
    steer' = clamp(map(steer_cmd, steer + bias), +-steer_rate_lim)    sane: by the measured tyre angle; the map gives the rate, Ts plays no part
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L,        |steer| <= steer_lim

steer_cmd is the delayed steer_des in the unit of the map's rows; v follows the pedals as in actuation.py. No angle feedback but the map's own.
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
from pushrod.vehicles import parameter
from pushrod.vehicles.actuation import DELAYS, Out, Pedals, Status, lines, misfits, reference_speed, report, sane_pedal_speed, status_pedals
from pushrod.vehicles.car import Car, driven, put_back
from pushrod.vehicles.gear import DRIVE, Gear, is_held
from pushrod.vehicles.kinematics import Stages, curvatures
from pushrod.vehicles.longitudinal import time_constant
from pushrod.vehicles.pedal_line import Line, line_at, pressed, value
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap
from pushrod.vehicles.queues import too_long
from pushrod.vehicles.steer_map import SteerMap


class In(NamedTuple):
    accel_des: parameter.PedalCommand = 0.0
    brake_des: parameter.BrakeCommand = 0.0
    slope_accx: parameter.SlopeAcceleration = 0.0
    steer_des: parameter.SteerActuation = 0.0
    gear: Gear = DRIVE


@pure
def reference_rates(p: Any, steer_cmd: float, v: Stages) -> Stages:
    """Tyre rates of the four stages, at their speeds."""
    rate_lim = p.steer_rate_lim
    per_T = 1.0 / time_constant(p.steer_time_constant, 1.0)
    at = pressed(p.steer_map, steer_cmd)
    line = line_at(p.steer_map, at, Line(0.0, 0.0, 0.0, 0.0, 0.0), v.k1)
    r1 = clamp(value(line, v.k1) * per_T, -rate_lim, rate_lim)
    line = line_at(p.steer_map, at, line, v.k2)
    r2 = clamp(value(line, v.k2) * per_T, -rate_lim, rate_lim)
    line = line_at(p.steer_map, at, line, v.k3)
    r3 = clamp(value(line, v.k3) * per_T, -rate_lim, rate_lim)
    line = line_at(p.steer_map, at, line, v.k4)
    r4 = clamp(value(line, v.k4) * per_T, -rate_lim, rate_lim)
    return Stages(r1, r2, r3, r4)


@pure
def sane_rate(p: Any, steer_cmd: float, steer: float) -> float:
    return clamp(lookup_grid(p.steer_map, steer_cmd, steer + p.steer_bias), -p.steer_rate_lim, p.steer_rate_lim)


@pure
def moved(p: Any, c: Car, u: Pedals, steer_cmd: float, dt: float) -> Car:
    """After a step with commands that come out of the queues."""
    h = 0.5 * dt
    lim = p.steer_lim
    if p.reference != 0.0:
        rolling = reference_speed(p, c.vx, c.accx, u, dt)
        speed = rolling.speed
        r = reference_rates(p, steer_cmd, rolling.free)
        steer = clamp(c.steer + dt / 6.0 * (r.k1 + 2.0 * (r.k2 + r.k3) + r.k4), -lim, lim)
        v = clamp(speed.vx, -p.vel_lim, p.vel_lim)
        if is_held(u.gear, v):
            return put_back(c, steer, dt)
        per_L = 1.0 / p.wheelbase
        k = Stages(
            math.tan(c.steer) * per_L,
            math.tan(c.steer + h * r.k1) * per_L,
            math.tan(c.steer + h * r.k2) * per_L,
            math.tan(c.steer + dt * r.k3) * per_L,
        )
        m = driven(c, speed, k, steer, dt)
        return Car(m.x, m.y, m.yaw, v, steer, m.accx)
    speed = sane_pedal_speed(p, c.vx, c.accx, u, dt)
    start = clamp(c.steer, -lim, lim)
    half = clamp(start + h * sane_rate(p, steer_cmd, start), -lim, lim)
    steer = clamp(start + dt * sane_rate(p, steer_cmd, half), -lim, lim)
    return driven(c, speed, curvatures(p.wheelbase, start, half, steer), steer, dt)


@pure
def status(p: Any, s: Any) -> Status:
    """The actuation status in state s; steer is the actuation that acted last, in the unit of the map."""
    return status_pedals(p, s.vx, s.accx, s.actuation)


@functools.cache
def of(slots: int) -> Model:
    """The car with room for `slots` entries in each queue."""
    waiting = lines(parameter.SteerActuation, slots)

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
        stop_deceleration: parameter.StopDeceleration = 3.0
        sampling_time: parameter.SamplingTime = 0.025
        accel_map: AccelMap = AccelMap()
        brake_map: BrakeMap = BrakeMap()
        steer_map: SteerMap = SteerMap()

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from misfits(self, "ACTUATION_CMD_STEER_MAP", convert_steer=True)
            yield from too_long(self, DELAYS, slots)

    class State(NamedTuple):
        x: parameter.Position = 0.0
        y: parameter.Position = 0.0
        yaw: parameter.Angle = 0.0
        vx: parameter.Velocity = 0.0
        steer: parameter.Angle = 0.0
        accx: parameter.Acceleration = 0.0
        actuation: parameter.SteerActuation = 0.0
        queues: waiting.State = waiting.State()  # type: ignore[name-defined]

    @pure
    def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
        if dt > 0.0:
            queues, cmd = waiting.push(p, s.queues, u.accel_des, u.brake_des, u.steer_des, dt)
            c = moved(p, Car(s.x, s.y, s.yaw, s.vx, s.steer, s.accx), Pedals(cmd.accel, cmd.brake, u.slope_accx, u.gear), cmd.steer, dt)
            s = State(c.x, c.y, c.yaw, c.vx, c.steer, c.accx, cmd.steer, queues)
        return s, report(p, s.vx, s.accx, s.steer)

    return Model("ACTUATION_CMD_STEER_MAP", Params, State, In, Out, step)
