"""The joint against the closed solution of its equation, and its dry friction against what friction may do."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.plants.joint import Params, State, step

torques = st.floats(-5.0, 5.0)
speeds = st.floats(-20.0, 20.0)
params = st.builds(Params, st.floats(1e-4, 1.0), st.floats(0.0, 2.0), st.floats(0.0, 2.0))
times = st.floats(1e-4, 0.1)


def run(p: Params, s: State, tau: float, t: float, n: int) -> State:
    for _ in range(n):
        s, _ = step(p, s, tau, t / n)
    return s


def test_run_up_from_rest() -> None:
    """w = (tau - c)/b (1 - exp(-t b/J)), q its integral."""
    p = Params(J=0.02, b=0.05, c=0.1)
    w_end, T = (0.6 - 0.1) / 0.05, 0.02 / 0.05
    for t, n in ((0.01, 1), (0.3, 7), (2.0, 1), (2.0, 400)):
        s = run(p, State(), 0.6, t, n)
        assert s.w == pytest.approx(w_end * -math.expm1(-t / T), rel=1e-12)
        assert s.q == pytest.approx(w_end * (t - T * -math.expm1(-t / T)), rel=1e-11)


def test_without_friction_a_torque_accelerates() -> None:
    s = run(Params(J=2.0, b=0.0, c=0.0), State(0.5, 1.0), 3.0, 4.0, 9)
    assert s.w == pytest.approx(1.0 + 3.0 / 2.0 * 4.0, rel=1e-13)
    assert s.q == pytest.approx(0.5 + 4.0 + 0.5 * 1.5 * 16.0, rel=1e-13)


def test_dry_friction_stops_it_where_energy_says() -> None:
    """J w^2 / 2 = c * distance, whatever the step; then it holds to the last bit."""
    for n in (10, 37, 5000):
        s = run(Params(J=0.5, b=0.0, c=0.4), State(0.0, 3.0), 0.0, 5.0, n)
        assert s.w == 0.0
        assert s.q == pytest.approx(0.5 * 0.5 * 9.0 / 0.4, rel=1e-12)
        assert run(Params(J=0.5, b=0.0, c=0.4), s, 0.3999, 5.0, 3) == s


def test_stop_with_viscous_friction_too() -> None:
    """Stops at t = J/b log(1 + b w/c), having turned J/b (w - c t/J)."""
    p, w = Params(J=0.02, b=0.05, c=0.1), 4.0
    stop = p.J / p.b * math.log(1.0 + p.b * w / p.c)
    turned = p.J / p.b * (w - p.c * stop / p.J)
    for n in (1, 9, 90):
        assert run(p, State(0.0, w), 0.0, 1.0, n) == State(pytest.approx(turned, rel=1e-12), 0.0)


@given(params, speeds, torques, times, times)
def test_does_not_depend_on_the_step_through_rest_and_reversal(p: Params, w: float, tau: float, a: float, b: float) -> None:
    once = run(p, State(0.0, w), tau, a + b, 1)
    twice = run(p, run(p, State(0.0, w), tau, a, 1), tau, b, 1)
    assert twice.w == pytest.approx(once.w, rel=1e-9, abs=1e-9)
    assert twice.q == pytest.approx(once.q, rel=1e-9, abs=1e-9)


@given(params, speeds, times)
def test_free_motion_never_reverses_and_never_gains_speed(p: Params, w: float, dt: float) -> None:
    e, _ = step(p, State(0.0, w), 0.0, dt)
    assert e.w * w >= 0.0
    assert abs(e.w) <= abs(w)
    assert e.q * w >= 0.0


@given(params, st.floats(-1.0, 1.0), times)
def test_sticks_while_the_torque_is_below_the_dry_friction(p: Params, share: float, dt: float) -> None:
    assert step(p, State(0.7, 0.0), share * p.c, dt)[0] == State(0.7, 0.0)


@given(params, speeds, torques, times)
def test_friction_never_adds_energy(p: Params, w: float, tau: float, dt: float) -> None:
    e, _ = step(p, State(0.0, w), tau, dt)
    gained, work = 0.5 * p.J * (e.w * e.w - w * w), tau * e.q
    assert gained <= work + 1e-9 * (1.0 + abs(work) + p.J * w * w)
