"""A multirotor with four rotors at the corners of a rectangle, flown through the n-effector pipeline.

    height -> climb rate -> collective            \\
    tilt -> roll and pitch rate -> torques          > request on four axes -> pipeline -> rotor outputs -> faults -> rotors -> flying body
    yaw -> yaw rate -> torque                      /                          what it achieved -> the loops, one tick later

    a_0 = T / 4F    a_1 = tau_x / 4F l_y    a_2 = tau_y / 4F l_x    a_3 = tau_z / 4F k          u_j = thrust of rotor j / F
    d = q* q_req = d_tilt d_yaw;   w_req = k_tilt 2 (d_tilt.x, d_tilt.y),  k_yaw 2 atan2(d.z, d.w)

a      axes: collective, roll, pitch, yaw, each as a share of all that four rotors at full thrust could do [-]; so B holds only signs / 4
u      effectors e0 front left, e1 front right, e2 rear right, e3 rear left [-], 0 to 1: thrust goes with the square of the rotor's speed, and the
       speed told to a rotor with the root of u
F      thrust of a rotor at full speed [N];  k its drag torque per thrust [m];  l_x, l_y where the rotors are, ahead and to the left [m]
body   x ahead, y to the left, z up; roll, pitch and yaw as in plants.attitude: pitch is positive nose down

Tilt comes before yaw, in the error as in the pipeline (order roll, pitch, collective, yaw). A rotor that says it is dead leaves three, which cannot
serve four axes: yaw is given up and reported (`pipe.lost.a3`), the yaw loop rests, and the body spins, carried by the two rotors beside the dead one.
The third can only push up, so that about one axis of the body there is torque to one side only; the spin turns that axis through all directions.

The loops see the start of the tick, with noise.
"""

import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.noise import normal
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import clamp, maximum, wrap_angle
from pushrod.models import fault, thruster
from pushrod.pipeline import n_motor_pipeline, n_topic
from pushrod.pipeline.allocate.axes import Axes, Effectors, Health
from pushrod.pipeline.control import pi
from pushrod.pipeline.n_act import Act, Alloc, Hw, Sw
from pushrod.pipeline.n_act import Params as ActParams
from pushrod.pipeline.names import AUTOPILOT, BY_DISARM, FINE, NONE, SOURCES
from pushrod.plants import flying_body, rigid_body
from pushrod.plants.attitude import Angles, Quaternion, conjugate, from_angles, product, to_angles, unit
from pushrod.plants.rigid_body import Rate, Torque

Q4 = 0.25
SIGNS = (Q4, Q4, Q4, Q4, Q4, -Q4, -Q4, Q4, -Q4, -Q4, Q4, Q4, Q4, -Q4, Q4, -Q4)  # collective, roll, pitch, yaw
NONE_OF_4, ALL_OF_4 = (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)
TILT_FIRST = (1.0, 2.0, 0.0, 3.0)


class In(NamedTuple):
    armed: A[float, flag()] = 1.0
    z_req: A[float, Q("m", 0.0, 1e4, "height to keep")] = 0.0
    roll_req: A[float, Q("rad", -1.0, 1.0)] = 0.0
    pitch_req: A[float, Q("rad", -1.0, 1.0, "positive nose down")] = 0.0
    yaw_req: A[float, Q("rad", -1e3, 1e3)] = 0.0


class Loops(NamedTuple):
    k_tilt: A[float, Q("1/s", 0.0, 1e3, "tilt error to rate")] = 6.0
    k_yaw: A[float, Q("1/s", 0.0, 1e3, "yaw error to rate")] = 2.0
    k_z: A[float, Q("1/s", 0.0, 1e3, "height error to climb rate")] = 1.2
    w_max: A[float, Q("rad/s", 1e-3, 100.0, "roll and pitch rate asked for at most")] = 4.0
    yaw_max: A[float, Q("rad/s", 1e-3, 100.0, "yaw rate asked for at most")] = 1.5
    climb_max: A[float, Q("m/s", 1e-3, 100.0, "climb rate asked for at most")] = 2.0
    roll: pi.Params = pi.Params(0.035, 0.1, 0.3)
    pitch: pi.Params = pi.Params(0.035, 0.1, 0.3)
    yaw: pi.Params = pi.Params(0.16, 0.16, 1.0)
    climb: pi.Params = pi.Params(0.11, 0.1, 1.0)


class Frame(NamedTuple):
    l_x: A[float, Q("m", 1e-3, 100.0, "rotors are that far ahead and behind")] = 0.16
    l_y: A[float, Q("m", 1e-3, 100.0, "and that far to the left and right")] = 0.16
    k: A[float, Q("m", 0.0, 10.0, "drag torque per thrust")] = 0.016


class Sensors(NamedTuple):
    """One standard deviation."""

    attitude: A[float, Q("rad", 0.0, 0.1)] = 1e-3
    rate: A[float, Q("rad/s", 0.0, 0.5)] = 5e-3
    height: A[float, Q("m", 0.0, 1.0)] = 5e-3
    climb: A[float, Q("m/s", 0.0, 1.0)] = 1e-2


class Faults(NamedTuple):
    e0: fault.Params = fault.Params()
    e1: fault.Params = fault.Params()
    e2: fault.Params = fault.Params()
    e3: fault.Params = fault.Params()


class Params(NamedTuple):
    feedback: A[float, flag("the loops heed what was achieved")] = 1.0
    control: Loops = Loops()
    act: Act = Act(
        hw=Hw(NONE_OF_4, ALL_OF_4),
        sw=Sw(NONE_OF_4, ALL_OF_4, (0.0, -0.5, -0.5, -0.25), (1.0, 0.5, 0.5, 0.25)),
        alloc=Alloc(B=SIGNS, order=TILT_FIRST),
    )
    rotor: thruster.Params = thruster.Params(0.0, 900.0, 0.03, 0.05, 8.0, 0.0)
    frame: Frame = Frame()
    body: flying_body.Params = flying_body.Params(
        1.2, b=0.3, c=flying_body.TurnDrag(0.004, 0.004, 0.02), inertia=rigid_body.Params(0.012, 0.012, 0.02)
    )  # fmt: skip
    noise: Sensors = Sensors()
    faults: Faults = Faults()

    def flaws(self, dt: float | None) -> Iterator[str]:
        for name, broken in zip(self.faults._fields, self.faults, strict=True):
            if broken.kind == fault.DELAY:
                yield f"faults.{name}.kind: a command to this rotor takes no time that a fault could add to; use stuck, loss or bias"
        for what, table, n in (("effectors (hw.u_min)", self.act.hw.u_min, 4), ("axes (sw.a_min)", self.act.sw.a_min, 4)):
            if len(table) != n:
                yield f"act: this machine has {n} {what}, got {len(table)}"
        if self.rotor.F_ahead <= 0.0:
            yield f"rotor.F_ahead = {self.rotor.F_ahead:g} N: rotors without thrust lift nothing; it must be above 0"


class Rotor(NamedTuple):
    broken: fault.State = fault.State()
    turn: thruster.State = thruster.State()


class State(NamedTuple):
    roll: pi.State = pi.State()
    pitch: pi.State = pi.State()
    yaw: pi.State = pi.State()
    climb: pi.State = pi.State()
    aw: Axes = Axes()
    yaw_lost: A[float, flag("as the pipeline said")] = 0.0
    u: n_motor_pipeline.State = n_motor_pipeline.State()
    r0: Rotor = Rotor()
    r1: Rotor = Rotor()
    r2: Rotor = Rotor()
    r3: Rotor = Rotor()
    body: flying_body.State = flying_body.State()


class Out(NamedTuple):
    """Everything the pipeline says, and the body at the end of the tick."""

    z: A[float, Q("m", about="height")] = 0.0
    climb: A[float, Q("m/s")] = 0.0
    x: A[float, Q("m")] = 0.0
    y: A[float, Q("m")] = 0.0
    roll: A[float, Q("rad")] = 0.0
    pitch: A[float, Q("rad", about="positive nose down")] = 0.0
    yaw: A[float, Q("rad")] = 0.0
    tilt_error: A[float, Q("rad", about="between the body's z axis and the one asked for")] = 0.0
    tilt: A[float, Q("rad", about="of the body's z axis from the vertical")] = 0.0
    w_x: A[float, Q("rad/s")] = 0.0
    w_y: A[float, Q("rad/s")] = 0.0
    w_z: A[float, Q("rad/s")] = 0.0
    grounded: A[float, flag()] = 0.0
    req: Axes = Axes()
    src: A[float, Choice(SOURCES, "whose request it is; NONE: neutral")] = 0.0
    pipe: n_topic.Out = n_topic.Out()
    I_climb: A[float, Q("-", about="integral of the climb loop")] = 0.0
    F: Effectors = Effectors()
    e0_fault: A[float, Choice(fault.KINDS, "as the rotor reports it")] = 0.0
    e1_fault: A[float, Choice(fault.KINDS)] = 0.0
    e2_fault: A[float, Choice(fault.KINDS)] = 0.0
    e3_fault: A[float, Choice(fault.KINDS)] = 0.0


class Spun(NamedTuple):
    rotor: Rotor
    F: A[float, Q("N")]
    reported: A[float, Choice(fault.KINDS)]


class Flown(NamedTuple):
    """The loops after a tick, and what they ask for."""

    roll: pi.State
    pitch: pi.State
    yaw: pi.State
    climb: pi.State
    req: Axes


class Error(NamedTuple):
    """How far to turn about each body axis."""

    x: A[float, Q("rad")]
    y: A[float, Q("rad")]
    z: A[float, Q("rad")]


@pure
def spin(p: thruster.Params, broken: fault.Params, s: Rotor, u: float, t: float, dt: float) -> Spun:
    on = 1.0 if fault.is_active(broken, t) else 0.0
    b, done = fault.step(broken, s.broken, fault.In(u, on), dt)
    turn, y = thruster.step(p, s.turn, math.sqrt(maximum(done.y, 0.0)), dt)
    return Spun(Rotor(b, turn), y.F, done.reported)


@pure
def seen_output(p: thruster.Params, n: float, k: float) -> float:
    """The output a well rotor would turn so fast by; of one known to give the share k, what it must have been told."""
    r = n / p.n_max
    return r * r / k if k > 0.0 else 0.0


@pure
def error(q: Quaternion, q_req: Quaternion) -> Error:
    """The turn that is wanted, tilt and yaw apart: whatever the yaw, the tilt is the shortest way for the z axis."""
    d = product(conjugate(q), q_req)
    far = d.w * d.w + d.z * d.z
    about = unit(Quaternion(d.w, 0.0, 0.0, d.z)) if far > 1e-12 else Quaternion(1.0, 0.0, 0.0, 0.0)
    tilt = product(d, conjugate(about))
    two = 2.0 if tilt.w >= 0.0 else -2.0
    return Error(two * tilt.x, two * tilt.y, wrap_angle(2.0 * math.atan2(d.z, d.w)))


@pure
def fly(p: Params, s: State, u: In, q: Quaternion, w: Rate, z: float, climb: float, aw: Axes, dt: float) -> Flown:
    c = p.control
    on = u.armed
    e = error(q, from_angles(Angles(u.roll_req, u.pitch_req, u.yaw_req)))
    roll, y_roll = pi.step(c.roll, s.roll, pi.In(clamp(c.k_tilt * e.x, -c.w_max, c.w_max), w.x, 0.0, aw.a1, on), dt)
    pitch, y_pitch = pi.step(c.pitch, s.pitch, pi.In(clamp(c.k_tilt * e.y, -c.w_max, c.w_max), w.y, 0.0, aw.a2, on), dt)
    turns = on if s.yaw_lost == 0.0 else 0.0
    yaw, y_yaw = pi.step(c.yaw, s.yaw, pi.In(clamp(c.k_yaw * e.z, -c.yaw_max, c.yaw_max), w.z, 0.0, aw.a3, turns), dt)
    hover = p.body.m * p.body.g / maximum(4.0 * p.rotor.F_ahead, 1e-9)
    climb_req = clamp(c.k_z * (u.z_req - z), -c.climb_max, c.climb_max)
    rise, y_climb = pi.step(c.climb, s.climb, pi.In(climb_req, climb, hover, aw.a0, on), dt)
    upright = maximum(flying_body.up(q).z, 0.5)  # what is lost of the thrust in a tilt is asked for on top
    return Flown(roll, pitch, yaw, rise, Axes(y_climb.u / upright, y_roll.u, y_pitch.u, y_yaw.u if turns != 0.0 else 0.0, 0.0, 0.0))


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    """A multirotor with four rotors, flown through the command pipeline for n effectors."""
    dt = at.dt
    t = float(at.k) * dt
    # sense
    b = s.body
    a = 0.5 * p.noise.attitude
    q = unit(product(b.turn.q, Quaternion(1.0, a * normal(at, 0), a * normal(at, 1), a * normal(at, 2))))
    n = p.noise.rate
    w = Rate(b.turn.w.x + n * normal(at, 3), b.turn.w.y + n * normal(at, 4), b.turn.w.z + n * normal(at, 5))
    z = b.p.z + p.noise.height * normal(at, 6)
    climb = b.v.z + p.noise.climb * normal(at, 7)
    # control
    aw = s.aw if p.feedback != 0.0 else Axes(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    c = fly(p, s, u, q, w, z, climb, aw, dt)
    # the pipeline
    k0 = fault.told_health(p.faults.e0, t)
    k1 = fault.told_health(p.faults.e1, t)
    k2 = fault.told_health(p.faults.e2, t)
    k3 = fault.told_health(p.faults.e3, t)
    seen = Effectors(
        seen_output(p.rotor, s.r0.turn.n, k0), seen_output(p.rotor, s.r1.turn.n, k1),
        seen_output(p.rotor, s.r2.turn.n, k2), seen_output(p.rotor, s.r3.turn.n, k3), 0.0, 0.0, 0.0, 0.0,
    )  # fmt: skip
    armed = u.armed != 0.0
    known = Health(k0, k1, k2, k3, 1.0, 1.0, 1.0, 1.0)
    ask = n_topic.In(c.req, AUTOPILOT if armed else NONE, FINE if armed else BY_DISARM, known, 1.0, seen)
    out, y = n_motor_pipeline.step(ActParams(p.act), s.u, ask, dt)
    # actuate and move
    f0 = spin(p.rotor, p.faults.e0, s.r0, y.u.e0, t, dt)
    f1 = spin(p.rotor, p.faults.e1, s.r1, y.u.e1, t, dt)
    f2 = spin(p.rotor, p.faults.e2, s.r2, y.u.e2, t, dt)
    f3 = spin(p.rotor, p.faults.e3, s.r3, y.u.e3, t, dt)
    tau = Torque(
        p.frame.l_y * (f0.F - f1.F - f2.F + f3.F), p.frame.l_x * (f2.F + f3.F - f0.F - f1.F), p.frame.k * (f0.F - f1.F + f2.F - f3.F)
    )  # fmt: skip
    body, moved = flying_body.step(p.body, b, flying_body.In(f0.F + f1.F + f2.F + f3.F, tau), dt)
    # report
    true = to_angles(body.turn.q)
    left = error(body.turn.q, from_angles(Angles(u.roll_req, u.pitch_req, u.yaw_req)))
    n_z = flying_body.up(body.turn.q).z
    state = State(
        c.roll, c.pitch, c.yaw, c.climb, y.aw_req if dt > 0.0 else s.aw, y.lost.a3 if dt > 0.0 else s.yaw_lost, out,
        f0.rotor, f1.rotor, f2.rotor, f3.rotor, body,
    )  # fmt: skip
    return state, Out(
        body.p.z, body.v.z, body.p.x, body.p.y, true.roll, true.pitch, true.yaw,
        math.sqrt(left.x * left.x + left.y * left.y), math.atan2(math.sqrt(maximum(1.0 - n_z * n_z, 0.0)), n_z),
        body.turn.w.x, body.turn.w.y, body.turn.w.z, moved.grounded,
        c.req, ask.src, y, c.climb.I, Effectors(f0.F, f1.F, f2.F, f3.F, 0.0, 0.0, 0.0, 0.0),
        f0.reported, f1.reported, f2.reported, f3.reported,
    )  # fmt: skip


QUAD = World("quad", Params, State, In, Out, step)
