"""A car driven by its pedals and steering wheel (`car`), or by acceleration and tyre angle through the command converter (`car_control`).

    car           accel pedal, brake pedal, wheel angle -> limit -> fault -> dead time -> car with mechanical steering -> measurement
    car_control   acceleration, tyre angle -> converter (fed with what was measured) -> the same

For each quantity the run holds what was asked (`_req`), what reached the car after faults and dead time (`_cmd`), what the car does (`_ach`) and what
its sensors say (`_meas`). Tyre angles are positive to the left; accelerations and speed point along the car, forwards; the pose is the rear axle's.

In `car` the requested tyre angle and acceleration are what wheel and pedals mean at the present speed. In `car_control` the asked-for acceleration
counts in the direction of the gear: positive speeds the car up, in reverse too.
"""

import functools
from collections.abc import Iterator
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.sim.worlds import car_drive
from pushrod.sim.worlds.car_drive import Command, DeadTimes, Done, Fault, Faults, Noise, acceleration, measure, pose, ratios
from pushrod.vehicles import converter, steer_pid, vgr
from pushrod.vehicles.car import Car
from pushrod.vehicles.gear import DRIVE, Gear, is_reverse

VEHICLE = "ACTUATION_CMD_MECHANICAL"
SLOTS = 64  # commands in a line: dead times up to 0.62 s at a tick of 10 ms; a machine that needs more gets more
WheelLimit = A[float, Q("rad", 0.1, 50.0, "end stop of the steering wheel")]
Slope = A[float, Q("m/s2", -10.0, 10.0, "of gravity along the car: downhill positive")]


class Pedalled(NamedTuple):
    """What a driver does."""

    accel: A[float, Q("-", 0.0, 1.0, "accel pedal")] = 0.0
    brake: A[float, Q("-", 0.0, 1.0, "brake pedal")] = 0.0
    wheel: A[float, Q("rad", -50.0, 50.0, "steering wheel angle")] = 0.0
    gear: Gear = DRIVE
    slope: Slope = 0.0


class Controlled(NamedTuple):
    """What a controller asks for."""

    acceleration: A[float, Q("m/s2", -20.0, 20.0, "in the direction of the gear")] = 0.0
    steer: A[float, Q("rad", -1.4, 1.4, "tyre angle")] = 0.0
    gear: Gear = DRIVE
    slope: Slope = 0.0


class Out(NamedTuple):
    steer_req: A[float, Q("rad", about="tyre angle asked for")] = 0.0
    steer_cmd: A[float, Q("rad", about="tyre angle that reached the car means")] = 0.0
    steer_ach: A[float, Q("rad", about="tyre angle")] = 0.0
    steer_meas: A[float, Q("rad", about="tyre angle measured")] = 0.0
    acc_req: A[float, Q("m/s2", about="acceleration asked for")] = 0.0
    acc_cmd: A[float, Q("m/s2", about="acceleration the pedals that reached the car and the slope mean")] = 0.0
    acc_ach: A[float, Q("m/s2")] = 0.0
    acc_meas: A[float, Q("m/s2")] = 0.0
    accel_req: A[float, Q("-", about="accel pedal asked for")] = 0.0
    accel_cmd: A[float, Q("-", about="accel pedal that reached the car")] = 0.0
    brake_req: A[float, Q("-", about="brake pedal asked for")] = 0.0
    brake_cmd: A[float, Q("-", about="brake pedal that reached the car")] = 0.0
    wheel_req: A[float, Q("rad", about="steering wheel angle asked for")] = 0.0
    wheel_cmd: A[float, Q("rad", about="steering wheel angle that reached the car")] = 0.0
    wheel_meas: A[float, Q("rad", about="steering wheel angle measured")] = 0.0
    speed: A[float, Q("m/s")] = 0.0
    speed_meas: A[float, Q("m/s")] = 0.0
    yaw_rate: A[float, Q("rad/s")] = 0.0
    yaw_rate_meas: A[float, Q("rad/s")] = 0.0
    x: A[float, Q("m")] = 0.0
    y: A[float, Q("m")] = 0.0
    yaw: A[float, Q("rad")] = 0.0
    x_meas: A[float, Q("m")] = 0.0
    y_meas: A[float, Q("m")] = 0.0
    yaw_meas: A[float, Q("rad")] = 0.0
    accel_limited: A[float, flag("the accel pedal is asked for as far as it goes")] = 0.0
    brake_limited: A[float, flag("the brake pedal is asked for as far as it goes")] = 0.0
    steer_limited: A[float, flag("the wheel is asked for as far as it goes, or the tyre is at its limit")] = 0.0
    speed_limited: A[float, flag("the car drives as fast as it may")] = 0.0
    accel_fault: Fault = 0.0
    brake_fault: Fault = 0.0
    steer_fault: Fault = 0.0


@pure
def seen(steer_lim: float, vel_lim: float, car: Car, ask: Command, steer_req: float, acc_req: float, steer_meas: float, done: Done) -> Out:
    m = done.measured
    steer_limited = 1.0 if done.wheel_limited != 0.0 or abs(car.steer) >= steer_lim else 0.0
    speed_limited = 1.0 if abs(car.vx) >= vel_lim else 0.0
    return Out(
        steer_req=steer_req,
        steer_cmd=done.steer_cmd,
        steer_ach=car.steer,
        steer_meas=steer_meas,
        acc_req=acc_req,
        acc_cmd=done.acc_cmd,
        acc_ach=car.accx,
        acc_meas=m.acceleration,
        accel_req=ask.accel,
        accel_cmd=done.accel_cmd,
        brake_req=ask.brake,
        brake_cmd=done.brake_cmd,
        wheel_req=ask.wheel,
        wheel_cmd=done.wheel_cmd,
        wheel_meas=m.wheel,
        speed=car.vx,
        speed_meas=m.speed,
        yaw_rate=done.yaw_rate,
        yaw_rate_meas=m.yaw_rate,
        x=car.x,
        y=car.y,
        yaw=car.yaw,
        x_meas=m.x,
        y_meas=m.y,
        yaw_meas=m.yaw,
        accel_limited=done.accel_limited,
        brake_limited=done.brake_limited,
        steer_limited=steer_limited,
        speed_limited=speed_limited,
        accel_fault=done.accel_fault,
        brake_fault=done.brake_fault,
        steer_fault=done.steer_fault,
    )


@functools.cache
def pedalled(vehicle: str = VEHICLE, slots: int = SLOTS) -> World:
    """The world of a wheel-steered vehicle under actuation commands."""
    drive = car_drive.of(vehicle, slots)
    sane = car_drive.sane_params(drive.body)

    class Params(NamedTuple):
        vehicle: drive.body.Params = sane  # type: ignore[name-defined]
        wheel_lim: WheelLimit = 10.0
        dead_time: DeadTimes = DeadTimes()
        faults: Faults = Faults()
        noise: Noise = Noise()

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from drive.flaws(self, dt)

    @pure
    def step(p: Params, s: Any, u: Pedalled, at: Tick) -> tuple[Any, Out]:
        """A car driven by its pedals and steering wheel."""
        before = s.vehicle
        steer_req = vgr.tire_command(ratios(p.vehicle), before.vx, before.steer, u.wheel)
        acc_req = acceleration(p.vehicle, u.accel, u.brake, u.gear, u.slope, before.vx)
        ask = Command(u.accel, u.brake, u.wheel, u.gear, u.slope, 0.0, 0.0, 0.0)
        s, done = drive.step(p, s, ask, at)
        return s, seen(p.vehicle.steer_lim, p.vehicle.vel_lim, pose(s.vehicle), ask, steer_req, acc_req, done.measured.steer, done)

    return World("car", Params, drive.State, Pedalled, Out, step, functools.partial(pedalled, vehicle))


@functools.cache
def controlled(vehicle: str = VEHICLE, slots: int = SLOTS) -> World:
    """The world of a wheel-steered vehicle under control commands, through the converter."""
    drive = car_drive.of(vehicle, slots)
    sane = car_drive.sane_params(drive.body)

    class Params(NamedTuple):
        vehicle: drive.body.Params = sane  # type: ignore[name-defined]
        convert: converter.Params = converter.Params(compensate_slope=1.0, max_throttle=1.0, max_brake=1.0)
        wheel_lim: WheelLimit = 10.0
        dead_time: DeadTimes = DeadTimes()
        faults: Faults = Faults()
        noise: Noise = Noise()

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from drive.flaws(self, dt)
            if self.convert.convert_steer_cmd != converter.VGR:
                yield "convert.convert_steer_cmd: this vehicle is steered by its wheel; set it to vgr"
            for name in ("convert_accel_cmd", "convert_brake_cmd", "enable_pub_steer"):
                if getattr(self.convert, name) != getattr(self.vehicle, name):
                    yield f"convert.{name}: differs from vehicle.{name}, so that one would not understand the other; set both alike"

    @pure
    def step(p: Params, s: Any, u: Controlled, at: Tick) -> tuple[Any, Out]:
        """The same car, asked for acceleration and tyre angle through the command converter."""
        way = -1.0 if is_reverse(u.gear) else 1.0
        v = p.vehicle
        now = measure(p.noise, ratios(v), v.steer_bias, v.enable_pub_steer, pose(s.vehicle), 0.0, at)
        wish = converter.In(u.acceleration, u.steer, 0.0, way * u.slope, now.speed, now.steer, now.wheel)
        # steering by gear ratio keeps no memory
        _, c = converter.step(p.convert, converter.State(steer_pid.State(0.0, 0.0, 0.0)), wish, at.dt)
        ask = Command(c.accel, c.brake, c.steer, u.gear, u.slope, c.accel_limited, c.brake_limited, c.steer_limited)
        s, done = drive.step(p, s, ask, at)
        m = done.measured
        steer_meas = m.steer if p.convert.enable_pub_steer != 0.0 else vgr.tire_from_wheel(p.convert.vgr_coef, m.speed, m.wheel)
        return s, seen(v.steer_lim, v.vel_lim, pose(s.vehicle), ask, u.steer, way * u.acceleration, steer_meas, done)

    return World("car_control", Params, drive.State, Controlled, Out, step, functools.partial(controlled, vehicle))


CAR = pedalled()
CAR_CONTROL = controlled()
