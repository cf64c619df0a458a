"""A spacecraft that turns to a requested attitude with torques that arrive late.

    d = q_req* q_meas,  e = 2 sgn(d_w) (d_x, d_y, d_z)      attitude error in body axes, about the angle [rad]
    torque_req = -f kp e - kd w_meas                        f <= 1 keeps the axis of the turn and asks for w_max at most;
                                                            with `by_torque` on, the torques that are asked for instead
    torque_cmd = torque_req within +-torque_max             per axis; what is sent
    torque_ach = fault(torque_cmd(t - delay) within +-wheel_max), and with a disturbance moves the body

request -> controller -> sub-step delay -> torque limit -> fault, per axis -> rigid body -> noisy star tracker and gyro

Roll, pitch and yaw as in plants.attitude. The delay hands over at h inside the tick, so what follows is called for h and dt - h. The three torques
travel in one command: a fault of kind delay on any axis makes the whole command later, by the largest of the three.

The default 50, 40, 60 kg.m2 with kp = I wn^2 and kd = 2 zeta wn I, wn = 1 rad/s, zeta = 0.9: each axis crosses over at 1.88 rad/s with a phase margin
of 73.5 deg without delay. 50 ms and half a tick of 10 ms cost 5.9 deg, so 67.6 deg are left: another 0.63 s of delay would use them up.
"""

import functools
from collections.abc import Iterator
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.noise import normal
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import clamp, maximum, minimum
from pushrod.models import delay, fault
from pushrod.plants import rigid_body
from pushrod.plants.attitude import Angles, Quaternion, conjugate, from_angles, product, to_angles, turn, unit
from pushrod.plants.rigid_body import Rate, Torque


class In(NamedTuple):
    roll_req: A[float, Q("rad", -3.2, 3.2, "requested roll")] = 0.0
    pitch_req: A[float, Q("rad", -1.6, 1.6, "requested pitch")] = 0.0
    yaw_req: A[float, Q("rad", -3.2, 3.2, "requested yaw")] = 0.0
    by_torque: A[float, flag("the controller is off and these torques are asked for instead")] = 0.0
    torque_x: A[float, Q("N.m", -1e6, 1e6, "requested torque")] = 0.0
    torque_y: A[float, Q("N.m", -1e6, 1e6)] = 0.0
    torque_z: A[float, Q("N.m", -1e6, 1e6)] = 0.0


class Command(NamedTuple):
    """What travels to the actuators."""

    x: A[float, Q("N.m")] = 0.0
    y: A[float, Q("N.m")] = 0.0
    z: A[float, Q("N.m")] = 0.0


class Stiffness(NamedTuple):
    x: A[float, Q("N.m/rad", 0.0, 1e6)] = 50.0
    y: A[float, Q("N.m/rad", 0.0, 1e6)] = 40.0
    z: A[float, Q("N.m/rad", 0.0, 1e6)] = 60.0


class Damping(NamedTuple):
    x: A[float, Q("N.m.s/rad", 0.0, 1e6)] = 90.0
    y: A[float, Q("N.m.s/rad", 0.0, 1e6)] = 72.0
    z: A[float, Q("N.m.s/rad", 0.0, 1e6)] = 108.0


class Limit(NamedTuple):
    x: A[float, Q("N.m", 0.0, 1e6)] = 5.0
    y: A[float, Q("N.m", 0.0, 1e6)] = 5.0
    z: A[float, Q("N.m", 0.0, 1e6)] = 5.0


class Control(NamedTuple):
    kp: Stiffness = Stiffness()
    kd: Damping = Damping()
    w_max: A[float, Q("rad/s", 1e-6, 10.0, "fastest turn it asks for")] = 0.1
    torque_max: Limit = Limit()


class Sensors(NamedTuple):
    attitude: A[float, Q("rad", 0.0, 0.1, "star tracker, standard deviation per axis")] = 2e-5
    rate: A[float, Q("rad/s", 0.0, 0.1, "gyro, standard deviation per axis")] = 1e-5


class Faults(NamedTuple):
    torque_x: fault.Params = fault.Params()
    torque_y: fault.Params = fault.Params()
    torque_z: fault.Params = fault.Params()


class Wheels(NamedTuple):
    x: fault.State = fault.State()
    y: fault.State = fault.State()
    z: fault.State = fault.State()


class Craft(NamedTuple):
    wheels: Wheels = Wheels()
    body: rigid_body.State = rigid_body.State()


class Out(NamedTuple):
    torque_req_x: A[float, Q("N.m", about="asked by the control law")] = 0.0
    torque_req_y: A[float, Q("N.m")] = 0.0
    torque_req_z: A[float, Q("N.m")] = 0.0
    torque_cmd_x: A[float, Q("N.m", about="sent, within the controller's limit")] = 0.0
    torque_cmd_y: A[float, Q("N.m")] = 0.0
    torque_cmd_z: A[float, Q("N.m")] = 0.0
    torque_ach_x: A[float, Q("N.m", about="by the wheels at the end of the tick")] = 0.0
    torque_ach_y: A[float, Q("N.m")] = 0.0
    torque_ach_z: A[float, Q("N.m")] = 0.0
    roll: A[float, Q("rad", about="true, at the end of the tick")] = 0.0
    pitch: A[float, Q("rad")] = 0.0
    yaw: A[float, Q("rad")] = 0.0
    w_x: A[float, Q("rad/s", about="true, at the end of the tick")] = 0.0
    w_y: A[float, Q("rad/s")] = 0.0
    w_z: A[float, Q("rad/s")] = 0.0
    roll_meas: A[float, Q("rad", about="what the controller saw")] = 0.0
    pitch_meas: A[float, Q("rad")] = 0.0
    yaw_meas: A[float, Q("rad")] = 0.0
    w_meas_x: A[float, Q("rad/s", about="what the controller saw")] = 0.0
    w_meas_y: A[float, Q("rad/s")] = 0.0
    w_meas_z: A[float, Q("rad/s")] = 0.0
    pointing_error: A[float, Q("rad", about="angle between request and truth")] = 0.0
    saturated: A[float, flag("some torque asked for was cut")] = 0.0
    torque_x_fault: A[float, Choice(fault.KINDS, "as the actuator reports it")] = 0.0
    torque_y_fault: A[float, Choice(fault.KINDS)] = 0.0
    torque_z_fault: A[float, Choice(fault.KINDS)] = 0.0


class Active(NamedTuple):
    """Which faults act in this tick."""

    x: A[float, flag()] = 0.0
    y: A[float, flag()] = 0.0
    z: A[float, flag()] = 0.0


class Moved(NamedTuple):
    craft: Craft
    x: fault.Out
    y: fault.Out
    z: fault.Out


@pure
def active(p: fault.Params, t: float) -> float:
    return 1.0 if fault.is_active(p, t) else 0.0


@pure
def sensed(p: Sensors, q: Quaternion, at: Tick) -> Quaternion:
    """The attitude with a small random turn."""
    a = 0.5 * p.attitude
    return unit(product(q, Quaternion(1.0, a * normal(at, 0), a * normal(at, 1), a * normal(at, 2))))


@pure
def share(kp: float, kd: float, w_max: float, e: float) -> float:
    """The part of the error that asks for no more than w_max; all of it when near."""
    most = kd * w_max
    asked = kp * abs(e)
    return most / asked if asked > most else 1.0


@pure
def control(p: Control, q_req: Quaternion, q_meas: Quaternion, w: Rate) -> Torque:
    d = product(conjugate(q_req), q_meas)
    two = 2.0 if d.w >= 0.0 else -2.0  # the shorter way round
    e = Rate(two * d.x, two * d.y, two * d.z)
    f = minimum(share(p.kp.x, p.kd.x, p.w_max, e.x), minimum(share(p.kp.y, p.kd.y, p.w_max, e.y), share(p.kp.z, p.kd.z, p.w_max, e.z)))
    return Torque(-f * p.kp.x * e.x - p.kd.x * w.x, -f * p.kp.y * e.y - p.kd.y * w.y, -f * p.kp.z * e.z - p.kd.z * w.z)


@pure
def move(p: Any, s: Craft, u: Command, on: Active, dt: float) -> Moved:
    lim = p.wheel_max
    wheel_x, x = fault.step(p.faults.torque_x, s.wheels.x, fault.In(clamp(u.x, -lim.x, lim.x), on.x), dt)
    wheel_y, y = fault.step(p.faults.torque_y, s.wheels.y, fault.In(clamp(u.y, -lim.y, lim.y), on.y), dt)
    wheel_z, z = fault.step(p.faults.torque_z, s.wheels.z, fault.In(clamp(u.z, -lim.z, lim.z), on.z), dt)
    tau = Torque(x.y + p.disturbance.x, y.y + p.disturbance.y, z.y + p.disturbance.z)
    body, _ = rigid_body.step(p.body, s.body, tau, dt)
    return Moved(Craft(Wheels(wheel_x, wheel_y, wheel_z), body), x, y, z)


@pure
def extra_delay(p: fault.Params, on: float) -> float:
    return p.extra_delay if on != 0.0 and p.kind == fault.DELAY else 0.0


@functools.cache
def of(slots: int = 64) -> World:
    """The spacecraft with a delay line of that many slots."""
    bus_line = delay.of(Command, slots)

    class Params(NamedTuple):
        control: Control = Control()
        bus: bus_line.Params = bus_line.Params(0.05)  # type: ignore[name-defined]
        wheel_max: Limit = Limit()
        disturbance: Torque = Torque()
        body: rigid_body.Params = rigid_body.Params(50.0, 40.0, 60.0)
        noise: Sensors = Sensors()
        faults: Faults = Faults()

        def flaws(self, dt: float | None) -> Iterator[str]:
            """The line must hold what a fault adds to the delay, too."""
            for channel, broken in zip(self.faults._fields, self.faults, strict=True):
                if broken.kind == fault.DELAY and broken.extra_delay > 0.0:
                    yield from (
                        f"faults.{channel}.extra_delay: with bus.delay, {text}"
                        for text in bus_line.Params(self.bus.delay + broken.extra_delay).flaws(dt)
                    )

    class State(NamedTuple):
        bus: bus_line.State = bus_line.State()  # type: ignore[name-defined]
        craft: Craft = Craft()

    @pure
    def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
        # sense
        q_meas = sensed(p.noise, s.craft.body.q, at)
        w = s.craft.body.w
        n = p.noise.rate
        w_meas = Rate(w.x + n * normal(at, 3), w.y + n * normal(at, 4), w.z + n * normal(at, 5))
        # control
        q_req = from_angles(Angles(u.roll_req, u.pitch_req, u.yaw_req))
        req = Torque(u.torque_x, u.torque_y, u.torque_z) if u.by_torque != 0.0 else control(p.control, q_req, q_meas, w_meas)
        lim = p.control.torque_max
        cmd = Command(clamp(req.x, -lim.x, lim.x), clamp(req.y, -lim.y, lim.y), clamp(req.z, -lim.z, lim.z))
        # actuate and move
        t = float(at.k) * at.dt
        on = Active(active(p.faults.torque_x, t), active(p.faults.torque_y, t), active(p.faults.torque_z, t))
        extra = maximum(maximum(extra_delay(p.faults.torque_x, on.x), extra_delay(p.faults.torque_y, on.y)), extra_delay(p.faults.torque_z, on.z))
        bus, held = bus_line.step(bus_line.Params(p.bus.delay + extra), s.bus, cmd, at.dt)
        a = move(p, s.craft, held.before, on, held.h)
        b = move(p, a.craft, held.after, on, at.dt - held.h)
        # report
        body = b.craft.body
        true = to_angles(body.q)
        seen = to_angles(q_meas)
        top = p.wheel_max
        late = held.after
        cut = cmd.x != req.x or cmd.y != req.y or cmd.z != req.z or abs(late.x) > top.x or abs(late.y) > top.y or abs(late.z) > top.z
        return State(bus, b.craft), Out(
            req.x, req.y, req.z, cmd.x, cmd.y, cmd.z, b.x.y, b.y.y, b.z.y,
            true.roll, true.pitch, true.yaw, body.w.x, body.w.y, body.w.z,
            seen.roll, seen.pitch, seen.yaw, w_meas.x, w_meas.y, w_meas.z,
            turn(product(conjugate(q_req), body.q)), 1.0 if cut else 0.0, b.x.reported, b.y.reported, b.z.reported,
        )  # fmt: skip

    return World("satellite", Params, State, In, Out, step, of)


SATELLITE = of()
BUS = delay.of(Command, 64)
Params, State, step = SATELLITE.Params, SATELLITE.State, SATELLITE.step  # for parameters and steps written in Python
