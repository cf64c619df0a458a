"""Forward kinematics: where every link is, seen from the root link, for given joint positions.

    T_child = T_parent  T(origin)  T(joint)

    T(origin)   xyz, then Rz(yaw) Ry(pitch) Rx(roll)
    T(joint)    a turn by q about the axis (revolute, continuous), a shift by q along it (prismatic); the axis lies in the joint's frame
    q           [rad or m], right-handed; 0 where not given; multiplier q_other + offset where the joint mimics another

A planar or floating joint takes a Transform instead of a number.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from pushrod.core.errors import InputError
from pushrod.core.names import find
from pushrod.robot.description import Joint, Origin, Robot
from pushrod.robot.joint import actuated
from pushrod.robot.link import ZERO, Vector

Rows = tuple[Vector, Vector, Vector]
UNIT: Rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Transform(NamedTuple):
    """A frame in another: its position [m], and its axes as the columns of a rotation matrix given by rows."""

    position: Vector = ZERO
    rotation: Rows = UNIT

    def apply(self, point: Vector) -> Vector:
        """A point of this frame, in the outer one."""
        x, y, z = (p + _dot(row, point) for p, row in zip(self.position, self.rotation, strict=True))
        return x, y, z

    def then(self, inner: "Transform") -> "Transform":
        """A frame given in this one, in the outer one."""
        columns = tuple(zip(*inner.rotation, strict=True))
        a, b, c = ((_dot(row, columns[0]), _dot(row, columns[1]), _dot(row, columns[2])) for row in self.rotation)
        return Transform(self.apply(inner.position), (a, b, c))

    def matrix(self) -> tuple[tuple[float, float, float, float], ...]:
        """4 x 4, by rows."""
        return (*((*row, p) for row, p in zip(self.rotation, self.position, strict=True)), (0.0, 0.0, 0.0, 1.0))

    def quaternion(self) -> tuple[float, float, float, float]:
        """(w, x, y, z) of length 1 with w >= 0."""
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self.rotation
        # the largest of the four is found first, so that nothing small is divided by
        squares = (1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz)
        rows = (
            (squares[0], zy - yz, xz - zx, yx - xy),
            (zy - yz, squares[1], xy + yx, xz + zx),
            (xz - zx, xy + yx, squares[2], yz + zy),
            (yx - xy, xz + zx, yz + zy, squares[3]),
        )
        row = rows[squares.index(max(squares))]
        length = math.copysign(math.sqrt(sum(x * x for x in row)), row[0])
        w, x, y, z = (part / length for part in row)
        return w, x, y, z


def forward(robot: Robot, positions: Mapping[str, "float | Transform"] | None = None) -> dict[str, Transform]:
    """The frame of every link by name; joints that are not mentioned stand at 0."""
    given = positions or {}
    joints = {joint.name: joint for joint in robot.joints}
    for name, q in given.items():
        _check(find(joints, name, "joint"), q)
    below: dict[str, list[Joint]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in robot.joints}
    found = {link.name: Transform() for link in robot.links if link.name not in children}
    links = list(found)
    while links:
        parent = links.pop()
        for joint in below.get(parent, ()):
            found[joint.child] = found[parent].then(placed(joint.origin)).then(_motion(joint, joints, given))
            links.append(joint.child)
    return found


def placed(origin: Origin) -> Transform:
    """The frame at an origin."""
    (cr, cp, cy), (sr, sp, sy) = map(math.cos, origin.rpy), map(math.sin, origin.rpy)
    rotation = (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )
    return Transform(origin.xyz, rotation)


def turned(axis: Vector, angle: float) -> Rows:
    """The turn by an angle [rad] about an axis of any length."""
    n = math.hypot(*axis)
    x, y, z = (part / n for part in axis)
    c, s = math.cos(angle), math.sin(angle)
    v = 1.0 - c
    return (
        (c + x * x * v, x * y * v - z * s, x * z * v + y * s),
        (y * x * v + z * s, c + y * y * v, y * z * v - x * s),
        (z * x * v - y * s, z * y * v + x * s, c + z * z * v),
    )


def _motion(joint: Joint, joints: Mapping[str, Joint], given: Mapping[str, "float | Transform"]) -> Transform:
    if not actuated(joint.kind) or joint.axis is None:
        q = given.get(joint.name)
        return q if isinstance(q, Transform) else Transform()
    angle = _position(joint, joints, given)
    if joint.angular:
        return Transform(ZERO, turned(joint.axis, angle))
    n = math.hypot(*joint.axis)
    x, y, z = (angle * part / n for part in joint.axis)
    return Transform((x, y, z))


def _position(joint: Joint, joints: Mapping[str, Joint], given: Mapping[str, "float | Transform"]) -> float:
    q = given.get(joint.name)
    if isinstance(q, (int, float)):
        return q
    return 0.0 if joint.mimic is None else joint.mimic.multiplier * _position(joints[joint.mimic.joint], joints, given) + joint.mimic.offset


def _check(joint: Joint, q: object) -> None:
    if actuated(joint.kind):
        if isinstance(q, bool) or not isinstance(q, (int, float)) or not math.isfinite(q):
            raise InputError(f"joint {joint.name!r} stands at a finite number [{'rad' if joint.angular else 'm'}], got {q!r}")
    elif joint.kind == "fixed" or not isinstance(q, Transform):
        raise InputError(f"joint {joint.name!r} is {joint.kind} and takes {'no position' if joint.kind == 'fixed' else 'a Transform'}, got {q!r}")


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
