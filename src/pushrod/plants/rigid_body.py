"""A free rigid body, turned by a torque.

    I dw/dt = tau - w x (I w)        dq/dt = 1/2 q (0, w)

I    inertia tensor about the centre of mass, body axes [kg.m2]; Ixy is the element of the tensor, minus the integral of x y dm
w    angular velocity in body axes [rad/s]
tau  torque in body axes, held over the tick [N.m]
q    attitude, body to inertial, scalar first, Hamilton (plants.attitude)

Source: Euler's equations. What is integrated is the same motion seen from the body's own frame at the start of the tick: momentum L
and the turn d since then,

    dL/dt = R(d) tau        dd/dt = 1/2 d (0, w)        w = I^-1 R(d)' L

by the classical Runge-Kutta method of fourth order. A body without torque then keeps its inertial momentum to the last digits however
coarse the tick, and nothing can run away. A tick is cut into sub-steps so that none turns far (`TURN_MAX`): the attitude
is good to about 1e-9 rad for each radian turned, until a tick needs more than `SUBSTEPS_MAX` of them.
"""

import math
from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp
from pushrod.plants.attitude import Quaternion, product, unit

TURN_MAX = 0.025  # rad in one sub-step
SUBSTEPS_MAX = 64.0


class Params(NamedTuple):
    Ixx: A[float, Q("kg.m2", 1e-6, 1e9)] = 1.0
    Iyy: A[float, Q("kg.m2", 1e-6, 1e9)] = 1.0
    Izz: A[float, Q("kg.m2", 1e-6, 1e9)] = 1.0
    Ixy: A[float, Q("kg.m2", -1e9, 1e9)] = 0.0
    Ixz: A[float, Q("kg.m2", -1e9, 1e9)] = 0.0
    Iyz: A[float, Q("kg.m2", -1e9, 1e9)] = 0.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        """A tensor must be positive definite, for spinning about any axis takes energy; and mass lies somewhere, so that no principal moment is
        greater than the other two together (a flat plate has as much)."""
        xy = self.Ixx * self.Iyy - self.Ixy * self.Ixy
        if not xy > 1e-12 * self.Ixx * self.Iyy:
            yield f"Ixy: {self.Ixy:g} kg.m2 is too large for Ixx = {self.Ixx:g} and Iyy = {self.Iyy:g}: the inertia tensor must be positive definite"
        elif not _determinant(self) > 1e-12 * self.Ixx * self.Iyy * self.Izz:
            yield (
                f"Izz: the inertia tensor must be positive definite; its determinant is {_determinant(self):g} kg3.m6: "
                f"make Ixz = {self.Ixz:g} and Iyz = {self.Iyz:g} smaller or Izz = {self.Izz:g} larger"
            )
        else:
            a, b, c = principal_moments(self)
            if c > (a + b) * (1.0 + 1e-6):
                largest = max(("Ixx", "Iyy", "Izz"), key=lambda name: float(getattr(self, name)))
                yield (
                    f"{largest}: principal moments of inertia {a:g}, {b:g} and {c:g} kg.m2: no body has one above the sum of the other two, "
                    f"{a + b:g} kg.m2. Correct {largest} = {getattr(self, largest):g} kg.m2 or the others"
                )


class Rate(NamedTuple):
    x: A[float, Q("rad/s")] = 0.0
    y: A[float, Q("rad/s")] = 0.0
    z: A[float, Q("rad/s")] = 0.0


class Torque(NamedTuple):
    x: A[float, Q("N.m", -1e6, 1e6)] = 0.0
    y: A[float, Q("N.m", -1e6, 1e6)] = 0.0
    z: A[float, Q("N.m", -1e6, 1e6)] = 0.0


class State(NamedTuple):
    w: Rate = Rate()
    q: Quaternion = Quaternion()


class Out(NamedTuple):
    w: Rate
    q: Quaternion


class Momentum(NamedTuple):
    x: A[float, Q("N.m.s")] = 0.0
    y: A[float, Q("N.m.s")] = 0.0
    z: A[float, Q("N.m.s")] = 0.0


class Inverse(NamedTuple):
    """J = I^-1."""

    xx: A[float, Q("1/(kg.m2)")] = 1.0
    yy: A[float, Q("1/(kg.m2)")] = 1.0
    zz: A[float, Q("1/(kg.m2)")] = 1.0
    xy: A[float, Q("1/(kg.m2)")] = 0.0
    xz: A[float, Q("1/(kg.m2)")] = 0.0
    yz: A[float, Q("1/(kg.m2)")] = 0.0


class Motion(NamedTuple):
    """What is integrated within a tick, and its time derivative."""

    L: Momentum = Momentum()
    d: Quaternion = Quaternion()


@pure
def _determinant(p: Params) -> float:
    return p.Ixx * (p.Iyy * p.Izz - p.Iyz * p.Iyz) - p.Ixy * (p.Ixy * p.Izz - p.Iyz * p.Ixz) + p.Ixz * (p.Ixy * p.Iyz - p.Iyy * p.Ixz)


def principal_moments(p: Params) -> tuple[float, float, float]:
    """The eigenvalues of the tensor, the smallest first: the roots of its characteristic polynomial by cosines."""
    mean = (p.Ixx + p.Iyy + p.Izz) / 3.0
    x, y, z = p.Ixx - mean, p.Iyy - mean, p.Izz - mean
    size = math.sqrt((x * x + y * y + z * z + 2.0 * (p.Ixy * p.Ixy + p.Ixz * p.Ixz + p.Iyz * p.Iyz)) / 6.0)
    if size == 0.0:
        return (mean, mean, mean)
    deviator = _determinant(Params(x / size, y / size, z / size, p.Ixy / size, p.Ixz / size, p.Iyz / size))
    angle = math.acos(min(max(0.5 * deviator, -1.0), 1.0)) / 3.0
    largest = mean + 2.0 * size * math.cos(angle)
    least = mean + 2.0 * size * math.cos(angle + 2.0 * math.pi / 3.0)
    return (least, 3.0 * mean - largest - least, largest)


@pure
def inverse(p: Params) -> Inverse:
    """Zero, so a body that does not turn, where there is none."""
    D = _determinant(p)
    r = 1.0 / D if D > 0.0 else 0.0
    return Inverse(
        r * (p.Iyy * p.Izz - p.Iyz * p.Iyz),
        r * (p.Ixx * p.Izz - p.Ixz * p.Ixz),
        r * (p.Ixx * p.Iyy - p.Ixy * p.Ixy),
        r * (p.Ixz * p.Iyz - p.Ixy * p.Izz),
        r * (p.Ixy * p.Iyz - p.Ixz * p.Iyy),
        r * (p.Ixy * p.Ixz - p.Iyz * p.Ixx),
    )


@pure
def momentum(p: Params, w: Rate) -> Momentum:
    """L = I w in body axes."""
    return Momentum(
        p.Ixx * w.x + p.Ixy * w.y + p.Ixz * w.z,
        p.Ixy * w.x + p.Iyy * w.y + p.Iyz * w.z,
        p.Ixz * w.x + p.Iyz * w.y + p.Izz * w.z,
    )


@pure
def rate(J: Inverse, L: Momentum, d: Quaternion) -> Rate:
    """w = J R(d)' L, with J = I^-1 and d of length one."""
    x = (1.0 - 2.0 * (d.y * d.y + d.z * d.z)) * L.x + 2.0 * (d.x * d.y + d.w * d.z) * L.y + 2.0 * (d.x * d.z - d.w * d.y) * L.z
    y = 2.0 * (d.x * d.y - d.w * d.z) * L.x + (1.0 - 2.0 * (d.x * d.x + d.z * d.z)) * L.y + 2.0 * (d.y * d.z + d.w * d.x) * L.z
    z = 2.0 * (d.x * d.z + d.w * d.y) * L.x + 2.0 * (d.y * d.z - d.w * d.x) * L.y + (1.0 - 2.0 * (d.x * d.x + d.y * d.y)) * L.z
    return Rate(J.xx * x + J.xy * y + J.xz * z, J.xy * x + J.yy * y + J.yz * z, J.xz * x + J.yz * y + J.zz * z)


@pure
def slope(J: Inverse, m: Motion, tau: Torque) -> Motion:
    """d/dt of (L, d). The turn is taken at length one, so that a stage far off the unit sphere stays bounded too."""
    d = unit(m.d)
    w = rate(J, m.L, d)
    return Motion(
        Momentum(
            (1.0 - 2.0 * (d.y * d.y + d.z * d.z)) * tau.x + 2.0 * (d.x * d.y - d.w * d.z) * tau.y + 2.0 * (d.x * d.z + d.w * d.y) * tau.z,
            2.0 * (d.x * d.y + d.w * d.z) * tau.x + (1.0 - 2.0 * (d.x * d.x + d.z * d.z)) * tau.y + 2.0 * (d.y * d.z - d.w * d.x) * tau.z,
            2.0 * (d.x * d.z - d.w * d.y) * tau.x + 2.0 * (d.y * d.z + d.w * d.x) * tau.y + (1.0 - 2.0 * (d.x * d.x + d.y * d.y)) * tau.z,
        ),
        product(d, Quaternion(0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z)),
    )


@pure
def ahead(m: Motion, h: float, k: Motion) -> Motion:
    """m + h k."""
    return Motion(
        Momentum(m.L.x + h * k.L.x, m.L.y + h * k.L.y, m.L.z + h * k.L.z),
        Quaternion(m.d.w + h * k.d.w, m.d.x + h * k.d.x, m.d.y + h * k.d.y, m.d.z + h * k.d.z),
    )


@pure
def runge_kutta(J: Inverse, m: Motion, tau: Torque, h: float) -> Motion:
    k1 = slope(J, m, tau)
    k2 = slope(J, ahead(m, 0.5 * h, k1), tau)
    k3 = slope(J, ahead(m, 0.5 * h, k2), tau)
    k4 = slope(J, ahead(m, h, k3), tau)
    n = ahead(ahead(ahead(ahead(m, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0, k4)
    return Motion(n.L, unit(n.d))


@pure
def substeps(J: Inverse, w: Rate, L: Momentum, tau: Torque, dt: float) -> int:
    """How many sub-steps the tick needs: by the speed |w| and by sqrt|dw/dt|, the pace of nutation and of a start from rest."""
    c = Momentum(tau.x - (w.y * L.z - w.z * L.y), tau.y - (w.z * L.x - w.x * L.z), tau.z - (w.x * L.y - w.y * L.x))
    a = rate(J, c, Quaternion(1.0, 0.0, 0.0, 0.0))
    pace = math.sqrt(w.x * w.x + w.y * w.y + w.z * w.z) + math.sqrt(math.sqrt(a.x * a.x + a.y * a.y + a.z * a.z))
    return 1 + int(clamp(pace * dt / TURN_MAX, 0.0, SUBSTEPS_MAX - 1.0))


@pure
def step(p: Params, s: State, u: Torque, dt: float) -> tuple[State, Out]:
    if not dt > 0.0:
        return s, Out(s.w, s.q)
    J = inverse(p)
    L = momentum(p, s.w)
    n = substeps(J, s.w, L, u, dt)
    h = dt / float(n)
    m = Motion(L, Quaternion(1.0, 0.0, 0.0, 0.0))
    for _ in range(n):
        m = runge_kutta(J, m, u, h)
    w = rate(J, m.L, m.d)
    q = unit(product(s.q, m.d))
    return State(w, q), Out(w, q)


@pure
def energy(p: Params, w: Rate) -> float:
    """1/2 w' I w [J]."""
    L = momentum(p, w)
    return 0.5 * (w.x * L.x + w.y * L.y + w.z * L.z)


RIGID_BODY = Model("rigid_body", Params, State, Torque, Out, step)
