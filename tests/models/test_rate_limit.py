"""The rate limit: never faster than it may, exact for a held input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.models.rate_limit import Params, State, step

reals = st.floats(-1e3, 1e3)
rates = st.floats(0.0, 1e4)


@given(reals, st.lists(reals, min_size=1, max_size=20), rates, rates, st.floats(1e-4, 0.1))
def test_never_faster_than_it_may(y: float, inputs: list[float], rise: float, fall: float, dt: float) -> None:
    s = State(y)
    for u in inputs:
        e, _ = step(Params(rise, fall), s, u, dt)
        assert -fall * dt - 1e-12 * 1e3 <= e.y - s.y <= rise * dt + 1e-12 * 1e3
        assert min(u, s.y) <= e.y <= max(u, s.y)
        s = e


def test_ramp_up_and_down() -> None:
    p, s, seen = Params(rise=2.0, fall=5.0), State(), []
    for u in [1.0] * 6 + [-1.0] * 5:
        s, y = step(p, s, u, 0.1)
        seen.append(y)
    assert seen == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 0.5, 0.0, -0.5, -1.0, -1.0], abs=1e-12)


@given(reals, reals, rates, rates, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_two_steps_are_one(y: float, u: float, rise: float, fall: float, a: float, b: float) -> None:
    p = Params(rise, fall)
    once, _ = step(p, State(y), u, a + b)
    half, _ = step(p, State(y), u, a)
    twice, _ = step(p, half, u, b)
    assert twice.y == pytest.approx(once.y, abs=1e-9)


def test_an_input_slow_enough_passes_untouched() -> None:
    p, s = Params(1.0, 1.0), State()
    for k in range(100):
        s, y = step(p, s, 0.0099 * k, 0.01)
        assert y == 0.0099 * k
