"""A rigid body that flies: thrust along its own z axis, torques, gravity, drag; and a ground it stands on.

    m dv/dt = F R(q) e_z - m g e_z - b v         dp/dt = v
    I dw/dt = tau - w x (I w) - c w              dq/dt = 1/2 q (0, w)          (rigid_body)

p, v   position [m] and velocity [m/s] in the world, z up;  w, q as in rigid_body, in body axes x ahead, y to the left, z up
F      thrust along the body's z [N];  tau torque in body axes [N.m], both held over the tick
b, c   drag of translation [N.s/m] and of turning about each body axis [N.m.s/rad]
ground z = 0: whoever would fall through it stands on it, without moving or turning, as long as it is not pushed up

Translation is exact for the thrust direction in the middle of the turn of the tick; the drag of a turn is that of its start, lessened as it would be
were it alone, so that it never turns a motion round. Velocities end at 1e4.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp, phi1, phi2
from pushrod.plants import rigid_body
from pushrod.plants.attitude import Quaternion, unit
from pushrod.plants.rigid_body import Torque

FASTEST = 1e4  # [m/s]


class TurnDrag(NamedTuple):
    x: A[float, Q("N.m.s/rad", 0.0, 1e6)] = 0.0
    y: A[float, Q("N.m.s/rad", 0.0, 1e6)] = 0.0
    z: A[float, Q("N.m.s/rad", 0.0, 1e6)] = 0.0


class Params(NamedTuple):
    m: A[float, Q("kg", 1e-3, 1e6, "mass")] = 1.0
    g: A[float, Q("m/s2", 0.0, 30.0, "gravity")] = 9.80665
    b: A[float, Q("N.s/m", 0.0, 1e6, "drag of translation")] = 0.0
    c: TurnDrag = TurnDrag()
    inertia: rigid_body.Params = rigid_body.Params()


class Vector(NamedTuple):
    x: A[float, Q("m")] = 0.0
    y: A[float, Q("m")] = 0.0
    z: A[float, Q("m")] = 0.0


class Velocity(NamedTuple):
    x: A[float, Q("m/s", -FASTEST, FASTEST)] = 0.0
    y: A[float, Q("m/s", -FASTEST, FASTEST)] = 0.0
    z: A[float, Q("m/s", -FASTEST, FASTEST)] = 0.0


class State(NamedTuple):
    p: Vector = Vector()
    v: Velocity = Velocity()
    turn: rigid_body.State = rigid_body.State()


class In(NamedTuple):
    F: A[float, Q("N", -1e6, 1e6, "thrust along the body's z")] = 0.0
    tau: Torque = Torque()


class Out(NamedTuple):
    body: State = State()
    grounded: A[float, flag("it stands on the ground")] = 0.0


@pure
def up(q: Quaternion) -> Vector:
    """The body's z axis in the world."""
    return Vector(2.0 * (q.x * q.z + q.w * q.y), 2.0 * (q.y * q.z - q.w * q.x), 1.0 - 2.0 * (q.x * q.x + q.y * q.y))


@pure
def halfway(a: Quaternion, b: Quaternion) -> Quaternion:
    """Between two attitudes, the short way."""
    s = 1.0 if a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z >= 0.0 else -1.0
    return unit(Quaternion(a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z))


@pure
def slowed(c: float, w: float, I: float, dt: float) -> float:  # noqa: E741
    """The torque of drag, on average over the tick."""
    return -c * w * phi1(c * dt / I)


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    grounded = s.p.z <= 0.0
    if not dt > 0.0:
        return s, Out(s, 1.0 if grounded else 0.0)
    w = s.turn.w
    tau = Torque(
        u.tau.x + slowed(p.c.x, w.x, p.inertia.Ixx, dt),
        u.tau.y + slowed(p.c.y, w.y, p.inertia.Iyy, dt),
        u.tau.z + slowed(p.c.z, w.z, p.inertia.Izz, dt),
    )
    turn, _ = rigid_body.step(p.inertia, s.turn, tau, dt)
    n = up(halfway(s.turn.q, turn.q))
    x = p.b * dt / p.m
    a_x = (u.F * n.x - p.b * s.v.x) / p.m
    a_y = (u.F * n.y - p.b * s.v.y) / p.m
    a_z = (u.F * n.z - p.b * s.v.z) / p.m - p.g
    e = State(
        Vector(
            s.p.x + dt * (s.v.x + a_x * dt * phi2(x)),
            s.p.y + dt * (s.v.y + a_y * dt * phi2(x)),
            s.p.z + dt * (s.v.z + a_z * dt * phi2(x)),
        ),
        Velocity(
            clamp(s.v.x + a_x * dt * phi1(x), -FASTEST, FASTEST),
            clamp(s.v.y + a_y * dt * phi1(x), -FASTEST, FASTEST),
            clamp(s.v.z + a_z * dt * phi1(x), -FASTEST, FASTEST),
        ),
        turn,
    )
    if e.p.z <= 0.0 and e.v.z <= 0.0:
        still = rigid_body.State(rigid_body.Rate(0.0, 0.0, 0.0), s.turn.q)
        e = State(Vector(s.p.x, s.p.y, 0.0), Velocity(0.0, 0.0, 0.0), still)
    return e, Out(e, 1.0 if e.p.z <= 0.0 else 0.0)


FLYING_BODY = Model("flying_body", Params, State, In, Out, step)
