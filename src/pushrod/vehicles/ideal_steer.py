"""Cars that do at once what they are told: IDEAL_STEER_VEL, IDEAL_STEER_ACC, IDEAL_STEER_ACC_GEARED.

    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v tan(steer) / L

    VEL          v = vx_des                      ax reported is the change of v over the step
    ACC          v' = ax_des                     ax reported is ax_des
    ACC_GEARED   v' = ax_des, gear allowing      ax reported is the change of v over the step

ax_des is along the car, positive forward, in every gear. In NEUTRAL with `reference` off only what slows the car acts. No limits.
Source: the public vehicle models of Autoware, restated.
"""

import math
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import maximum
from pushrod.vehicles import parameter
from pushrod.vehicles.gear import DRIVE, NEUTRAL, Gear, is_against, is_held, is_stopping
from pushrod.vehicles.kinematics import Out, Pose, Stages, travel
from pushrod.vehicles.longitudinal import Speed, stopping


class Params(NamedTuple):
    reference: parameter.Reference = 1.0
    wheelbase: parameter.Wheelbase = 2.79


class GearedParams(NamedTuple):
    reference: parameter.Reference = 1.0
    wheelbase: parameter.Wheelbase = 2.79
    stop_deceleration: parameter.StopDeceleration = 3.0


class State(NamedTuple):
    """The pose, and what was reported last."""

    x: parameter.Position = 0.0
    y: parameter.Position = 0.0
    yaw: parameter.Angle = 0.0
    vx: parameter.Velocity = 0.0
    accx: parameter.Acceleration = 0.0
    steer: parameter.Angle = 0.0


class VelIn(NamedTuple):
    vx_des: parameter.SpeedCommand = 0.0
    steer_des: parameter.TireCommand = 0.0


class AccIn(NamedTuple):
    ax_des: parameter.AccelerationCommand = 0.0
    steer_des: parameter.TireCommand = 0.0


class GearedIn(NamedTuple):
    ax_des: parameter.AccelerationCommand = 0.0
    steer_des: parameter.TireCommand = 0.0
    gear: Gear = DRIVE


@pure
def report(L: float, s: State) -> Out:
    return Out(s.vx, s.accx, s.vx * math.tan(s.steer) / L, s.steer)


@pure
def ramp(v: float, a: float, dt: float) -> Speed:
    """Speed under a held acceleration."""
    half = v + 0.5 * dt * a
    full = v + dt * a
    return Speed(Stages(v, half, half, full), full, a)


@pure
def steered(s: State, steer: float, L: float, speed: Speed, dt: float) -> State:
    """The state after a step at a held tyre angle."""
    k = math.tan(steer) / L
    at = travel(Pose(s.x, s.y, s.yaw), speed.v, Stages(k, k, k, k), dt)
    return State(at.x, at.y, at.yaw, speed.vx, speed.accx, steer)


@pure
def step_vel(p: Params, s: State, u: VelIn, dt: float) -> tuple[State, Out]:
    if dt > 0.0:
        v = u.vx_des
        s = steered(s, u.steer_des, p.wheelbase, Speed(Stages(v, v, v, v), v, (v - s.vx) / dt), dt)
    return s, report(p.wheelbase, s)


@pure
def step_acc(p: Params, s: State, u: AccIn, dt: float) -> tuple[State, Out]:
    if dt > 0.0:
        s = steered(s, u.steer_des, p.wheelbase, ramp(s.vx, u.ax_des, dt), dt)
    return s, report(p.wheelbase, s)


@pure
def sane_ramp(v: float, a: float, gear: float, deceleration: float, dt: float) -> Speed:
    if is_stopping(gear, v):
        return stopping(v, deceleration, dt)
    speed = ramp(v, 0.0 if gear == NEUTRAL and a * v >= 0.0 else a, dt)
    if is_against(gear, speed.vx) or (gear == NEUTRAL and v * speed.vx < 0.0):
        half = 0.0 if speed.v.k2 * v <= 0.0 else speed.v.k2
        return Speed(Stages(v, half, half, 0.0), 0.0, 0.0)
    return speed


@pure
def advance_geared(p: GearedParams, s: State, u: GearedIn, dt: float) -> State:
    if p.reference == 0.0:
        return steered(s, u.steer_des, p.wheelbase, sane_ramp(s.vx, u.ax_des, u.gear, p.stop_deceleration, dt), dt)
    speed = ramp(s.vx, u.ax_des, dt)
    per_dt = 1.0 / maximum(dt, 1e-5)
    if is_held(u.gear, speed.vx):
        return State(s.x, s.y, s.yaw, 0.0, -s.vx * per_dt, u.steer_des)
    return steered(s, u.steer_des, p.wheelbase, Speed(speed.v, speed.vx, (speed.vx - s.vx) * per_dt), dt)


@pure
def step_geared(p: GearedParams, s: State, u: GearedIn, dt: float) -> tuple[State, Out]:
    if dt > 0.0:
        s = advance_geared(p, s, u, dt)
    return s, report(p.wheelbase, s)


IDEAL_STEER_VEL = Model("IDEAL_STEER_VEL", Params, State, VelIn, Out, step_vel)
IDEAL_STEER_ACC = Model("IDEAL_STEER_ACC", Params, State, AccIn, Out, step_acc)
IDEAL_STEER_ACC_GEARED = Model("IDEAL_STEER_ACC_GEARED", GearedParams, State, GearedIn, Out, step_geared)


def vel(slots: int) -> Model:
    return IDEAL_STEER_VEL


def acc(slots: int) -> Model:
    return IDEAL_STEER_ACC


def acc_geared(slots: int) -> Model:
    return IDEAL_STEER_ACC_GEARED
