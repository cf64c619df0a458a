"""The thruster: its static curve, its two time constants, and a reversal cut anyhow."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.models.thruster import Params, State, step

P = Params()
commands = st.floats(-1.0, 1.0)
times = st.floats(0.0, 0.5)


def run(p: Params, s: State, u: float, t: float, n: int) -> State:
    for _ in range(n):
        s, _ = step(p, s, u, t / n)
    return s


@pytest.mark.parametrize(
    ("u", "F"),
    [(1.0, 51.5), (7.0, 51.5), (-1.0, -40.2), (0.0625, 0.0), (-0.05, 0.0), (0.0, 0.0), (0.53125, 51.5 * 0.25), (-0.53125, -40.2 * 0.25)],
)
def test_static_curve(u: float, F: float) -> None:
    _, y = step(P, run(P, State(), u, 20.0, 5), u, 1.0)
    assert pytest.approx(F, rel=1e-12, abs=1e-12) == y.F


def test_speeds_up_and_slows_down_with_its_own_time_constants() -> None:
    up = run(P, State(), 1.0, 0.1, 4)
    assert up.n == pytest.approx(P.n_max * -math.expm1(-0.1 / P.T_rise), rel=1e-12)
    down = run(P, State(300.0), 0.0, 0.1, 4)
    assert down.n == pytest.approx(300.0 * math.exp(-0.1 / P.T_fall), rel=1e-12)
    slower, n_cmd = run(P, State(300.0), 0.53125, 0.1, 3), P.n_max / 2.0
    assert slower.n == pytest.approx(n_cmd + (300.0 - n_cmd) * math.exp(-0.1 / P.T_fall), rel=1e-12)


def test_reversal_slows_with_one_and_speeds_up_with_the_other() -> None:
    """From 200 rad/s to full astern: zero at T_fall log(1 + n / n_max), then T_rise."""
    zero = P.T_fall * math.log(1.0 + 200.0 / P.n_max)
    assert run(P, State(200.0), -1.0, zero * 0.999, 1).n > 0.0
    for n in (1, 2, 17):
        end = run(P, State(200.0), -1.0, zero + 0.07, n)
        assert end.n == pytest.approx(-P.n_max * -math.expm1(-0.07 / P.T_rise), rel=1e-9)


@given(st.floats(-370.0, 370.0), commands, times, times, st.floats(0.0, 0.3), st.floats(0.0, 0.3))
def test_does_not_depend_on_the_step(n: float, u: float, a: float, b: float, rise: float, fall: float) -> None:
    p = P._replace(T_rise=rise, T_fall=fall)
    once = run(p, State(n), u, a + b, 1)
    twice = run(p, run(p, State(n), u, a, 1), u, b, 1)
    assert twice.n == pytest.approx(once.n, rel=1e-9, abs=1e-7)


@given(st.floats(-370.0, 370.0), st.floats(-3.0, 3.0), st.floats(0.0, 1.0))
def test_never_beyond_full_thrust_and_always_with_the_sign_of_the_speed(n: float, u: float, dt: float) -> None:
    s, y = step(P, State(n), u, dt)
    assert -40.2 * (1.0 + 1e-12) <= y.F <= 51.5 * (1.0 + 1e-12)
    assert y.F * s.n >= 0.0
