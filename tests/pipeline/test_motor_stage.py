"""Stage 3, the ESC and what comes back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.check import problems
from pushrod.pipeline.act import Esc
from pushrod.pipeline.allocate.two_motor import Bounds
from pushrod.pipeline.esc import from_pulse, to_pulse
from pushrod.pipeline.motor_stage import Params, State, step


def test_the_parts_act_in_their_order() -> None:
    p = Params(gain=2.0, offset=0.1, lo=-0.8, hi=0.8, deadband=0.2, up=1.0, down=4.0)
    _, y = step(p, State(0.5), 0.5, 0.1)
    assert y == pytest.approx((1.1, 0.8, 0.8, 0.6, 0.6, 0.6))
    _, y = step(p, State(0.5), 0.0, 0.1)
    assert y == pytest.approx((0.1, 0.1, 0.0, 0.1, 0.1, 0.1))  # through the dead band on its way


def test_a_dead_band_needs_a_zero_that_is_allowed() -> None:
    assert step(Params(lo=0.05, deadband=0.2), State(), 0.1, 0.01)[1].banded == 0.1
    assert step(Params(lo=-0.05, deadband=0.2), State(), 0.1, 0.01)[1].banded == 0.0


@given(st.floats(-5.0, 5.0), st.floats(-1.0, 1.0), st.floats(0.0, 20.0), st.floats(1e-4, 0.1))
def test_no_output_beyond_bounds_or_quicker_than_its_slew(u: float, last: float, rate: float, dt: float) -> None:
    p = Params(0.7, 0.2, -0.5, 0.6, -0.9, 0.9, 0.1, rate, 0.5 * rate)
    s, y = step(p, State(last), u, dt)
    start = min(max(last, -0.9), 0.9)
    assert -0.9 <= y.y <= 0.9
    assert start - 0.5 * rate * dt - 1e-15 <= y.y <= start + rate * dt + 1e-15
    assert s.u == y.y


@given(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 0.05))
def test_through_is_the_output_without_the_dead_band(u: float, last: float, band: float, dt: float) -> None:
    p = Params(0.7, 0.2, -0.5, 0.6, -0.9, 0.9, band, 10.0, 5.0)
    assert step(p, State(last), u, dt)[1].through == step(p._replace(deadband=0.0), State(last), u, dt)[1].y


@pytest.mark.parametrize("dt", [0.0, -0.1, math.nan, math.inf, 2e9])
def test_a_tick_that_is_no_time_moves_nothing(dt: float) -> None:
    s, y = step(Params(up=1.0, down=1.0), State(0.3), 0.8, dt)
    assert (s.u, y.y) == (0.3, 0.3)


def test_bounds_the_wrong_way_round_are_told() -> None:
    assert [text.split(" ")[0] for text in problems(Params(lo=0.5, hi=0.4, hw_lo=1.0, hw_hi=-1.0))] == ["lo", "hw_lo"]
    assert [text.split(" ")[0] for text in problems(Bounds(0.1, 0.0, -1.0, -2.0))] == ["a_L", "a_R"]


@given(st.floats(-1.0, 1.0), st.sampled_from([0.0, 1.0]))
def test_a_pulse_and_back(u: float, reverse: float) -> None:
    p = Esc(1000.0, 1480.0, 1900.0)
    pulse = to_pulse(p, u, reverse)
    assert 1000.0 <= pulse <= 1900.0
    assert from_pulse(p, pulse, reverse) == pytest.approx(u, abs=1e-12)


def test_pulses_at_the_ends_and_the_middle() -> None:
    p = Esc(1000.0, 1480.0, 1900.0)
    assert [to_pulse(p, u, 0.0) for u in (-1.0, 0.0, 1.0, 3.0)] == [1000.0, 1480.0, 1900.0, 1900.0]
    assert to_pulse(p, 1.0, 1.0) == 1000.0
    one_way = Esc(1000.0, 1000.0, 2000.0)
    assert not list(problems(one_way))
    assert [to_pulse(one_way, u, 0.0) for u in (0.0, 0.5, -0.5)] == [1000.0, 1500.0, 1000.0]
    assert any("reverse_L" in text for text in problems(one_way._replace(reverse_L=1.0)))
