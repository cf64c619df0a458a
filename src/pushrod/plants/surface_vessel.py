"""A vessel on the water: surge, sway and yaw, with drag, added mass and a current.

    m_u du/dt = X + m_v v r - d(u)             m_u = m + added surge mass
    m_v dv/dt = Y - m_u u r - d(w)             m_v = m + added sway mass              w = v - a r
    I_r dr/dt = N - (m_v - m_u) u v + a d(w) - d(r)     I_r = I + added inertia       d(w) = l w + q |w| w on each axis
    (dx/dt, dy/dt) = R(psi) (u, v) + c         dpsi/dt = r

u, v    velocity through the water [m/s], ahead and to port;  r yaw rate [rad/s]
X, Y    force ahead and to port [N];  N moment to port [N.m], held over the tick
x, y    position in the world [m], east and north (ENU, z up);  psi heading [rad], 0 to the east, counter-clockwise
a       how far behind the centre of mass the water resists sway [m]: a skeg, which keeps a hull on its course;  w sway there [m/s]
c       current [m/s], in the world, held over the tick

Signs are those of REP 103: to port is positive, so a stronger thruster on the starboard side turns the vessel to port, psi growing. The state
holds the velocity over ground: what a GNSS receiver sees, and what does not jump when the current changes. psi is not wrapped.

Fossen, "Handbook of Marine Craft Hydrodynamics and Motion Control", 6.8: in the velocity through the water these hold for a current that does not
change and does not turn. The terms with two velocities do no work: E = (m_u u^2 + m_v v^2 + I_r r^2) / 2 changes by X u + Y v + N r and drag alone.

Runge-Kutta of fourth order, in sub-steps short against the drag and the turn. Speeds end at 1e3.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, maximum

FASTEST = 1e3  # [m/s, rad/s]
PACE_MAX = 0.25  # of drag and turn, in one sub-step
SUBSTEPS_MAX = 64.0


class Drag(NamedTuple):
    """Of a straight motion."""

    l: A[float, Q("N.s/m", 0.0, 1e7, "linear")] = 10.0  # noqa: E741
    q: A[float, Q("N.s2/m2", 0.0, 1e7, "quadratic")] = 22.0


class TurnDrag(NamedTuple):
    l: A[float, Q("N.m.s/rad", 0.0, 1e9, "linear")] = 8.0  # noqa: E741
    q: A[float, Q("N.m.s2/rad2", 0.0, 1e9, "quadratic")] = 6.0


class Params(NamedTuple):
    m: A[float, Q("kg", 0.1, 1e7, "mass")] = 30.0
    I: A[float, Q("kg.m2", 1e-3, 1e9, "inertia about the vertical axis")] = 4.0  # noqa: E741
    added_u: A[float, Q("kg", 0.0, 1e7, "water that goes along in surge")] = 3.0
    added_v: A[float, Q("kg", 0.0, 1e7, "water that goes along in sway")] = 15.0
    added_r: A[float, Q("kg.m2", 0.0, 1e9, "water that goes along in yaw")] = 2.5
    surge: Drag = Drag()
    sway: Drag = Drag(150.0, 120.0)
    yaw: TurnDrag = TurnDrag()
    a: A[float, Q("m", -100.0, 100.0, "how far behind the centre of mass sway is resisted")] = 0.1


class State(NamedTuple):
    x: A[float, Q("m")] = 0.0
    y: A[float, Q("m")] = 0.0
    psi: A[float, Q("rad")] = 0.0
    u: A[float, Q("m/s", -FASTEST, FASTEST, "over ground, ahead")] = 0.0
    v: A[float, Q("m/s", -FASTEST, FASTEST, "over ground, to port")] = 0.0
    r: A[float, Q("rad/s", -FASTEST, FASTEST)] = 0.0


class Current(NamedTuple):
    """Of the water, in the world."""

    x: A[float, Q("m/s", -10.0, 10.0, "to the east")] = 0.0
    y: A[float, Q("m/s", -10.0, 10.0, "to the north")] = 0.0


class In(NamedTuple):
    X: A[float, Q("N", -1e6, 1e6, "force ahead")] = 0.0
    Y: A[float, Q("N", -1e6, 1e6, "force to port")] = 0.0
    N: A[float, Q("N.m", -1e6, 1e6, "moment to port")] = 0.0
    current: Current = Current()


class Out(NamedTuple):
    """At the end of the tick."""

    ground: State = State()
    u_water: A[float, Q("m/s", about="through the water, ahead")] = 0.0
    v_water: A[float, Q("m/s", about="through the water, to port")] = 0.0


@pure
def drag(l: float, q: float, w: float) -> float:  # noqa: E741
    return (l + q * abs(w)) * w


@pure
def slope(p: Params, s: State, f: In) -> State:
    """d/dt of a state whose velocities are through the water."""
    m_u = p.m + p.added_u
    m_v = p.m + p.added_v
    c = math.cos(s.psi)
    n = math.sin(s.psi)
    d = drag(p.sway.l, p.sway.q, s.v - p.a * s.r)
    return State(
        c * s.u - n * s.v + f.current.x,
        n * s.u + c * s.v + f.current.y,
        s.r,
        (f.X + m_v * s.v * s.r - drag(p.surge.l, p.surge.q, s.u)) / m_u,
        (f.Y - m_u * s.u * s.r - d) / m_v,
        (f.N - (p.added_v - p.added_u) * s.u * s.v + p.a * d - drag(p.yaw.l, p.yaw.q, s.r)) / (p.I + p.added_r),
    )


@pure
def ahead(s: State, h: float, k: State) -> State:
    """s + h k, no faster than FASTEST."""
    return State(
        s.x + h * k.x,
        s.y + h * k.y,
        s.psi + h * k.psi,
        clamp(s.u + h * k.u, -FASTEST, FASTEST),
        clamp(s.v + h * k.v, -FASTEST, FASTEST),
        clamp(s.r + h * k.r, -FASTEST, FASTEST),
    )


@pure
def runge_kutta(p: Params, s: State, f: In, h: float) -> State:
    k1 = slope(p, s, f)
    k2 = slope(p, ahead(s, 0.5 * h, k1), f)
    k3 = slope(p, ahead(s, 0.5 * h, k2), f)
    k4 = slope(p, ahead(s, h, k3), f)
    k = State(
        k1.x + 2.0 * k2.x + 2.0 * k3.x + k4.x,
        k1.y + 2.0 * k2.y + 2.0 * k3.y + k4.y,
        k1.psi + 2.0 * k2.psi + 2.0 * k3.psi + k4.psi,
        k1.u + 2.0 * k2.u + 2.0 * k3.u + k4.u,
        k1.v + 2.0 * k2.v + 2.0 * k3.v + k4.v,
        k1.r + 2.0 * k2.r + 2.0 * k3.r + k4.r,
    )
    return ahead(s, h / 6.0, k)


@pure
def substeps(p: Params, s: State, f: In, dt: float) -> int:
    """How many sub-steps the tick needs: by drag per mass, at the speeds there are and those the forces lead to, and by the turn."""
    m_u = p.m + p.added_u
    m_v = p.m + p.added_v
    I_r = p.I + p.added_r
    u = abs(s.u) + abs(f.X) * dt / m_u
    v = abs(s.v) + abs(f.Y) * dt / m_v
    r = abs(s.r) + abs(f.N) * dt / I_r
    side = (p.sway.l + 2.0 * p.sway.q * (v + abs(p.a) * r)) * (1.0 / m_v + p.a * p.a / I_r)
    pace = maximum(maximum((p.surge.l + 2.0 * p.surge.q * u) / m_u, side), (p.yaw.l + 2.0 * p.yaw.q * r) / I_r) + r
    return 1 + int(clamp(pace * dt / PACE_MAX, 0.0, SUBSTEPS_MAX - 1.0))


@pure
def through_water(s: State, current: Current) -> State:
    """The same state with its velocity against the water instead of the ground."""
    c = math.cos(s.psi)
    n = math.sin(s.psi)
    return State(s.x, s.y, s.psi, s.u - (c * current.x + n * current.y), s.v - (c * current.y - n * current.x), s.r)


@pure
def over_ground(s: State, current: Current) -> State:
    """The way back."""
    return through_water(s, Current(-current.x, -current.y))


@pure
def step(p: Params, s: State, f: In, dt: float) -> tuple[State, Out]:
    w = through_water(s, f.current)
    if not dt > 0.0:
        return s, Out(s, w.u, w.v)
    n = substeps(p, w, f, dt)
    h = dt / float(n)
    for _ in range(n):
        w = runge_kutta(p, w, f, h)
    e = over_ground(w, f.current)
    e = State(e.x, e.y, e.psi, clamp(e.u, -FASTEST, FASTEST), clamp(e.v, -FASTEST, FASTEST), e.r)
    return e, Out(e, w.u, w.v)


@pure
def energy(p: Params, w: State) -> float:
    """Of the vessel and the water that goes along, by velocities through the water [J]."""
    return 0.5 * ((p.m + p.added_u) * w.u * w.u + (p.m + p.added_v) * w.v * w.v + (p.I + p.added_r) * w.r * w.r)


SURFACE_VESSEL = Model("surface_vessel", Params, State, In, Out, step)
