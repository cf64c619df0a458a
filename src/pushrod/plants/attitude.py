"""Attitude of a body: unit quaternions and roll, pitch, yaw.

    q = (w, x, y, z), scalar first, Hamilton product; v_inertial = q v_body q*
    roll, pitch, yaw: turn by yaw about z, then by pitch about the new y, then by roll about the new x (3-2-1)

Both describe how the body stands in the inertial frame. q and -q are the same attitude.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp


class Quaternion(NamedTuple):
    w: A[float, Q("-")] = 1.0
    x: A[float, Q("-")] = 0.0
    y: A[float, Q("-")] = 0.0
    z: A[float, Q("-")] = 0.0


class Angles(NamedTuple):
    roll: A[float, Q("rad")] = 0.0
    pitch: A[float, Q("rad")] = 0.0
    yaw: A[float, Q("rad")] = 0.0


@pure
def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """a then b in the frame a leads to: body to inertial times body' to body."""
    return Quaternion(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    )


@pure
def conjugate(q: Quaternion) -> Quaternion:
    """The turn back."""
    return Quaternion(q.w, -q.x, -q.y, -q.z)


@pure
def unit(q: Quaternion) -> Quaternion:
    """q at length one; no turn where there is no length."""
    n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z
    if not n2 > 1e-30:
        return Quaternion(1.0, 0.0, 0.0, 0.0)
    n = math.sqrt(n2)
    return Quaternion(q.w / n, q.x / n, q.y / n, q.z / n)


@pure
def from_angles(a: Angles) -> Quaternion:
    cr = math.cos(0.5 * a.roll)
    sr = math.sin(0.5 * a.roll)
    cp = math.cos(0.5 * a.pitch)
    sp = math.sin(0.5 * a.pitch)
    cy = math.cos(0.5 * a.yaw)
    sy = math.sin(0.5 * a.yaw)
    return Quaternion(
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


@pure
def to_angles(q: Quaternion) -> Angles:
    """Pitch within +-pi/2; near its ends only the sum or difference of roll and yaw means something."""
    sp = clamp(2.0 * (q.w * q.y - q.z * q.x), -1.0, 1.0)
    return Angles(
        math.atan2(2.0 * (q.w * q.x + q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)),
        math.atan2(sp, math.sqrt((1.0 - sp) * (1.0 + sp))),
        math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z)),
    )


@pure
def turn(q: Quaternion) -> float:
    """The angle of the shortest turn that q stands for [rad], 0 to pi."""
    return 2.0 * math.atan2(math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z), abs(q.w))
