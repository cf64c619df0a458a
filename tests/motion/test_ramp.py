"""Ramps from one velocity to another, and coming to rest."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import check_joined, phases

from pushrod.motion import halt, make_limits, ramp_to, sample
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Sample, at

rates = st.floats(-5.0, 5.0)
bounds = st.builds(Limits, st.just(math.inf), st.floats(0.1, 10.0), st.floats(0.5, 50.0) | st.just(math.inf))


def test_constant_acceleration() -> None:
    p = ramp_to(1.0, 0.5, 0.0, 2.5, make_limits(a=4.0))
    assert p.T == 0.5
    assert sample(p, 0.25) == (pytest.approx(1.0 + 0.125 + 0.125), pytest.approx(1.5), 4.0)
    assert sample(p, 2.5) == (pytest.approx(1.0 + 0.75 + 5.0), 2.5, 0.0)


def test_under_a_jerk_limit() -> None:
    p = ramp_to(0.0, 0.0, 0.0, 1.0, make_limits(a=2.0, j=10.0))
    assert pytest.approx(1.0 / 2.0 + 2.0 / 10.0) == p.T
    assert sample(p, 0.2).a == pytest.approx(2.0)
    assert sample(p, p.T).x == pytest.approx(0.5 * p.T)  # the curve is symmetric, so the mean velocity is half the last


def test_without_limits_the_velocity_jumps() -> None:
    assert sample(ramp_to(1.0, 0.0, 0.0, 2.0, make_limits()), 0.5) == (2.0, 2.0, 0.0)


def test_halting() -> None:
    assert sample(halt(3.0, 2.0, 0.0, make_limits(a=1.0), 1.0), 0.0) == (3.0, 0.0, 0.0)
    slow = halt(3.0, 2.0, 0.0, make_limits(a=1.0), 0.0)
    assert sample(slow, 0.0).v == 2.0
    assert sample(slow, 2.0) == (pytest.approx(5.0), 0.0, 0.0)
    assert sample(halt(3.0, 2.0, 0.0, make_limits(), 0.0), 0.0) == (3.0, 0.0, 0.0)  # nothing limits the braking


@given(rates, rates, st.floats(-8.0, 8.0), rates, bounds)
def test_laws(x0: float, v0: float, a0: float, v1: float, limits: Limits) -> None:
    start = Sample(x0, v0, a0)
    p = ramp_to(*start, v1, limits)
    check_joined(p, start, order=2 if limits.j < math.inf else 1)
    assert sample(p, p.T + 1.0).v == v1
    top = max(limits.a, abs(a0) if limits.j < math.inf else 0.0)
    for begin, end, phase in phases(p):
        assert abs(phase.j) <= limits.j
        assert max(abs(at(phase, begin).a), abs(at(phase, end).a)) <= top * (1.0 + 1e-9)
    # nothing is quicker: |dv| / a, and more where the acceleration has to be built up
    assert abs(v1 - v0) / top - 1e-9 <= p.T
