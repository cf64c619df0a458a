"""The second-order actuator against its closed solution; its limits against anything."""

import cmath
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.models.second_order import Params, State, step

FREE = {"rate": 1e9, "lo": -1e9, "hi": 1e9}


def run(p: Params, s: State, u: float, t: float, n: int) -> State:
    for _ in range(n):
        s, _ = step(p, s, u, t / n)
    return s


def closed(w: float, z: float, t: float) -> tuple[float, float]:
    """Unit step response and its rate from the two roots of the characteristic equation (distinct ones)."""
    root = cmath.sqrt(z * z - 1.0)
    a, b = w * (-z + root), w * (-z - root)
    y = 1.0 + (b * cmath.exp(a * t) - a * cmath.exp(b * t)) / (a - b)
    v = a * b * (cmath.exp(a * t) - cmath.exp(b * t)) / (a - b)
    return y.real, v.real


@pytest.mark.parametrize("z", [0.0, 0.1, 0.7, 0.999, 1.001, 1.5, 20.0])
@pytest.mark.parametrize("w", [0.5, 30.0, 2000.0])
def test_step_response(w: float, z: float) -> None:
    for t, n in ((0.001, 1), (0.05, 3), (0.3, 1), (0.3, 50)):
        s = run(Params(w, z, **FREE), State(), 1.0, t, n)
        y, v = closed(w, z, t)
        assert s.y == pytest.approx(y, abs=1e-10)
        assert s.v == pytest.approx(v, abs=1e-10 * max(1.0, w))


def test_critical_damping() -> None:
    """y = 1 - (1 + w t) exp(-w t), where both roots are one."""
    s = run(Params(30.0, 1.0, **FREE), State(), 1.0, 0.08, 3)
    assert s.y == pytest.approx(1.0 - (1.0 + 30.0 * 0.08) * math.exp(-30.0 * 0.08), abs=1e-13)


@given(st.floats(0.1, 300.0), st.floats(0.0, 3.0), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), st.floats(1e-3, 0.2), st.floats(1e-3, 0.2))
def test_free_motion_does_not_depend_on_the_step(w: float, z: float, y: float, u: float, a: float, b: float) -> None:
    p = Params(w, z, **FREE)
    once = run(p, State(y, 0.3), u, a + b, 1)
    twice = run(p, run(p, State(y, 0.3), u, a, 1), u, b, 1)
    assert twice.y == pytest.approx(once.y, abs=1e-10)
    assert twice.v == pytest.approx(once.v, abs=1e-10 * max(1.0, w))


@given(
    st.builds(Params, st.floats(0.0, 1e5), st.floats(0.0, 5.0), st.floats(0.0, 10.0), st.floats(-1.0, 0.0), st.floats(0.0, 1.0)),
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=10),
    st.floats(1e-5, 0.1),
)
@settings(max_examples=examples(60))
def test_limits_are_never_exceeded(p: Params, commands: list[float], dt: float) -> None:
    s = State()
    for u in commands:
        e, y = step(p, s, u, dt)
        assert p.lo <= e.y <= p.hi
        assert abs(e.v) <= p.rate
        assert abs(e.y - s.y) <= p.rate * dt * (1.0 + 1e-12) + 1e-12
        assert (y.y, y.v) == (e.y, e.v)
        s = e


def test_a_long_way_is_made_at_the_rate() -> None:
    """A far command: after speeding up, which costs rate^2 / (2 acceleration), it is a ramp of the rate."""
    p = Params(30.0, 0.7, rate=5.0, lo=-1e3, hi=1e3)
    for n in (10, 100):
        s = run(p, State(), 100.0, 1.0, n)
        assert s.v == 5.0
        assert s.y == pytest.approx(5.0 - 5.0 * 5.0 / (2.0 * 30.0 * 30.0 * 100.0), abs=1e-6)


def test_error_at_the_limits_shrinks_with_the_step() -> None:
    p = Params(30.0, 0.7, rate=3.0)
    fine = run(p, State(), 0.7, 0.4, 40_000)
    error = [abs(run(p, State(), 0.7, 0.4, n).y - fine.y) for n in (4, 400, 4000)]
    assert error[0] < 1e-4
    assert error[1] < 1e-5
    assert error[2] < 1e-7


def test_nothing_winds_up_against_a_stop() -> None:
    p = Params(30.0, 0.7, rate=5.0, lo=-1.0, hi=1.0)
    held = run(p, State(), 50.0, 2.0, 200)
    assert held == State(1.0, 0.0)
    left, _ = step(p, held, 0.0, 0.005)
    fresh, _ = step(p, State(1.0, 0.0), 0.0, 0.005)
    assert left == fresh
    assert left.y < 1.0


@pytest.mark.parametrize("z", [0.0, 0.7, 1.0, 5.0])
def test_without_stiffness_it_keeps_its_speed(z: float) -> None:
    s = run(Params(0.0, z, **FREE), State(0.5, 2.0), -3.0, 0.3, 7)
    assert s.y == pytest.approx(0.5 + 2.0 * 0.3, rel=1e-12)
    assert s.v == pytest.approx(2.0, rel=1e-12)


def test_the_rate_is_reached_at_the_right_moment() -> None:
    """A part in which the limit begins to act, with and against the damping: speed up with the acceleration of its start, then the rate."""
    p = Params(2.0, 3.0, rate=1.0, lo=-1e3, hi=1e3)
    for v0 in (-0.9, 0.5, 0.9):
        s, _ = step(p, State(0.0, v0), 40.0, 0.01)
        a = 4.0 * 40.0 - 2.0 * 3.0 * 2.0 * v0
        t = (1.0 - v0) / a
        if t < 0.01:
            assert s == (pytest.approx(0.5 * (v0 + 1.0) * t + (0.01 - t), abs=1e-9), 1.0)


def test_no_part_of_a_step_is_faster_than_the_rate() -> None:
    """It may end within its rate and have been faster on the way: a stiff spring through its goal."""
    p = Params(60.0, 0.0, rate=2.0, lo=-1e3, hi=1e3)
    s = State(-0.03, 1.9)
    for _ in range(200):
        e, _ = step(p, s, 0.0, 0.002)
        assert abs(e.y - s.y) <= 2.0 * 0.002 * (1.0 + 1e-12)
        s = e


def test_stops_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"lo = 1 lies above hi = -1"):
        check(Params(lo=1.0, hi=-1.0))
