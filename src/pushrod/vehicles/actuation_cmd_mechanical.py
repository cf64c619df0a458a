"""ACTUATION_CMD_MECHANICAL: a car driven by its pedals and the steering wheel, with a mechanical steering behind a variable gear ratio.

    tire_des = wheel_cmd / ratio(v, wheel(v, steer))       goes to the controller of mechanical.py, whose angle becomes steer,  |steer| <= steer_lim
    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L

wheel_cmd is the delayed steer_des [rad at the steering wheel]; ratio and wheel are those of vgr.py; v follows the pedals as in actuation.py.
steer_time_constant plays no part; steer_bias shifts the report alone.

Reference: the car drives the step with the tyre angle of its start; ratio and power steering take the speed after the step, before its limit and the
gear act. steer_rate_lim plays no part. Sane: the tyre angle moves evenly in the step, speed is the one the car has, and steer_rate_lim holds.
Source: the public vehicle models of Autoware, restated.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, minimum
from pushrod.vehicles import mechanical, parameter
from pushrod.vehicles.actuation import DELAYS, Out, Pedals, lines, misfits, reference_speed, report, sane_pedal_speed
from pushrod.vehicles.actuation_cmd_vgr import In, status
from pushrod.vehicles.car import Car, driven, put_back
from pushrod.vehicles.gear import is_held
from pushrod.vehicles.kinematics import Stages, curvatures
from pushrod.vehicles.longitudinal import Speed
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap
from pushrod.vehicles.queues import slots_for, too_long
from pushrod.vehicles.vgr import Vgr, tire_command

__all__ = ["In", "of", "status"]


def unfit(m: mechanical.Params, reference: float, tick: float, slots: int) -> Iterator[str]:
    """What is wrong with a mechanical steering at this tick."""
    delay = m.torque_delay_time
    if tick > 0.0 and delay >= 0.0 and slots_for(delay, tick) + 1 > slots:
        need = slots_for(delay, tick) + 1
        yield (
            f"mechanical_params.torque_delay_time = {delay:g} s at steps of {tick:g} s needs {need} slots; this vehicle has {slots}: "
            f"shorten it, or make the vehicle with slots={need}"
        )
    # the stability bound of the reference's Runge-Kutta, with a margin; the sane step has none
    if reference != 0.0 and m.inertia > 0.0 and tick * m.damping > 2.5 * m.inertia:
        yield (
            f"mechanical_params.damping = {m.damping:g} on an inertia of {m.inertia:g} needs steps of at most {2.5 * m.inertia / m.damping:g} s, "
            f"got {tick:g} s: shorten them, or set reference to false"
        )


@pure
def reference_driven(p: Any, c: Car, speed: Speed, gear: float, steer: float, dt: float) -> Car:
    v = clamp(speed.vx, -p.vel_lim, p.vel_lim)
    if is_held(gear, v):
        return put_back(c, steer, dt)
    k = math.tan(c.steer) / p.wheelbase
    m = driven(c, speed, Stages(k, k, k, k), steer, dt)
    return Car(m.x, m.y, m.yaw, v, steer, m.accx)


@functools.cache
def of(slots: int) -> Model:
    """The car with room for `slots` entries in each queue and for `slots` torques."""
    waiting = lines(parameter.WheelCommand, slots)
    steering = mechanical.of(slots)

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
        mechanical_params: mechanical.Params = mechanical.Params()
        accel_map: AccelMap = AccelMap()
        brake_map: BrakeMap = BrakeMap()

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from misfits(self, "ACTUATION_CMD_MECHANICAL", convert_steer=True)
            yield from too_long(self, DELAYS, slots)
            yield from unfit(self.mechanical_params, self.reference, dt or self.sampling_time, slots)

    class State(NamedTuple):
        x: parameter.Position = 0.0
        y: parameter.Position = 0.0
        yaw: parameter.Angle = 0.0
        vx: parameter.Velocity = 0.0
        steer: parameter.Angle = 0.0
        accx: parameter.Acceleration = 0.0
        mechanical: steering.State = steering.State()  # type: ignore[name-defined]
        queues: waiting.State = waiting.State()  # type: ignore[name-defined]

    @pure
    def advance(p: Params, s: State, queues: Any, u: Pedals, wheel_cmd: float, dt: float) -> State:
        c = Car(s.x, s.y, s.yaw, s.vx, s.steer, s.accx)
        ratios = Vgr(p.vgr_coef_a, p.vgr_coef_b, p.vgr_coef_c)
        lim = p.steer_lim
        if p.reference != 0.0:
            speed = reference_speed(p, s.vx, s.accx, u, dt).speed
            tire_des = tire_command(ratios, speed.vx, s.steer, wheel_cmd)
            m = steering.reference_step(p.mechanical_params, s.mechanical, s.steer, tire_des, speed.vx, dt)
            c = reference_driven(p, c, speed, u.gear, clamp(m.pos, -lim, lim), dt)
        else:
            start = clamp(s.steer, -lim, lim)
            speed = sane_pedal_speed(p, s.vx, s.accx, u, dt)
            tire_des = tire_command(ratios, speed.vx, start, wheel_cmd)
            angle_lim = minimum(lim, p.mechanical_params.angle_limit)
            rate_lim = minimum(p.steer_rate_lim, p.mechanical_params.rate_limit)
            m = steering.sane_step(p.mechanical_params, s.mechanical, start, tire_des, speed.vx, angle_lim, rate_lim, p.sampling_time, dt)
            c = driven(c, speed, curvatures(p.wheelbase, start, 0.5 * (start + m.pos), m.pos), m.pos, dt)
        return State(c.x, c.y, c.yaw, c.vx, c.steer, c.accx, m, queues)

    @pure
    def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
        if dt > 0.0:
            queues, cmd = waiting.push(p, s.queues, u.accel_des, u.brake_des, u.steer_des, dt)
            s = advance(p, s, queues, Pedals(cmd.accel, cmd.brake, u.slope_accx, u.gear), cmd.steer, dt)
        return s, report(p, s.vx, s.accx, s.steer)

    return Model("ACTUATION_CMD_MECHANICAL", Params, State, In, Out, step)
