"""The twelve vehicles as worlds, under their own commands (`ACTUATION_CMD_VGR`) or asked for acceleration and tyre angle (`..._BY_CONTROL`).

    NAME               native commands -> vehicle                                                y = report, pose, actuation status
    NAME_BY_CONTROL    acceleration, tyre angle -> converter (fed with what the car reports) -> vehicle

A plain wrapper: nothing is added to the vehicle, neither noise nor faults nor limits; the worlds of car.py have these. `reference` is on. The request
is the input channel (`in.accel_des`), what was achieved of it stands beside it in the same unit (`status_accel`).

Under control commands the converter reads speed, tyre angle and actuation status at the start of the tick. Where the car does not report its tyre
angle (`enable_pub_steer` off in both) the converter derives it from the actuation status. The asked-for acceleration counts in the direction of the
gear: positive speeds the car up, in reverse too. The converter has maps and gear ratios of its own; where they differ from the car's, the car does
not do what it is told.

Dead times are counted in whole sampling times, as the vehicles have it: set `sampling_time` to the tick of the run.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.sim.worlds.car import Controlled, Slope
from pushrod.vehicles import STATUS, converter, make, steer_pid, vgr
from pushrod.vehicles.actuation import Out as Report
from pushrod.vehicles.actuation import Status, report
from pushrod.vehicles.gear import DRIVE, Gear, is_reverse
from pushrod.vehicles.parameter import Acceleration, Angle, Position, Velocity, YawRate

SLOTS = 64  # in each queue: dead times up to 0.63 s at a sampling time of 10 ms; a machine that needs more gets more

TireAngle = A[float, Q("rad", about="tyre angle")]
WheelAngle = A[float, Q("rad", about="steering wheel angle")]
Actuation = A[float, Q("-", about="steering actuation in the unit of the map")]
TrueAngle = A[float, Q("rad", about="true tyre angle")]
Pedal = A[float, Q("-", about="pedal")]
SteerValid = A[float, flag("0: the tyre angle is not reported (enable_pub_steer is off)")]
StatusValid = A[float, flag("0: nothing is converted, so there is nothing to report")]


class Out(NamedTuple):
    """What a vehicle reports, and where it is."""

    x: Position = 0.0
    y: Position = 0.0
    yaw: Angle = 0.0
    vx: Velocity = 0.0
    ax: Acceleration = 0.0
    wz: YawRate = 0.0
    steer: Angle = 0.0


class ControlledRate(NamedTuple):
    """What a controller asks of a car whose steering is told a rate."""

    acceleration: A[float, Q("m/s2", -20.0, 20.0, "in the direction of the gear")] = 0.0
    steer: A[float, Q("rad", -1.4, 1.4, "tyre angle")] = 0.0
    steer_rate: A[float, Q("rad/s", -10.0, 10.0, "tyre angle rate, fed forward")] = 0.0
    gear: Gear = DRIVE
    slope: Slope = 0.0


@pure
def no_rate(u: Controlled) -> float:
    return 0.0


@pure
def asked_rate(u: ControlledRate) -> float:
    return u.steer_rate


class Steered(NamedTuple):
    """How an actuation car is steered, and what a controller and its converter need to do so."""

    takes: str
    Command: Any  # the annotated number that steers it
    In: Any
    rate: Callable[[Any], float]
    convert: converter.Params


# The converter's own gains are for a steering without dead time. The vehicle's default map, time constant and dead time make it an integrator of
# 0.185 rad/s per unit behind 0.24 s, for which these leave a good margin (closed loop about as slow as the dead time; ki by four times both).
CALM = steer_pid.Params(kp=10.0, ki=5.0)

STEERED: dict[str, Steered] = {
    "ACTUATION_CMD": Steered("a tyre angle", TireAngle, Controlled, no_rate, converter.Params(convert_steer_cmd=converter.NONE)),
    "ACTUATION_CMD_STEER_MAP": Steered(
        "a steering actuation", Actuation, ControlledRate, asked_rate, converter.Params(convert_steer_cmd=converter.STEER_MAP, pid=CALM)
    ),
    "ACTUATION_CMD_VGR": Steered("a wheel angle", WheelAngle, Controlled, no_rate, converter.Params(convert_steer_cmd=converter.VGR)),
    "ACTUATION_CMD_MECHANICAL": Steered("a wheel angle", WheelAngle, Controlled, no_rate, converter.Params(convert_steer_cmd=converter.VGR)),
}


@functools.cache
def of(name: str, slots: int = SLOTS) -> World:
    """The vehicle of that public name under its own commands."""
    return actuated(name, slots) if name in STATUS else simple(name, slots)


@functools.cache
def simple(name: str, slots: int) -> World:
    """A vehicle without pedals, hence without an actuation status."""
    body = make(name, slots)

    @pure
    def step(p: Any, s: Any, u: Any, at: Tick) -> tuple[Any, Out]:
        """The vehicle of that name."""
        s, y = body.step(p, s, u, at.dt)
        return s, Out(s.x, s.y, s.yaw, y.vx, y.ax, y.wz, y.steer)

    return World(name, body.Params, body.State, body.In, Out, step, functools.partial(of, name))


@functools.cache
def actuated(name: str, slots: int) -> World:
    """A vehicle with pedals, with its actuation status."""
    body = make(name, slots)
    status = STATUS[name]
    how = STEERED[name]

    class Out(NamedTuple):
        x: Position = 0.0
        y: Position = 0.0
        yaw: Angle = 0.0
        vx: Velocity = 0.0
        ax: Acceleration = 0.0
        wz: YawRate = 0.0
        steer: Angle = 0.0
        steer_valid: SteerValid = 1.0
        steer_ach: TrueAngle = 0.0
        status_valid: StatusValid = 0.0
        status_accel: Pedal = 0.0
        status_brake: Pedal = 0.0
        status_steer: how.Command = 0.0  # type: ignore[name-defined]

    @pure
    def step(p: Any, s: Any, u: Any, at: Tick) -> tuple[Any, Out]:
        """The vehicle of that name."""
        s, y = body.step(p, s, u, at.dt)
        done = status(p, s)
        return s, Out(s.x, s.y, s.yaw, y.vx, y.ax, y.wz, y.steer, y.steer_valid, s.steer, done.valid, done.accel, done.brake, done.steer)

    return World(name, body.Params, body.State, body.In, Out, step, functools.partial(of, name))


@pure
def known_angle(p: converter.Params, y: Report, status: Status) -> float:
    """The tyre angle as the converter knows it."""
    return y.steer if p.enable_pub_steer != 0.0 else vgr.tire_from_wheel(p.vgr_coef, y.vx, status.steer)


def misfits(name: str, p: Any) -> Iterator[str]:
    """A text for each setting by which converter and vehicle would not understand each other."""
    how = STEERED[name]
    if p.convert.convert_steer_cmd != how.convert.convert_steer_cmd:
        wanted = ("none", "steer_map", "vgr")[int(how.convert.convert_steer_cmd)]
        yield f"convert.convert_steer_cmd: {name} takes {how.takes}; set convert.convert_steer_cmd to {wanted}"
    for field in ("convert_accel_cmd", "convert_brake_cmd"):
        if getattr(p.convert, field) == 0.0:
            yield f"convert.{field}: {name} takes pedal positions; set convert.{field} to true"
    if how.convert.convert_steer_cmd != converter.VGR:
        if p.vehicle.enable_pub_steer == 0.0:
            yield (
                f"vehicle.enable_pub_steer: {name} has no gear ratio by which the converter could derive the tyre angle from the actuation status; "
                "set vehicle.enable_pub_steer to true"
            )
    elif p.convert.enable_pub_steer != p.vehicle.enable_pub_steer:
        does, so = ("reports", "true") if p.vehicle.enable_pub_steer != 0.0 else ("does not report", "false")
        yield f"convert.enable_pub_steer: the vehicle {does} its tyre angle; set convert.enable_pub_steer to {so}, or change vehicle.enable_pub_steer"


@functools.cache
def by_control(name: str, slots: int = SLOTS) -> World:
    """The actuation car of that public name under control commands, through the converter."""
    body = make(name, slots)
    status = STATUS[name]
    how = STEERED[name]

    class Params(NamedTuple):
        vehicle: body.Params = body.Params()  # type: ignore[name-defined]
        convert: converter.Params = how.convert

        def flaws(self, dt: float | None) -> Iterator[str]:
            yield from misfits(name, self)

    class State(NamedTuple):
        vehicle: body.State = body.State()  # type: ignore[name-defined]
        convert: converter.State = converter.State()

    class Out(NamedTuple):
        acc_req: A[float, Q("m/s2", about="acceleration asked for, along the car")] = 0.0
        ax: Acceleration = 0.0
        steer_req: A[float, Q("rad", about="tyre angle asked for")] = 0.0
        steer_ach: TrueAngle = 0.0
        steer_meas: A[float, Q("rad", about="tyre angle as the converter knows it, reported or derived")] = 0.0
        accel_des: Pedal = 0.0
        status_accel: Pedal = 0.0
        brake_des: Pedal = 0.0
        status_brake: Pedal = 0.0
        steer_des: how.Command = 0.0  # type: ignore[name-defined]
        status_steer: how.Command = 0.0  # type: ignore[name-defined]
        status_valid: StatusValid = 0.0
        accel_limited: A[float, flag("the converter asks for the accel pedal as far as it may")] = 0.0
        brake_limited: A[float, flag("the converter asks for the brake pedal as far as it may")] = 0.0
        steer_limited: A[float, flag("the converter would ask for more steering than it may")] = 0.0
        x: Position = 0.0
        y: Position = 0.0
        yaw: Angle = 0.0
        vx: Velocity = 0.0
        wz: YawRate = 0.0
        steer: Angle = 0.0
        steer_valid: SteerValid = 1.0

    @pure
    def step(p: Params, s: State, u: Any, at: Tick) -> tuple[State, Out]:
        """Asked for acceleration and tyre angle."""
        v = p.vehicle
        before = s.vehicle
        way = -1.0 if is_reverse(u.gear) else 1.0
        now = report(v, before.vx, before.accx, before.steer)
        wish = converter.In(u.acceleration, u.steer, how.rate(u), way * u.slope, now.vx, now.steer, status(v, before).steer)
        convert, c = converter.step(p.convert, s.convert, wish, at.dt)
        car, y = body.step(v, before, body.In(c.accel, c.brake, u.slope, c.steer, u.gear), at.dt)
        done = status(v, car)
        return State(car, convert), Out(
            way * u.acceleration, y.ax, u.steer, car.steer, known_angle(p.convert, y, done),
            c.accel, done.accel, c.brake, done.brake, c.steer, done.steer, done.valid,
            c.accel_limited, c.brake_limited, c.steer_limited,
            car.x, car.y, car.yaw, y.vx, y.wz, y.steer, y.steer_valid,
        )  # fmt: skip

    return World(f"{name}_BY_CONTROL", Params, State, how.In, Out, step, functools.partial(by_control, name))
