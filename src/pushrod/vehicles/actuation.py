"""What the four ACTUATION_CMD cars share: pedals to speed, the report, and the actuation status.

    a_cmd = accel_map(accel, v)      if accel > 0
            brake_map(brake, v)      if brake > 0
            accel, as an acceleration, otherwise                          all clamped to +-vel_rate_lim
    a_des = a_cmd + slope forward,  -a_cmd + slope in reverse,  0 in PARK and NONE
    a'    = (a_des - a) / T,   T = accel_time_constant if accel > 0 else brake_time_constant            v' = a,  |v| <= vel_lim

accel, brake pedals [-]; slope the acceleration of gravity along the car [m/s2]. All commands come out of their queues.

Reference: as above, by Runge-Kutta with the map looked up at the signed speed of every stage; a is clamped where it is used, never where it is
stored. Pedals at 0 mean no acceleration; NEUTRAL computes like a drive gear (and then the gear guard puts the car back).
Sane: the exact lag; the maps are looked up at |v|, and with both pedals at 0 the accel map's first row counts (coasting). The brake wins over the
accel pedal, never drives, and holds at rest. In NEUTRAL only brake, drag and slope act. A negative accel pedal counts as 0.

The plain step leaves the actuation status out, for its inverse look-ups cost more than the step: `status_*(p, s)` gives it on demand.
Source: the public vehicle models of Autoware, restated.
"""

import functools
import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp, maximum, minimum
from pushrod.core.table import column_value, fraction, lookup_cell, lookup_grid, segment
from pushrod.models import queue
from pushrod.vehicles import parameter
from pushrod.vehicles.gear import DRIVE, NEUTRAL, Gear, is_locked, is_reverse
from pushrod.vehicles.kinematics import Stages
from pushrod.vehicles.longitudinal import Speed, opposed, sane_speed, time_constant
from pushrod.vehicles.pedal_line import Line, Pressed, flat, line_at, pressed, value
from pushrod.vehicles.pedal_map import BrakeMap, accel_to_brake, accel_to_throttle


class Out(NamedTuple):
    """What an actuation car reports."""

    vx: parameter.Velocity = 0.0
    ax: parameter.Acceleration = 0.0
    wz: parameter.YawRate = 0.0
    steer: parameter.Angle = 0.0
    steer_valid: A[float, flag("0: the tyre angle is not reported (enable_pub_steer is off)")] = 1.0


class Status(NamedTuple):
    """What the actuators report: pedals, and the steering in the unit of its command."""

    valid: A[float, flag("0: nothing is converted, so there is nothing to report")] = 0.0
    accel: A[float, Q("-", 0.0)] = 0.0
    brake: A[float, Q("-", 0.0)] = 0.0
    steer: A[float, Q("-", about="in the unit of steer_des")] = 0.0


class Pedals(NamedTuple):
    """What acts on the motion in one step."""

    accel: parameter.PedalCommand = 0.0
    brake: parameter.BrakeCommand = 0.0
    slope: parameter.SlopeAcceleration = 0.0
    gear: Gear = DRIVE


@pure
def report(p: Any, vx: float, accx: float, steer: float) -> Out:
    wz = vx * math.tan(steer) / p.wheelbase
    if p.enable_pub_steer != 0.0:
        return Out(vx, accx, wz, steer + p.steer_bias, 1.0)
    return Out(vx, accx, wz, 0.0, 0.0)


class Acting(NamedTuple):
    """The map that acts in a step: 1.0 the accel map, 2.0 the brake map, 0.0 none; and where on its row axis."""

    which: A[float, Q("-")] = 0.0
    at: Pressed = Pressed()


@pure
def acting(p: Any, accel: float, brake: float) -> Acting:
    if accel > 0.0 and p.convert_accel_cmd != 0.0:
        return Acting(1.0, pressed(p.accel_map, accel))
    if brake > 0.0 and p.convert_brake_cmd != 0.0:
        return Acting(2.0, pressed(p.brake_map, brake))
    return Acting(0.0, Pressed(0, 0.0))


@pure
def piece(p: Any, on: Acting, accel: float, line: Line, v: float) -> Line:
    """The piece of the acting map's polyline that v is on."""
    if line.lo <= v < line.hi:
        return line
    if on.which == 1.0:
        return line_at(p.accel_map, on.at, line, v)
    if on.which == 2.0:
        return line_at(p.brake_map, on.at, line, v)
    return flat(accel)


class Rolling(NamedTuple):
    """A reference step of speed, and the stage speeds before their clamp, which the steering sees."""

    speed: Speed = Speed()
    free: Stages = Stages()


@pure
def reference_speed(p: Any, v: float, a: float, u: Pedals, dt: float) -> Rolling:
    """The reference's Runge-Kutta step; vx is neither clamped nor held by the gear yet."""
    h = 0.5 * dt
    v_lim = p.vel_lim
    a_lim = p.vel_rate_lim
    per_T = 1.0 / time_constant(p.accel_time_constant if u.accel > 0.0 else p.brake_time_constant, 1.0)
    way = -1.0 if is_reverse(u.gear) else 1.0
    slope = u.slope
    if is_locked(u.gear):
        way = 0.0
        slope = 0.0
    on = acting(p, u.accel, u.brake)
    v1 = clamp(v, -v_lim, v_lim)
    a1 = clamp(a, -a_lim, a_lim)
    line = piece(p, on, u.accel, Line(0.0, 0.0, 0.0, 0.0, 0.0), v1)
    d1 = (way * clamp(value(line, v1), -a_lim, a_lim) + slope - a1) * per_T
    free2 = v + h * a1
    v2 = clamp(free2, -v_lim, v_lim)
    a2 = clamp(a + h * d1, -a_lim, a_lim)
    line = piece(p, on, u.accel, line, v2)
    d2 = (way * clamp(value(line, v2), -a_lim, a_lim) + slope - a2) * per_T
    free3 = v + h * a2
    v3 = clamp(free3, -v_lim, v_lim)
    a3 = clamp(a + h * d2, -a_lim, a_lim)
    line = piece(p, on, u.accel, line, v3)
    d3 = (way * clamp(value(line, v3), -a_lim, a_lim) + slope - a3) * per_T
    free4 = v + dt * a3
    v4 = clamp(free4, -v_lim, v_lim)
    a4 = clamp(a + dt * d3, -a_lim, a_lim)
    line = piece(p, on, u.accel, line, v4)
    d4 = (way * clamp(value(line, v4), -a_lim, a_lim) + slope - a4) * per_T
    w = dt / 6.0
    vx = v + w * (a1 + 2.0 * (a2 + a3) + a4)
    accx = a + w * (d1 + 2.0 * (d2 + d3) + d4)
    return Rolling(Speed(Stages(v1, v2, v3, v4), vx, accx), Stages(v, free2, free3, free4))


@pure
def brake_acceleration(m: BrakeMap, brake: float, v: float) -> float:
    """What the brake map gives, without the push its first row has where a released car creeps: a brake never drives."""
    j = segment(m.col, v)
    g = fraction(m.col, j, v)
    i = segment(m.row, brake)
    return lookup_cell(m, i, fraction(m.row, i, brake), j, g) - maximum(column_value(m, 0, j, g), 0.0)


@pure
def pedal_acceleration(p: Any, u: Pedals, v: float) -> float:
    """With `reference` off: what the pedals ask for, positive in the direction of the gear. v is |speed|."""
    if u.brake > 0.0:
        return brake_acceleration(p.brake_map, u.brake, v) if p.convert_brake_cmd != 0.0 else -u.brake
    if p.convert_accel_cmd == 0.0:
        return minimum(u.accel, 0.0) if u.gear == NEUTRAL else u.accel
    return lookup_grid(p.accel_map, 0.0 if u.gear == NEUTRAL else maximum(u.accel, 0.0), v)


@pure
def sane_pedal_speed(p: Any, v: float, a: float, u: Pedals, dt: float) -> Speed:
    T = time_constant(p.accel_time_constant if u.accel > 0.0 and u.brake <= 0.0 else p.brake_time_constant, 0.0)
    a_cmd = clamp(pedal_acceleration(p, u, abs(v)), -p.vel_rate_lim, p.vel_rate_lim)
    a_des = (-a_cmd if is_reverse(u.gear) else a_cmd) + u.slope
    if u.gear == NEUTRAL:
        a_des = opposed(v, u.slope, maximum(-a_cmd, 0.0))
    return sane_speed(v, a, a_des, T, u.gear, p.stop_deceleration, p.vel_lim, p.vel_rate_lim, dt)


@pure
def status_pedals(p: Any, vx: float, accx: float, steer: float) -> Status:
    """The pedals that would give this acceleration at this speed; steer is passed on."""
    if p.convert_accel_cmd == 0.0 and p.convert_brake_cmd == 0.0:
        return Status(0.0, 0.0, 0.0, steer)
    v = vx if p.reference != 0.0 else abs(vx)
    way = -1.0 if p.reference == 0.0 and vx < 0.0 else 1.0
    a = way * clamp(accx, -p.vel_rate_lim, p.vel_rate_lim)
    accel = accel_to_throttle(p.accel_map, a, v).pedal if p.convert_accel_cmd != 0.0 else 0.0
    brake = accel_to_brake(p.brake_map, a, v) if p.convert_brake_cmd != 0.0 else 0.0
    return Status(1.0, accel, brake, steer)


def misfits(p: Any, name: str, convert_steer: bool) -> Iterator[str]:
    """A text for each convert_* flag that does not fit the vehicle."""
    steer_why = "takes a steering actuation" if convert_steer else "takes the tyre angle as it is"
    for pedal, wanted, why in (
        ("accel", True, "takes pedal positions"),
        ("brake", True, "takes pedal positions"),
        ("steer", convert_steer, steer_why),
    ):
        if (getattr(p, f"convert_{pedal}_cmd") != 0.0) != wanted:
            yield f"convert_{pedal}_cmd: {name} {why}; set convert_{pedal}_cmd to {str(wanted).lower()}"


DELAYS = ("accel_time_delay", "brake_time_delay", "steer_time_delay")


class Commands(NamedTuple):
    """What comes out of the queues."""

    accel: parameter.PedalCommand = 0.0
    brake: parameter.BrakeCommand = 0.0
    steer: parameter.Angle = 0.0


class Lines(NamedTuple):
    """The queues of a car: the record of their states, and the function that pushes one command into each."""

    State: Any
    push: Any


@functools.cache
def lines(Steer: Any, slots: int) -> Lines:
    """Queues for the accel, brake and steering commands."""
    accels = queue.of(parameter.PedalCommand, slots)
    brakes = queue.of(parameter.BrakeCommand, slots)
    steers = queue.of(Steer, slots)

    class State(NamedTuple):
        accel: accels.State = accels.State()  # type: ignore[name-defined]
        brake: brakes.State = brakes.State()  # type: ignore[name-defined]
        steer: steers.State = steers.State()  # type: ignore[name-defined]

    @pure
    def push(p: Any, s: State, accel_des: float, brake_des: float, steer_des: float, dt: float) -> tuple[State, Commands]:
        accel, accel_cmd = accels.step(accels.Params(p.accel_time_delay, p.sampling_time), s.accel, accel_des, dt)
        brake, brake_cmd = brakes.step(brakes.Params(p.brake_time_delay, p.sampling_time), s.brake, brake_des, dt)
        steer, steer_cmd = steers.step(steers.Params(p.steer_time_delay, p.sampling_time), s.steer, steer_des, dt)
        return State(accel, brake, steer), Commands(accel_cmd, brake_cmd, steer_cmd)

    return Lines(State, push)
