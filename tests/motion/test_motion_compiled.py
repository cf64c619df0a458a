"""The same profiles compiled: planning and sampling are pure, and give equal bits."""

import math
from typing import Annotated as A
from typing import NamedTuple

import numpy as np
import pytest

from pushrod.compiled.evaluate import evaluate
from pushrod.core.check import problems
from pushrod.core.purity import is_pure, offences, pure
from pushrod.core.quantity import INF, Q
from pushrod.motion import Waypoint, course, easing, follow, make_limits, point_to_point, profile, ramp, ramp_to, s_curve, sample, track, trapezoid
from pushrod.motion.course import Course, where
from pushrod.motion.limits import Limits

MODULES = (course, easing, profile, ramp, s_curve, track, trapezoid)


class Task(NamedTuple):
    x0: A[float, Q("x")] = 0.0
    v0: A[float, Q("x/s")] = 0.0
    a0: A[float, Q("x/s2")] = 0.0
    x1: A[float, Q("x")] = 1.0
    T: A[float, Q("s")] = 0.0
    limits: Limits = Limits()


@pure
def position(p: Task, t: float) -> float:
    return sample(point_to_point(p.x0, p.v0, p.a0, p.x1, p.limits, p.T), t).x


@pure
def speed(p: Task, t: float) -> float:
    return sample(ramp_to(p.x0, p.v0, p.a0, p.x1, p.limits), t).v


@pure
def on_course(p: Course, t: float) -> float:
    return where(p, t).x


def test_every_marked_function_is_pure() -> None:
    marked = [f for module in MODULES for f in vars(module).values() if is_pure(f)]
    assert len(marked) > 20
    for f in marked:
        assert offences(f) == []


@pytest.mark.parametrize("function", [position, speed])
@pytest.mark.parametrize(
    "task",
    [
        Task(limits=Limits(60.0, 120.0)),
        Task(0.0, 2.0, 0.0, 0.1, 0.0, Limits(5.0, 2.0, INF)),
        Task(0.3, -0.4, 1.0, -0.7, 0.0, Limits(1.0, 2.0, 10.0)),
        Task(0.0, 0.0, 0.0, 0.05, 0.0, Limits(1.0, 2.0, 10.0)),
        Task(0.0, 0.5, -1.5, 0.05, 3.0, Limits(1.0, 2.0, 10.0)),
        Task(0.0, 0.0, 0.0, 1.0, 0.0, Limits(2.0, INF, INF)),
        Task(0.0, 0.2, 0.0, 3.0, 0.0, Limits(INF, INF, 4.0)),
    ],
)
def test_planned_and_sampled_in_compiled_code(function, task: Task) -> None:
    times = np.linspace(0.0, 4.0, 41)
    assert list(evaluate(function, task, times)) == [function(task, float(t)) for t in times]


def test_a_trajectory_in_compiled_code() -> None:
    c = follow((Waypoint(1.0, 1.0), Waypoint(-1.0, 2.0, 0.3, 0.1)), 0.0, 0.2, make_limits(5.0, 9.0), passes=math.inf)
    assert list(problems(c)) == []
    times = np.linspace(0.0, 20.0, 101)
    assert list(evaluate(on_course, c, times)) == [on_course(c, float(t)) for t in times]
