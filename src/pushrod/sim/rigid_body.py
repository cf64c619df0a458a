"""Rigid bodies to hold in hand: what an ActuatorDriver moves.

RigidBody      float64, full inertia tensor, quaternion attitude; the equations of plants.rigid_body, so it agrees with every run and batch
ReferenceBody  the reference's float32 body: diagonal inertia and three angles integrated apart,
                   w += 1/I (tau - w x (I w)) h        theta += w h        theta wrapped to [-pi, pi]

A driver takes any object with `update(dt, torque)`.
"""

import math
from collections.abc import Iterable
from typing import Protocol

import numpy as np

from pushrod.core.check import check
from pushrod.core.errors import InputError
from pushrod.plants import attitude as att
from pushrod.plants import rigid_body as rb
from pushrod.sim.arguments import number, vector

F = np.float32
SINGLE_MAX = float(np.finfo(F).max)
TURN_LIMIT = 1e6  # rad in one update of the reference body: it is wrapped turn by turn


class Body(Protocol):
    """What a torque driver can move."""

    def update(self, dt: float, torque: Iterable[float]) -> None: ...


def _inertia(value: object) -> rb.Params:
    """Three principal moments or a symmetric 3x3 tensor [kg.m2].

    A record of parameters is taken as it is: the equations hold for a tensor that no body has as well, and reference runs use such.
    """
    if isinstance(value, rb.Params):
        return value
    rows = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else []
    if len(rows) == 3 and all(isinstance(row, Iterable) for row in rows):
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (vector(f"inertia[{i}]", row, "kg.m2") for i, row in enumerate(rows))
        for name, a, b in (("xy", xy, yx), ("xz", xz, zx), ("yz", yz, zy)):
            if abs(a - b) > 1e-9 * max(xx, yy, zz):
                raise InputError(f"inertia must be symmetric, but its two {name} elements are {a:g} and {b:g} kg.m2; nothing was changed")
        params = rb.Params(xx, yy, zz, xy, xz, yz)
    else:
        params = rb.Params(*vector("inertia", value, "kg.m2"))
    check(params, "inertia")
    return params


def _attitude(value: object) -> att.Quaternion:
    """Four numbers are a quaternion (scalar first), three are roll, pitch, yaw [rad]."""
    items = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    if len(items) == 3:
        return att.from_angles(att.Angles(*vector("attitude", items, "rad")))
    q = att.Quaternion(*vector("attitude", value, "-", 4))
    length = math.hypot(*q)
    if not 0.5 < length < 2.0:
        raise InputError(f"attitude must be a quaternion (w, x, y, z) of length 1, got length {length:g}; nothing was changed")
    return att.unit(q)


class RigidBody:
    """A body that turns freely: Euler's equations, integrated to about 1e-9 whatever the step."""

    def __init__(self, inertia: object = (1.0, 1.0, 1.0), omega: object = (0.0, 0.0, 0.0), attitude: object = (1.0, 0.0, 0.0, 0.0)) -> None:
        self._params = _inertia(inertia)
        self._state = rb.State(rb.Rate(*vector("omega", omega, "rad/s")), _attitude(attitude))

    def update(self, dt: float, torque: Iterable[float]) -> None:
        """Move on by dt [s] under a torque in body axes [N.m] that is held throughout."""
        h = number("dt", dt, "s", lo=0.0)
        state, _ = rb.step(self._params, self._state, rb.Torque(*vector("torque", torque, "N.m")), h)
        if not all(map(math.isfinite, (*state.w, *state.q))):
            raise InputError(f"a torque of {torque!r} N.m for {h:g} s is more than numbers can hold; nothing was changed")
        self._state = state

    @property
    def inertia(self) -> tuple[tuple[float, float, float], ...]:
        """The 3x3 tensor [kg.m2]."""
        p = self._params
        return ((p.Ixx, p.Ixy, p.Ixz), (p.Ixy, p.Iyy, p.Iyz), (p.Ixz, p.Iyz, p.Izz))

    @property
    def params(self) -> rb.Params:
        return self._params

    @property
    def state(self) -> rb.State:
        return self._state

    @state.setter
    def state(self, value: rb.State) -> None:
        self._state = rb.State(rb.Rate(*vector("omega", value.w, "rad/s")), _attitude(value.q))

    @property
    def omega(self) -> rb.Rate:
        """Angular velocity in body axes [rad/s]."""
        return self._state.w

    @omega.setter
    def omega(self, value: object) -> None:
        self._state = rb.State(rb.Rate(*vector("omega", value, "rad/s")), self._state.q)

    @property
    def attitude(self) -> att.Quaternion:
        """Body to inertial, scalar first."""
        return self._state.q

    @attitude.setter
    def attitude(self, value: object) -> None:
        self._state = rb.State(self._state.w, _attitude(value))

    @property
    def angles(self) -> att.Angles:
        """Roll, pitch and yaw [rad]."""
        return att.to_angles(self._state.q)

    @property
    def energy(self) -> float:
        """Energy of the rotation [J]."""
        return rb.energy(self._params, self._state.w)

    @property
    def momentum(self) -> rb.Momentum:
        """Angular momentum in body axes [N.m.s]."""
        return rb.momentum(self._params, self._state.w)

    def __repr__(self) -> str:
        return f"RigidBody(inertia={self.inertia}, omega={tuple(self.omega)}, attitude={tuple(self.attitude)})"


Three = tuple[np.float32, np.float32, np.float32]


def _three(what: str, values: object, unit: str) -> Three:
    x, y, z = (single(f"{what}[{i}]", value, unit) for i, value in enumerate(vector(what, values, unit)))
    return x, y, z


def single(what: str, value: float, unit: str) -> np.float32:
    """A float as a float32, which it must fit into."""
    if abs(value) > SINGLE_MAX:
        raise InputError(f"{what} must fit into a float32 [{unit}], got {value:g}; nothing was changed")
    return F(value)


class ReferenceBody:
    """The body of the reference in its own arithmetic, for runs that must repeat the reference's numbers.

    Like the reference it accepts any positive moments, also those that no body has; `RigidBody` refuses them.
    """

    def __init__(self, inertia: object = (1.0, 1.0, 1.0), omega: object = (0.0, 0.0, 0.0), angles: object = (0.0, 0.0, 0.0)) -> None:
        self._inertia = _three("inertia", inertia, "kg.m2")
        for i, value in enumerate(self._inertia):
            number(f"inertia[{i}]", float(value), "kg.m2", lo=1e-30)
        # multiplied by the reciprocal, as the reference does: a division rounds otherwise
        self._inverse = tuple(F(1.0) / value for value in self._inertia)
        self._omega = _three("omega", omega, "rad/s")
        self._angles = _three("angles", angles, "rad")
        self._last_dt = F(0.0)

    def update(self, dt: float, torque: Iterable[float]) -> None:
        """Move on by dt [s] under a torque [N.m]: one explicit step."""
        h = single("dt", number("dt", dt, "s", lo=0.0), "s")
        tx, ty, tz = _three("torque", torque, "N.m")
        Ix, Iy, Iz = self._inertia
        Jx, Jy, Jz = self._inverse
        wx, wy, wz = self._omega
        with np.errstate(over="ignore", invalid="ignore"):
            wx, wy, wz = (
                wx + Jx * (tx - (wy * (Iz * wz) - wz * (Iy * wy))) * h,
                wy + Jy * (ty - (wz * (Ix * wx) - wx * (Iz * wz))) * h,
                wz + Jz * (tz - (wx * (Iy * wy) - wy * (Ix * wx))) * h,
            )
            angles = tuple(theta + w * h for theta, w in zip(self._angles, (wx, wy, wz), strict=True))
        if not all(abs(theta) < TURN_LIMIT for theta in angles) or not all(map(math.isfinite, (wx, wy, wz))):
            raise InputError(
                f"the body would reach {wx:g}, {wy:g}, {wz:g} rad/s in {h:g} s: more than the float32 body can follow; nothing was changed"
            )
        self._omega = (wx, wy, wz)
        self._angles = (wrapped(angles[0]), wrapped(angles[1]), wrapped(angles[2]))
        self._last_dt = h

    @property
    def inertia(self) -> tuple[float, ...]:
        """The three principal moments [kg.m2]."""
        return tuple(map(float, self._inertia))

    @property
    def omega(self) -> tuple[float, ...]:
        """Angular velocity [rad/s]."""
        return tuple(map(float, self._omega))

    @property
    def angles(self) -> tuple[float, ...]:
        """The three integrals of the angular velocity, each wrapped to [-pi, pi] [rad]."""
        return tuple(map(float, self._angles))

    @property
    def last_dt(self) -> float:
        """The length of the last update [s], 0 before the first."""
        return float(self._last_dt)

    @property
    def state(self) -> tuple[Three, Three, np.float32]:
        return self._omega, self._angles, self._last_dt

    @state.setter
    def state(self, value: tuple[Three, Three, np.float32]) -> None:
        self._omega, self._angles, self._last_dt = value

    def __repr__(self) -> str:
        return f"ReferenceBody(inertia={self.inertia}, omega={self.omega}, angles={self.angles})"


def wrapped(theta: np.float32) -> np.float32:
    """Turn by turn, so that the rounding is the reference's too; nan beyond TURN_LIMIT, where a turn less may be the same number in float32."""
    if not abs(theta) < TURN_LIMIT:
        return F(math.nan)
    while theta > F(math.pi):
        theta = theta - F(2.0 * math.pi)
    while theta < F(-math.pi):
        theta = theta + F(2.0 * math.pi)
    return theta
