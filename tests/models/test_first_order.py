"""The lag against 1 - exp(-t/T), for any cutting of time into steps."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pushrod.models.first_order import Params, State, step

reals = st.floats(-1e3, 1e3)
times = st.floats(0.0, 2.0)


@pytest.mark.parametrize("dt", [1e-4, 0.003, 0.05, 0.7])
@pytest.mark.parametrize("T", [0.01, 0.3, 5.0])
def test_step_response(T: float, dt: float) -> None:
    p, s = Params(T, K=2.0), State()
    for k in range(1, 200):
        s, y = step(p, s, 1.5, dt)
        assert y == pytest.approx(3.0 * -math.expm1(-k * dt / T), rel=1e-12)


@given(reals, reals, st.floats(1e-3, 10.0), times, times)
def test_two_steps_are_one(y: float, u: float, T: float, a: float, b: float) -> None:
    once, _ = step(Params(T), State(y), u, a + b)
    half, _ = step(Params(T), State(y), u, a)
    twice, _ = step(Params(T), half, u, b)
    assert twice.y == pytest.approx(once.y, rel=1e-12, abs=1e-9 * max(abs(y), abs(u), 1e-30))


@given(reals, reals, st.floats(0.0, 1e3), times)
@example(-0.1, 0.3, 0.01, 0.5)  # -0.1 + (0.3 + 0.1) is more than 0.3
def test_stays_between_where_it_was_and_where_it_goes(y: float, u: float, T: float, dt: float) -> None:
    end, _ = step(Params(T), State(y), u, dt)
    assert min(y, u) <= end.y <= max(y, u)


def test_no_time_constant_is_no_lag() -> None:
    assert step(Params(0.0), State(5.0), 0.3, 1e-6) == (State(0.3), 0.3)
    assert step(Params(0.0), State(5.0), 0.3, 0.0) == (State(5.0), 5.0)


def test_small_steps_do_not_drift() -> None:
    """1 - exp(-x) keeps all its digits for small x: a thousand steps of T/10^9 go as far as one of T/10^6."""
    s = State()
    for _ in range(1000):
        s, _ = step(Params(1.0), s, 1.0, 1e-9)
    assert s.y == pytest.approx(-math.expm1(-1e-6), rel=1e-12)
