"""Two links in a vertical plane, joined by geared joints with viscous and dry friction; a payload at the tip.

    M(q) dw/dt + C(q, w) + G(q) = tau - b w - c sign(w)        while a joint turns;  dq/dt = w
    w_i = 0                                                    while joint i rests and its dry friction c_i can hold it

    M11 = I1 + m1 r1^2 + N1^2 J1 + I2 + m2 (l1^2 + r2^2 + 2 l1 r2 cos q2) + mp (l1^2 + l2^2 + 2 l1 l2 cos q2)
    M12 = I2 + m2 (r2^2 + l1 r2 cos q2) + mp (l2^2 + l1 l2 cos q2)
    M22 = I2 + m2 r2^2 + N2^2 J2 + mp l2^2
    C1 = -h w2 (2 w1 + w2),  C2 = h w1^2,  h = l1 (m2 r2 + mp l2) sin q2
    G1 = g (m1 r1 + (m2 + mp) l1) sin q1 + G2,  G2 = g (m2 r2 + mp l2) sin(q1 + q2)

q1   angle of the first link from hanging straight down [rad], positive towards x;  q2 of the second against the first, in the same sense
w    their rates [rad/s];  tau torques on the joints [N.m], positive along q
l, r length of a link, and from its joint to its centre of mass [m];  m mass [kg];  I inertia about the centre of mass [kg.m2];  mp payload [kg]
N, J gear ratio [-] and inertia of the rotor at its own shaft [kg.m2], which the joint feels N^2 times (its gyroscopic share is left out)
b, c viscous [N.m.s/rad] and dry friction [N.m] of a joint
tip  x = l1 sin q1 + l2 sin(q1 + q2),  z = -l1 cos q1 - l2 cos(q1 + q2) [m], z up, from the shoulder

Spong, Hutchinson, Vidyasagar, "Robot Modeling and Control", 7.4: the planar elbow manipulator; the angle from below and the payload are ours.

Fourth-order Runge-Kutta for a held torque: with neither friction nor torque the energy of a swing through 2 rad keeps to 2e-10 of itself in 10 s at a
tick of 1 ms, where symplectic Euler wavers by 2e-2 of it. A joint that comes to rest cuts the step there; what is left starts from rest. Which joints
then turn is the least constraint in the sense of Gauss: dry friction ends a motion, never reverses it, and holds exactly. Speeds end at 1e3 rad/s.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp, maximum, minimum, sign

W_MAX = 1e3  # [rad/s]


class Link(NamedTuple):
    length: A[float, Q("m", 0.01, 10.0)] = 0.35
    com: A[float, Q("m", 0.0, 10.0, "from its joint to its centre of mass")] = 0.16
    mass: A[float, Q("kg", 0.0, 100.0)] = 2.0
    I: A[float, Q("kg.m2", 1e-4, 100.0, "inertia about the centre of mass")] = 0.02  # noqa: E741


class Joint(NamedTuple):
    N: A[float, Q("-", 1.0, 1e3, "turns of the motor per turn of the joint")] = 50.0
    J: A[float, Q("kg.m2", 0.0, 1e-2, "inertia of the rotor, at its own shaft")] = 3e-5
    b: A[float, Q("N.m.s/rad", 0.0, 1e3, "viscous friction")] = 0.3
    c: A[float, Q("N.m", 0.0, 1e3, "dry friction")] = 0.4


class Params(NamedTuple):
    upper: Link = Link()
    fore: Link = Link(0.3, 0.13, 1.2, 0.01)
    shoulder: Joint = Joint()
    elbow: Joint = Joint(b=0.15, c=0.2)
    payload: A[float, Q("kg", 0.0, 100.0, "mass at the tip")] = 0.5
    g: A[float, Q("m/s2", 0.0, 30.0, "gravity")] = 9.80665


class State(NamedTuple):
    q1: A[float, Q("rad")] = 0.0
    q2: A[float, Q("rad")] = 0.0
    w1: A[float, Q("rad/s", -W_MAX, W_MAX)] = 0.0
    w2: A[float, Q("rad/s", -W_MAX, W_MAX)] = 0.0


class In(NamedTuple):
    tau1: A[float, Q("N.m", -1e4, 1e4, "torque on the shoulder")] = 0.0
    tau2: A[float, Q("N.m", -1e4, 1e4, "torque on the elbow")] = 0.0


class Out(NamedTuple):
    q1: A[float, Q("rad", about="shoulder, from hanging down")] = 0.0
    q2: A[float, Q("rad", about="elbow, from straight")] = 0.0
    w1: A[float, Q("rad/s")] = 0.0
    w2: A[float, Q("rad/s")] = 0.0
    x: A[float, Q("m", about="tip, from the shoulder")] = 0.0
    z: A[float, Q("m", about="tip, above the shoulder")] = 0.0


class Inertia(NamedTuple):
    m11: A[float, Q("kg.m2")]
    m12: A[float, Q("kg.m2")]
    m22: A[float, Q("kg.m2")]


class Two(NamedTuple):
    """One number for each joint."""

    a: A[float, Q("-")]
    b: A[float, Q("-")]


@pure
def inertia(p: Params, q2: float) -> Inertia:
    l1 = p.upper.length
    l2 = p.fore.length
    r1 = p.upper.com
    r2 = p.fore.com
    bend = l1 * math.cos(q2)
    m22 = p.fore.I + p.fore.mass * r2 * r2 + p.payload * l2 * l2
    m12 = m22 + (p.fore.mass * r2 + p.payload * l2) * bend
    m11 = p.upper.I + p.upper.mass * r1 * r1 + (p.fore.mass + p.payload) * l1 * l1 + 2.0 * m12 - m22
    return Inertia(m11 + p.shoulder.N * p.shoulder.N * p.shoulder.J, m12, m22 + p.elbow.N * p.elbow.N * p.elbow.J)


@pure
def weight(p: Params, q1: float, q2: float) -> Two:
    """G: the torques that hold it against gravity."""
    g2 = p.g * (p.fore.mass * p.fore.com + p.payload * p.fore.length) * math.sin(q1 + q2)
    return Two(p.g * (p.upper.mass * p.upper.com + (p.fore.mass + p.payload) * p.upper.length) * math.sin(q1) + g2, g2)


@pure
def effort(p: Params, s: State, u: In) -> Two:
    """What accelerates the joints, but for dry friction: tau - C - G - b w."""
    h = p.upper.length * (p.fore.mass * p.fore.com + p.payload * p.fore.length) * math.sin(s.q2)
    G = weight(p, s.q1, s.q2)
    return Two(
        u.tau1 + h * s.w2 * (2.0 * s.w1 + s.w2) - G.a - p.shoulder.b * s.w1,
        u.tau2 - h * s.w1 * s.w1 - G.b - p.elbow.b * s.w2,
    )


@pure
def turning(p: Params, s: State, u: In) -> Two:
    """Which way each joint turns, or 0 where its friction holds it. A joint without dry friction is never held: 1."""
    c1 = p.shoulder.c
    c2 = p.elbow.c
    d1 = 1.0 if c1 == 0.0 else sign(s.w1)
    d2 = 1.0 if c2 == 0.0 else sign(s.w2)
    if d1 != 0.0 and d2 != 0.0:
        return Two(d1, d2)
    m = inertia(p, s.q2)
    r = effort(p, s, u)
    if d1 != 0.0:
        f = m.m12 * (r.a - c1 * d1) / m.m11 - r.b  # the friction that keeps the elbow at rest
        return Two(d1, 0.0 if abs(f) <= c2 else -sign(f))
    if d2 != 0.0:
        f = m.m12 * (r.b - c2 * d2) / m.m22 - r.a
        return Two(0.0 if abs(f) <= c1 else -sign(f), d2)
    return from_rest(m, r, c1, c2)


@pure
def from_rest(m: Inertia, r: Two, c1: float, c2: float) -> Two:
    """Both at rest: of all friction within +-c the one that leaves the least acceleration, x M^-1 x with x = r + f."""
    if abs(r.a) <= c1 and abs(r.b) <= c2:
        return Two(0.0, 0.0)
    best = -1.0
    d1 = 0.0
    d2 = 0.0
    for k in range(4):  # one friction is at a bound: the four edges
        side = 1.0 if k % 2 == 0 else -1.0
        if k < 2:
            x = r.a - side * c1
            f2 = m.m12 * x / m.m11 - r.b
            y = r.b + clamp(f2, -c2, c2)
            e1 = side
            e2 = 0.0 if abs(f2) <= c2 else -sign(f2)
        else:
            y = r.b - side * c2
            f1 = m.m12 * y / m.m22 - r.a
            x = r.a + clamp(f1, -c1, c1)
            e1 = 0.0 if abs(f1) <= c1 else -sign(f1)
            e2 = side
        rest = m.m22 * x * x - 2.0 * m.m12 * x * y + m.m11 * y * y
        if best < 0.0 or rest < best:
            best = maximum(rest, 0.0)
            d1 = e1
            d2 = e2
    return Two(d1, d2)


@pure
def acceleration(p: Params, s: State, u: In, d: Two) -> Two:
    """dw/dt with the joints turning as d says."""
    m = inertia(p, s.q2)
    r = effort(p, s, u)
    x = r.a - p.shoulder.c * d.a
    y = r.b - p.elbow.c * d.b
    if d.a == 0.0:
        return Two(0.0, y / m.m22 if d.b != 0.0 else 0.0)
    if d.b == 0.0:
        return Two(x / m.m11, 0.0)
    det = maximum(m.m11 * m.m22 - m.m12 * m.m12, 1e-9 * m.m11 * m.m22)  # positive, whatever rounding leaves of it
    return Two((m.m22 * x - m.m12 * y) / det, (m.m11 * y - m.m12 * x) / det)


@pure
def shifted(s: State, w: State, a: Two, h: float) -> State:
    """s moved on for h at the rates of w and the accelerations a."""
    return State(s.q1 + h * w.w1, s.q2 + h * w.w2, s.w1 + h * a.a, s.w2 + h * a.b)


@pure
def advance(p: Params, s: State, u: In, d: Two, h: float) -> State:
    """One Runge-Kutta step, with the joints turning as d says all the while."""
    a1 = acceleration(p, s, u, d)
    s2 = shifted(s, s, a1, 0.5 * h)
    a2 = acceleration(p, s2, u, d)
    s3 = shifted(s, s2, a2, 0.5 * h)
    a3 = acceleration(p, s3, u, d)
    s4 = shifted(s, s3, a3, h)
    a4 = acceleration(p, s4, u, d)
    k = h / 6.0
    far = h * W_MAX
    return State(
        s.q1 + clamp(k * (s.w1 + 2.0 * s2.w1 + 2.0 * s3.w1 + s4.w1), -far, far),
        s.q2 + clamp(k * (s.w2 + 2.0 * s2.w2 + 2.0 * s3.w2 + s4.w2), -far, far),
        clamp(s.w1 + k * (a1.a + 2.0 * a2.a + 2.0 * a3.a + a4.a), -W_MAX, W_MAX),
        clamp(s.w2 + k * (a1.b + 2.0 * a2.b + 2.0 * a3.b + a4.b), -W_MAX, W_MAX),
    )


@pure
def share(c: float, d: float, w: float, after: float) -> float:
    """The part of a step after which a joint comes to rest; 1 where it does not."""
    if c == 0.0 or d * after >= 0.0:
        return 1.0
    return clamp(w / (w - after), 0.0, 1.0) if w != after else 0.0


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    e = s
    left = dt
    for k in range(4):  # each joint may come to rest, and once more after the other has; the last part is taken whole
        if left > 0.0:
            d = turning(p, e, u)
            n = advance(p, e, u, d, left)
            f1 = share(p.shoulder.c, d.a, e.w1, n.w1)
            f2 = share(p.elbow.c, d.b, e.w2, n.w2)
            f = minimum(f1, f2)
            t = left
            if f < 1.0 and k < 3:
                t = f * left
                n = advance(p, e, u, d, t)
            e = State(n.q1, n.q2, 0.0 if f1 < 1.0 and (f1 <= f or k == 3) else n.w1, 0.0 if f2 < 1.0 and (f2 <= f or k == 3) else n.w2)
            left = left - t
    a = e.q1 + e.q2
    l1 = p.upper.length
    l2 = p.fore.length
    return e, Out(e.q1, e.q2, e.w1, e.w2, l1 * math.sin(e.q1) + l2 * math.sin(a), -l1 * math.cos(e.q1) - l2 * math.cos(a))


TWO_LINK_ARM = Model("two_link_arm", Params, State, In, Out, step)
