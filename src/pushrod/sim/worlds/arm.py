"""A two-joint arm with geared servos, told what a motor driver can tell a motor: position, velocity and torque at the motor's own shaft.

    torque_req = stiff (kp e + i + kd (velocity - omega)) + effort,   e = position - theta,   di/dt = ki e
    torque_req -> saturation -> first-order lag of the current loop -> fault -> torque;   joint torque = s N eta torque -> two_link_arm

theta, omega   motor angle [rad] and speed [rad/s]:  theta = s N (q - offset),  s = -1 where reversed, else 1;  N as in two_link_arm
stiff          0: the servo loop is off and forgets its integral; with effort 0 the motor is then passive
eta            efficiency of the gear [-]

The loop runs once a tick, as a smart servo's does (position PID of a Dynamixel X, at about 1 kHz), and sees the start of the tick; the integral holds
the arm against its weight, where P and D alone would let it sag by weight / (N^2 kp). It stops growing while the torque is at its limit.

Hanging straight down both joints are at 0; x points forwards, z up. Defaults: about 30 rad/s at the shoulder, well damped, three times the torque
that the stretched arm needs.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import clamp
from pushrod.models import fault, first_order
from pushrod.plants import two_link_arm

Angle = A[float, Q("rad", -1e5, 1e5, "set-point, at the motor")]


class Port(NamedTuple):
    """What one motor is told."""

    stiff: A[float, flag("the servo loop is on")] = 0.0
    position: Angle = 0.0
    velocity: A[float, Q("rad/s", -1e5, 1e5, "set-point, at the motor")] = 0.0
    effort: A[float, Q("N.m", -100.0, 100.0, "torque at the motor, added to what the loop asks for")] = 0.0


class In(NamedTuple):
    shoulder: Port = Port()
    elbow: Port = Port()


class Motor(NamedTuple):
    offset: A[float, Q("rad", -6.3, 6.3, "where the joint stands when the motor stands at 0")] = 0.0
    reversed: A[float, flag("the motor turns the other way")] = 0.0
    kp: A[float, Q("N.m/rad", 0.0, 1e3)] = 0.3
    ki: A[float, Q("N.m/(rad.s)", 0.0, 1e4)] = 1.5
    kd: A[float, Q("N.m.s/rad", 0.0, 1e2)] = 0.015
    torque_max: A[float, Q("N.m", 0.0, 100.0, "at the motor")] = 0.8
    lag: first_order.Params = first_order.Params(1e-3)
    efficiency: A[float, Q("-", 0.01, 1.0, "of the gear")] = 0.85


class Faults(NamedTuple):
    """Of the torque of each motor."""

    shoulder: fault.Params = fault.Params()
    elbow: fault.Params = fault.Params()

    def flaws(self, dt: float | None) -> Iterator[str]:
        for joint, broken in zip(self._fields, self, strict=True):
            if broken.kind == fault.DELAY:
                yield f"{joint}.kind: the torque of this motor takes no time that a fault could add to; use stuck, loss or bias"


class Params(NamedTuple):
    shoulder: Motor = Motor()
    elbow: Motor = Motor(offset=0.3, reversed=1.0, kp=0.12, ki=0.8, kd=0.005, torque_max=0.4)
    arm: two_link_arm.Params = two_link_arm.Params()
    faults: Faults = Faults()


class Servo(NamedTuple):
    i: A[float, Q("N.m", about="integral part of the loop")] = 0.0
    lag: first_order.State = first_order.State()
    broken: fault.State = fault.State()


class State(NamedTuple):
    shoulder: Servo = Servo()
    elbow: Servo = Servo()
    arm: two_link_arm.State = two_link_arm.State()


class Seen(NamedTuple):
    """One joint and its motor, at the end of the tick."""

    q_req: A[float, Q("rad", about="joint angle asked for; where it is, while the loop is off")] = 0.0
    q: A[float, Q("rad", about="joint angle")] = 0.0
    w: A[float, Q("rad/s", about="joint rate")] = 0.0
    position: A[float, Q("rad", about="motor angle")] = 0.0
    velocity: A[float, Q("rad/s", about="motor speed")] = 0.0
    torque_req: A[float, Q("N.m", about="motor torque asked for by loop and effort")] = 0.0
    torque: A[float, Q("N.m", about="motor torque")] = 0.0
    limited: A[float, flag("more torque was asked for than there is")] = 0.0
    reported: A[float, Choice(fault.KINDS, "as the motor reports it")] = 0.0


class Out(NamedTuple):
    shoulder: Seen = Seen()
    elbow: Seen = Seen()
    x: A[float, Q("m", about="tip, from the shoulder")] = 0.0
    z: A[float, Q("m", about="tip, above the shoulder")] = 0.0


class Driven(NamedTuple):
    servo: Servo
    torque_req: A[float, Q("N.m")]
    torque: A[float, Q("N.m")]
    joint: A[float, Q("N.m")]
    reported: A[float, Choice(fault.KINDS)]


@pure
def ratio(p: Motor, N: float) -> float:
    """Motor rate over joint rate."""
    return -N if p.reversed != 0.0 else N


@pure
def drive(p: Motor, broken: fault.Params, N: float, s: Servo, u: Port, q: float, w: float, t: float, dt: float) -> Driven:
    r = ratio(p, N)
    i = s.i
    loop = 0.0
    if u.stiff != 0.0:
        e = u.position - r * (q - p.offset)
        before = p.kp * e + i + p.kd * (u.velocity - r * w) + u.effort
        if abs(before) < p.torque_max or before * e < 0.0:
            i = clamp(i + p.ki * e * dt, -p.torque_max, p.torque_max)
        loop = p.kp * e + i + p.kd * (u.velocity - r * w)
    elif dt > 0.0:
        i = 0.0
    torque_req = loop + u.effort
    lag, given = first_order.step(p.lag, s.lag, clamp(torque_req, -p.torque_max, p.torque_max), dt)
    on = 1.0 if fault.is_active(broken, t) else 0.0
    kept, y = fault.step(broken, s.broken, fault.In(given, on), dt)
    return Driven(Servo(i, lag, kept), torque_req, y.y, r * p.efficiency * y.y, y.reported)


@pure
def seen(p: Motor, N: float, u: Port, d: Driven, q: float, w: float) -> Seen:
    r = ratio(p, N)
    q_req = u.position / r + p.offset if u.stiff != 0.0 else q
    limited = 1.0 if abs(d.torque_req) > p.torque_max else 0.0
    return Seen(q_req, q, w, r * (q - p.offset), r * w, d.torque_req, d.torque, limited, d.reported)


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    """A two-joint arm with geared servos, gravity and friction."""
    t = float(at.k) * at.dt
    a = drive(p.shoulder, p.faults.shoulder, p.arm.shoulder.N, s.shoulder, u.shoulder, s.arm.q1, s.arm.w1, t, at.dt)
    b = drive(p.elbow, p.faults.elbow, p.arm.elbow.N, s.elbow, u.elbow, s.arm.q2, s.arm.w2, t, at.dt)
    arm, y = two_link_arm.step(p.arm, s.arm, two_link_arm.In(a.joint, b.joint), at.dt)
    return State(a.servo, b.servo, arm), Out(
        seen(p.shoulder, p.arm.shoulder.N, u.shoulder, a, arm.q1, arm.w1),
        seen(p.elbow, p.arm.elbow.N, u.elbow, b, arm.q2, arm.w2),
        y.x,
        y.z,
    )


ARM = World("arm", Params, State, In, Out, step)
