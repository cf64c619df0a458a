"""The command converter: acceleration and tyre angle in, pedals and steering actuation out, as a car's own computer takes them.

    throttle = accel_map^-1(a, |v|), if the map reaches that low; otherwise brake = brake_map^-1(a, |v|)
    a = acceleration asked for, less what the slope gives if `compensate_slope`
    steer:  none        the tyre angle itself
            steer_map   clamp(ff + fb), ff = steer_map^-1(tyre rate asked for, tyre angle), fb = PID on the tyre angle
            vgr         clamp(tyre angle * ratio(v, wheel)), the gear ratio where the wheel now is

    acceleration [m/s2] speeds the car up in its direction of travel (forwards or in reverse) where positive; angles [rad] to the left

The actuation status of the car gives the wheel angle. Where the car does not report its tyre angle (`enable_pub_steer` off) it is
derived from that wheel angle by the gear ratio. What is not converted is passed on in m/s2: `accel` is then the acceleration, also
when it is negative, and `brake` the deceleration. Limits act on converted values only.
Source: the public command converter of Autoware, restated; slope compensation and limits on the vgr path are ours.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Floats, Q, flag
from pushrod.core.scalar import clamp, maximum, minimum
from pushrod.core.table import Grid
from pushrod.vehicles import steer_pid, vgr
from pushrod.vehicles.map_file import FALL, RISE, unordered
from pushrod.vehicles.pedal_map import AccelMap, BrakeMap, accel_to_brake, accel_to_throttle
from pushrod.vehicles.steer_map import SteerMap, rate_to_steer

NONE, STEER_MAP, VGR = 0.0, 1.0, 2.0


class Params(NamedTuple):
    accel_map: AccelMap = AccelMap()
    brake_map: BrakeMap = BrakeMap()
    steer_map: SteerMap = SteerMap()
    vgr_coef: vgr.Vgr = vgr.Vgr()
    pid: steer_pid.Params = steer_pid.Params()
    convert_accel_cmd: A[float, flag("acceleration to accel pedal by the map")] = 1.0
    convert_brake_cmd: A[float, flag("acceleration to brake pedal by the map")] = 1.0
    convert_steer_cmd: A[float, Choice(("none", "steer_map", "vgr"), "how a tyre angle becomes a steering actuation")] = VGR
    use_steer_ff: A[float, flag("steer_map: feed the asked-for rate forward")] = 1.0
    use_steer_fb: A[float, flag("steer_map: feed the angle error back")] = 1.0
    enable_pub_steer: A[float, flag("the car reports its tyre angle; off: derived from the actuation status")] = 1.0
    compensate_slope: A[float, flag("ask the pedals for what the slope takes as well")] = 0.0
    max_throttle: A[float, Q("-", 0.0, 1.0)] = 0.4
    max_brake: A[float, Q("-", 0.0, 1.0)] = 0.8
    max_steer: A[float, Q("-", 0.0, 100.0, "steering actuation; rad of the wheel with vgr")] = 10.0
    min_steer: A[float, Q("-", -100.0, 0.0, "steering actuation; rad of the wheel with vgr")] = -10.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if self.enable_pub_steer == 0.0 and self.convert_steer_cmd != VGR:
            yield "enable_pub_steer: false needs convert_steer_cmd: vgr (only a gear ratio leads from actuation to tyre angle); set one of them"
        used = (("accel_map", RISE, self.convert_accel_cmd != 0.0), ("brake_map", FALL, self.convert_brake_cmd != 0.0))
        for name, way, is_used in (*used, ("steer_map", RISE, self.convert_steer_cmd == STEER_MAP)):
            m: Grid = getattr(self, name)
            if is_used and len(m.z) == len(m.row) * len(m.col) and unordered(m, way):
                i, j = unordered(m, way)[0]
                yield f"{name}.z: must {'rise' if way == RISE else 'fall'} strictly from row to row to have an inverse; it does not at ({i}, {j})"


class State(NamedTuple):
    pid: steer_pid.State = steer_pid.State()


class In(NamedTuple):
    acceleration: A[float, Q("m/s2", about="asked for, in the direction of travel")] = 0.0
    steer: A[float, Q("rad", about="tyre angle asked for")] = 0.0
    steer_rate: A[float, Q("rad/s", about="tyre angle rate asked for; used by steer_map")] = 0.0
    slope: A[float, Q("m/s2", about="acceleration by the slope, in the direction of travel")] = 0.0
    v: A[float, Q("m/s", about="measured speed")] = 0.0
    steer_meas: A[float, Q("rad", about="reported tyre angle; not read where enable_pub_steer is off")] = 0.0
    wheel_meas: A[float, Q("rad", about="wheel angle of the actuation status")] = 0.0


class Out(NamedTuple):
    accel: A[float, Q("-", about="accel pedal; m/s2 where not converted")] = 0.0
    brake: A[float, Q("-", about="brake pedal; m/s2 where not converted")] = 0.0
    steer: A[float, Q("-", about="steering actuation; rad of the wheel with vgr, of the tyre with none")] = 0.0
    steer_meas: A[float, Q("rad", about="tyre angle, reported or derived")] = 0.0
    accel_limited: A[float, flag("the accel pedal is at its limit")] = 0.0
    brake_limited: A[float, flag("the brake pedal is at its limit")] = 0.0
    steer_limited: A[float, flag("the steering actuation is at a limit")] = 0.0


class Pedals(NamedTuple):
    accel: A[float, Q("-")] = 0.0
    brake: A[float, Q("-")] = 0.0


@pure
def pedals(p: Params, a: float, v: float) -> Pedals:
    """Which pedal gives acceleration a at speed v, before limits."""
    if p.convert_accel_cmd != 0.0:
        throttle = accel_to_throttle(p.accel_map, a, abs(v))
        if throttle.found != 0.0:
            return Pedals(throttle.pedal, 0.0)
    elif a >= 0.0:
        return Pedals(a, 0.0)
    if p.convert_brake_cmd != 0.0:
        return Pedals(0.0, accel_to_brake(p.brake_map, a, abs(v)))
    # below 0 `accel` cannot be taken for a pedal
    return Pedals(minimum(a, 0.0), maximum(-a, 0.0))


@pure
def at_limit(row: Floats, pedal: float, limit: float) -> float:
    """1.0 where a wanted pedal is pressed as far as its limit or its map goes."""
    return 1.0 if pedal > 0.0 and pedal >= minimum(limit, row[len(row) - 1]) else 0.0


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    a = u.acceleration - p.compensate_slope * u.slope
    ask = pedals(p, a, u.v)
    accel = ask.accel
    if p.convert_accel_cmd != 0.0 and accel > 0.0:
        accel = clamp(accel, 0.0, p.max_throttle)
    brake = ask.brake
    if p.convert_brake_cmd != 0.0:
        brake = clamp(brake, 0.0, p.max_brake)

    tire = u.steer_meas
    if p.enable_pub_steer == 0.0:
        tire = vgr.tire_from_wheel(p.vgr_coef, u.v, u.wheel_meas)
    wish = u.steer
    steer = wish
    pid = s.pid
    if p.convert_steer_cmd == STEER_MAP:
        pid, fb = steer_pid.step(p.pid, pid, steer_pid.In(u.steer, tire, u.v), dt)
        ff = rate_to_steer(p.steer_map, u.steer_rate, tire)
        wish = p.use_steer_ff * ff + p.use_steer_fb * fb.u
        steer = clamp(wish, p.min_steer, p.max_steer)
    elif p.convert_steer_cmd == VGR:
        wish = vgr.wheel_command(p.vgr_coef, u.v, u.wheel_meas, u.steer)
        steer = clamp(wish, p.min_steer, p.max_steer)

    y = Out(
        accel,
        brake,
        steer,
        tire,
        at_limit(p.accel_map.row, ask.accel, p.max_throttle) if p.convert_accel_cmd != 0.0 else 0.0,
        at_limit(p.brake_map.row, ask.brake, p.max_brake) if p.convert_brake_cmd != 0.0 else 0.0,
        1.0 if steer != wish else 0.0,
    )
    return State(pid), y


CONVERTER = Model("converter", Params, State, In, Out, step)
