"""What lies between the commands of a car and its measurements, shared by the car worlds.

    command -> limit -> fault -> dead time -> vehicle -> measurement + noise           for each of accel pedal, brake pedal and steering wheel

The dead time of a channel is its own plus what a fault of kind `delay` adds, in seconds whatever the tick; a command acts from the tick nearest to
its arrival. Faults act on commands by the time of the tick. Measurements are those of the end of the tick; their noise depends on seed, instance and
tick alone, so that who measures at the start of the next tick sees the same numbers.
"""

import functools
from collections.abc import Iterator
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Model, Tick
from pushrod.core.noise import normal
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import clamp, maximum, sign
from pushrod.models import delay, fault
from pushrod.vehicles import make, vgr
from pushrod.vehicles.actuation import Pedals, pedal_acceleration
from pushrod.vehicles.car import Car
from pushrod.vehicles.gear import DRIVE, NEUTRAL, Gear, is_against, is_reverse, is_stopping
from pushrod.vehicles.longitudinal import opposed

Number = A[float, Q("-")]
Fault = A[float, Choice(fault.KINDS, "announced fault of this channel")]
DeadTime = A[float, Q("s", 0.0, 10.0, "from giving a command to its acting")]


class Faults(NamedTuple):
    """One fault for each command channel."""

    accel: fault.Params = fault.Params()
    brake: fault.Params = fault.Params()
    steer: fault.Params = fault.Params()


class DeadTimes(NamedTuple):
    accel: DeadTime = 0.1
    brake: DeadTime = 0.1
    steer: DeadTime = 0.05


class Noise(NamedTuple):
    """Standard deviation of each measurement."""

    speed: A[float, Q("m/s", 0.0, 10.0)] = 0.0
    acceleration: A[float, Q("m/s2", 0.0, 10.0)] = 0.0
    yaw_rate: A[float, Q("rad/s", 0.0, 1.0)] = 0.0
    steer: A[float, Q("rad", 0.0, 1.0)] = 0.0
    position: A[float, Q("m", 0.0, 100.0)] = 0.0
    yaw: A[float, Q("rad", 0.0, 1.0)] = 0.0


class Command(NamedTuple):
    """What a driver or a converter asks of the actuators."""

    accel: A[float, Q("-")] = 0.0
    brake: A[float, Q("-")] = 0.0
    wheel: A[float, Q("rad")] = 0.0
    gear: Gear = DRIVE
    slope: A[float, Q("m/s2")] = 0.0
    accel_limited: A[float, flag("whoever asks would ask for more")] = 0.0
    brake_limited: A[float, flag()] = 0.0
    wheel_limited: A[float, flag()] = 0.0


class Measured(NamedTuple):
    speed: A[float, Q("m/s")] = 0.0
    acceleration: A[float, Q("m/s2")] = 0.0
    yaw_rate: A[float, Q("rad/s")] = 0.0
    steer: A[float, Q("rad", about="tyre angle; 0 where the vehicle does not report it")] = 0.0
    wheel: A[float, Q("rad", about="steering wheel angle, of the actuation status")] = 0.0
    x: A[float, Q("m")] = 0.0
    y: A[float, Q("m")] = 0.0
    yaw: A[float, Q("rad")] = 0.0


class Done(NamedTuple):
    """What became of a command in one tick."""

    accel_cmd: A[float, Q("-")] = 0.0
    brake_cmd: A[float, Q("-")] = 0.0
    wheel_cmd: A[float, Q("rad")] = 0.0
    steer_cmd: A[float, Q("rad")] = 0.0
    acc_cmd: A[float, Q("m/s2")] = 0.0
    accel_limited: A[float, flag()] = 0.0
    brake_limited: A[float, flag()] = 0.0
    wheel_limited: A[float, flag()] = 0.0
    accel_fault: Fault = fault.NONE
    brake_fault: Fault = fault.NONE
    steer_fault: Fault = fault.NONE
    yaw_rate: A[float, Q("rad/s")] = 0.0
    measured: Measured = Measured()


class Arrived(NamedTuple):
    value: Number = 0.0
    fault_kind: Fault = fault.NONE


class Drive(NamedTuple):
    """A vehicle and everything around it. `step(p, s, command, at) -> (s, Done)`; p has vehicle, dead_time, faults, noise and wheel_lim."""

    body: Model
    State: Any
    step: Any
    flaws: Any


@pure
def noisy(value: float, sigma: float, at: Tick, channel: int) -> float:
    return value + sigma * normal(at, channel) if sigma > 0.0 else value


@pure
def ratios(p: Any) -> vgr.Vgr:
    return vgr.Vgr(p.vgr_coef_a, p.vgr_coef_b, p.vgr_coef_c)


@pure
def pose(s: Any) -> Car:
    """What can be seen of a vehicle's state."""
    return Car(s.x, s.y, s.yaw, s.vx, s.steer, s.accx)


@pure
def measure(n: Noise, gear_ratio: vgr.Vgr, bias: float, enable_pub_steer: float, c: Car, yaw_rate: float, at: Tick) -> Measured:
    """The measurements of a car at the start of tick `at`."""
    tire = noisy(c.steer + bias, n.steer, at, 3)
    return Measured(
        noisy(c.vx, n.speed, at, 0),
        noisy(c.accx, n.acceleration, at, 1),
        noisy(yaw_rate, n.yaw_rate, at, 2),
        tire if enable_pub_steer != 0.0 else 0.0,
        vgr.wheel_from_tire(gear_ratio, c.vx, tire),
        noisy(c.x, n.position, at, 4),
        noisy(c.y, n.position, at, 5),
        noisy(c.yaw, n.yaw, at, 6),
    )


@pure
def acceleration(p: Any, accel: float, brake: float, gear: float, slope: float, v: float) -> float:
    """What pedals, gear and slope give at speed v, along the car's x axis; at rest a car that is held gets none."""
    if is_stopping(gear, v):
        hold: float = p.stop_deceleration
        return -sign(v) * hold
    a = pedal_acceleration(p, Pedals(accel, brake, slope, gear), abs(v))
    if gear == NEUTRAL:
        return opposed(v, slope, maximum(-a, 0.0))
    total = (-a if is_reverse(gear) else a) + slope
    return 0.0 if v == 0.0 and is_against(gear, total) else total


def sane_params(body: Model) -> Any:
    """The vehicle as the car worlds take it: without the reference's oddities, and with its dead times left to the lines in front of it."""
    return body.Params(reference=0.0, accel_time_delay=0.0, brake_time_delay=0.0, steer_time_delay=0.0, vel_rate_lim=10.0, steer_lim=0.6)


@functools.cache
def of(vehicle_name: str, slots: int) -> Drive:
    """For a vehicle steered by its wheel, with lines of `slots` commands."""
    # dead time is in the lines here: the vehicle's own queues, which count ticks, need little room
    body = make(vehicle_name, slots=slots // 8)
    line = delay.of(Number, slots)

    class Channel(NamedTuple):
        broken: fault.State = fault.State()
        bus: line.State = line.State()  # type: ignore[name-defined]

    class State(NamedTuple):
        accel: Channel = Channel()
        brake: Channel = Channel()
        steer: Channel = Channel()
        vehicle: body.State = body.State()  # type: ignore[name-defined]

    @pure
    def pass_on(f: fault.Params, dead_time: float, s: Channel, u: float, at: Tick) -> tuple[Channel, Arrived]:
        active = 1.0 if fault.is_active(f, float(at.k) * at.dt) else 0.0
        broken, out = fault.step(f, s.broken, fault.In(u, active), at.dt)
        bus, held = line.step(line.Params(dead_time + out.extra_delay), s.bus, out.y, at.dt)
        return Channel(broken, bus), Arrived(held.after if held.h <= 0.5 * at.dt else held.before, out.reported)

    @pure
    def step(p: Any, s: State, u: Command, at: Tick) -> tuple[State, Done]:
        accel, a = pass_on(p.faults.accel, p.dead_time.accel, s.accel, clamp(u.accel, 0.0, 1.0), at)
        brake, b = pass_on(p.faults.brake, p.dead_time.brake, s.brake, clamp(u.brake, 0.0, 1.0), at)
        steer, w = pass_on(p.faults.steer, p.dead_time.steer, s.steer, clamp(u.wheel, -p.wheel_lim, p.wheel_lim), at)
        v = p.vehicle
        before = s.vehicle
        car, y = body.step(v, before, body.In(a.value, clamp(b.value, 0.0, 1.0), u.slope, w.value, u.gear), at.dt)
        soon = Tick(at.k + 1, at.dt, at.seed, at.instance)
        done = Done(
            a.value,
            b.value,
            w.value,
            vgr.tire_command(ratios(v), before.vx, before.steer, w.value),
            acceleration(v, a.value, b.value, u.gear, u.slope, before.vx),
            1.0 if u.accel >= 1.0 else u.accel_limited,
            1.0 if u.brake >= 1.0 else u.brake_limited,
            1.0 if abs(u.wheel) >= p.wheel_lim else u.wheel_limited,
            a.fault_kind,
            b.fault_kind,
            w.fault_kind,
            y.wz,
            measure(p.noise, ratios(v), v.steer_bias, v.enable_pub_steer, pose(car), y.wz, soon),
        )
        return State(accel, brake, steer, car), done

    def flaws(p: Any, dt: float | None) -> Iterator[str]:
        """What is wrong with dead times and faults, by field."""
        for name in Faults._fields:
            f = getattr(p.faults, name)
            total = getattr(p.dead_time, name) + (f.extra_delay if f.kind == fault.DELAY else 0.0)
            where = f"faults.{name}.extra_delay" if f.kind == fault.DELAY else f"dead_time.{name}"
            yield from (f"{where}: {text}" for text in line.Params(total).flaws(dt))

    return Drive(body, State, step, flaws)
