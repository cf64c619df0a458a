"""Forward kinematics against matrix products worked out otherwise: numpy matrices, and turns as matrix exponentials."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import robots

from counts import examples
from pushrod.core.errors import InputError, UnknownNameError
from pushrod.robot import Joint, Limits, Mimic, Origin, Robot, Transform, forward


def cross(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def exponential(m):
    """Of a small square matrix, by scaling, Taylor and squaring."""
    term, total, small = np.eye(len(m)), np.eye(len(m)), m / 2.0**6
    for k in range(1, 14):
        term = term @ small / k
        total = total + term
    for _ in range(6):
        total = total @ total
    return total


def homogeneous(rotation, position):
    t = np.eye(4)
    t[:3, :3], t[:3, 3] = rotation, position
    return t


def by_exponentials(robot, q):
    """Up from each link to the root, rather than down."""
    above = {j.child: j for j in robot.joints}
    found = {}
    for link in robot.links:
        t, at = np.eye(4), link.name
        while at in above:
            j = above[at]
            roll, pitch, yaw = j.origin.rpy
            turn = exponential(cross((0, 0, yaw))) @ exponential(cross((0, pitch, 0))) @ exponential(cross((roll, 0, 0)))
            value, axis = q.get(j.name, 0.0), None if j.axis is None else np.array(j.axis) / np.linalg.norm(j.axis)
            moved = np.eye(4)
            if j.mimic is not None:
                value = j.mimic.multiplier * q.get(j.mimic.joint, 0.0) + j.mimic.offset
            if j.kind in ("revolute", "continuous"):
                moved = homogeneous(exponential(cross(axis * value)), 0)
            elif j.kind == "prismatic":
                moved = homogeneous(np.eye(3), axis * value)
            t = homogeneous(turn, j.origin.xyz) @ moved @ t
            at = j.parent
        found[link.name] = t
    return found


def matrix_of(quaternion):
    w, x, y, z = quaternion
    return np.eye(3) + 2 * w * cross((x, y, z)) + 2 * cross((x, y, z)) @ cross((x, y, z))


@settings(max_examples=examples(40))
@given(robots(), st.data())
def test_every_link_is_where_the_product_of_matrices_says(robot, data):
    chosen = [j for j in robot.joints if j.mimic is None and j.kind in ("revolute", "continuous", "prismatic")]
    small = [
        Joint(j.name, j.kind, j.parent, j.child, Origin(j.origin.xyz, tuple(math.remainder(a, math.tau) for a in j.origin.rpy)), j.axis, j.limits)
        for j in robot.joints
    ]
    robot = Robot(robot.name, robot.links, small, parameters=robot.parameters)
    q = {j.name: data.draw(st.floats(-3, 3)) for j in chosen}
    found = forward(robot, q)
    expected = by_exponentials(robot, q)
    assert found.keys() == expected.keys()
    for link, transform in found.items():
        np.testing.assert_allclose(transform.matrix(), expected[link], rtol=0, atol=1e-8)
        np.testing.assert_allclose(matrix_of(transform.quaternion()), expected[link][:3, :3], rtol=0, atol=1e-9)
        assert math.isclose(sum(x * x for x in transform.quaternion()), 1.0, rel_tol=1e-12)


ONE = Limits(-9, 9, 1, effort=1)


def test_a_joint_that_mimics_moves_with_the_other():
    robot = Robot(
        "gripper",
        ["base", "left", "right"],
        [
            Joint("slide", "prismatic", "base", "left", axis=(0, 2, 0), limits=ONE),
            Joint("follow", "prismatic", "base", "right", axis=(0, -1, 0), limits=ONE, mimic=Mimic("slide", 2.0, 0.5)),
        ],
    )
    found = forward(robot, {"slide": 0.25})
    assert found["left"].position == (0.0, 0.25, 0.0)
    assert found["right"].position == (0.0, -1.0, 0.0)


def test_planar_and_floating_joints_take_a_transform():
    robot = Robot("r", ["a", "b"], [Joint("free", "floating", "a", "b", Origin((1, 0, 0), (0, 0, math.pi / 2)))])
    assert forward(robot)["b"].position == (1.0, 0.0, 0.0)
    assert forward(robot, {"free": Transform((1.0, 0.0, 2.0))})["b"].position == pytest.approx((1, 1, 2))
    with pytest.raises(InputError, match="joint 'free' is floating and takes a Transform, got 1.0"):
        forward(robot, {"free": 1.0})


def test_what_is_no_joint_position_is_refused():
    robot = Robot("r", ["a", "b", "c"], [Joint("j", "prismatic", "a", "b", limits=ONE), Joint("k", "fixed", "b", "c")])
    for wrong in (math.nan, math.inf, "1", True, None):
        with pytest.raises(InputError, match=r"joint 'j' stands at a finite number \[m\]"):
            forward(robot, {"j": wrong})
    with pytest.raises(InputError, match="joint 'k' is fixed and takes no position"):
        forward(robot, {"k": 0.0})
    with pytest.raises(UnknownNameError, match="no joint named 'jj'"):
        forward(robot, {"jj": 0.0})


def test_a_robot_without_links_is_nowhere():
    assert forward(Robot("r")) == {}
