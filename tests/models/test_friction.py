"""Friction: where and when it ends a motion, when it holds, and what it may never do."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.models.friction import In, Params, State, step

torques = st.floats(-5.0, 5.0)
speeds = st.floats(-20.0, 20.0)
times = st.floats(1e-5, 0.1)
inertias = st.floats(1e-4, 10.0)
params = st.builds(
    lambda c, more, w_s, b, mu: Params(c, c + more, w_s, b, mu),
    st.floats(0.0, 2.0),
    st.floats(0.0, 2.0),
    st.floats(0.01, 5.0),
    st.floats(0.0, 2.0),
    st.floats(0.0, 0.5),
)


def coast(p: Params, J: float, w: float, t: float, n: int) -> tuple[float, float]:
    """Angle and speed after running free for t; the angle by the mean speed of each step."""
    q = 0.0
    for _ in range(n):
        _, y = step(p, State(), In(0.0, w, J), t / n)
        q += 0.5 * (w + y.w) * t / n
        w = y.w
    return q, w


def test_coulomb_stop_distance() -> None:
    """J w^2 / 2 = c q."""
    p = Params(c=0.4, s=0.4, b=0.0)
    q, w = coast(p, 0.5, 3.0, 5.0, 2000)
    assert w == 0.0
    assert q == pytest.approx(0.5 * 0.5 * 9.0 / 0.4, rel=1e-5)


@given(params, torques, speeds, inertias, times, times)
def test_without_stribeck_it_does_not_depend_on_the_step(p: Params, tau: float, w: float, J: float, a: float, b: float) -> None:
    """Through rest and reversal too."""
    p = p._replace(s=p.c)
    _, once = step(p, State(), In(tau, w, J), a + b)
    _, half = step(p, State(), In(tau, w, J), a)
    _, twice = step(p, State(), In(tau, half.w, J), b)
    assert twice.w == pytest.approx(once.w, rel=1e-9, abs=1e-9)


def test_viscous_decay() -> None:
    """w = w0 exp(-b t / J), whatever the step."""
    p = Params(c=0.0, s=0.0, b=0.3)
    for n in (1, 7, 100):
        assert coast(p, 0.2, 5.0, 0.9, n)[1] == pytest.approx(5.0 * math.exp(-0.3 * 0.9 / 0.2), rel=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("b", [0.0, 0.7, 7.0])
def test_a_torque_turns_it_round_within_a_step(sign: float, b: float) -> None:
    """J dw/dt = -(tau + c) - b w until it rests, then -(tau - c) - b w for what is left of the step."""
    J, w, tau, c, dt = 0.1, 1.0, 3.0, 0.5, 0.06
    t = J / b * math.log(1.0 + b * w / (tau + c)) if b > 0.0 else J * w / (tau + c)
    assert 0.0 < t < dt
    back = (tau - c) / b * (1.0 - math.exp(-b * (dt - t) / J)) if b > 0.0 else (tau - c) * (dt - t) / J
    _, y = step(Params(c, c, 1.0, b), State(), In(-sign * tau, sign * w, J), dt)
    assert y.w == pytest.approx(-sign * back, rel=1e-12)
    assert y.stuck == 0.0


def test_terminal_speed() -> None:
    """A constant torque ends at w = (tau - c) / b."""
    w = 0.0
    for _ in range(100):
        _, y = step(Params(c=0.1, s=0.15, w_s=0.05, b=0.2), State(), In(1.1, w, 0.05), 0.1)
        w = y.w
    assert w == pytest.approx((1.1 - 0.1) / 0.2, rel=1e-12)
    assert y.f == pytest.approx(-1.1, rel=1e-12)


def test_stribeck_brakes_harder_when_slow_and_converges_with_the_step() -> None:
    p = Params(c=0.2, s=0.5, w_s=1.0, b=0.0)
    fine, _ = coast(p, 0.3, 4.0, 10.0, 100_000)
    error = [abs(coast(p, 0.3, 4.0, 10.0, n)[0] - fine) for n in (250, 500, 1000, 2000)]
    assert all(b < 0.65 * a for a, b in itertools.pairwise(error))
    assert fine < 0.5 * 0.3 * 16.0 / 0.2, "shorter than with Coulomb friction alone"
    assert fine > 0.5 * 0.3 * 16.0 / 0.5


def test_load_adds_to_the_budget() -> None:
    p = Params(c=0.1, s=0.1, b=0.0, mu=0.3)
    _, y = step(p, State(), In(0.69, 0.0, 0.01, load=-2.0), 0.01)
    assert (y.w, y.stuck) == (0.0, 1.0)
    _, y = step(p, State(), In(0.71, 0.0, 0.01, load=-2.0), 0.01)
    assert y.w == pytest.approx(0.01 * 0.01 / 0.01)
    assert y.stuck == 0.0


@given(params, st.floats(-1.0, 1.0), inertias, times)
def test_sticks_exactly_up_to_the_break_away_level(p: Params, share: float, J: float, dt: float) -> None:
    tau = share * p.s
    _, y = step(p, State(), In(tau, 0.0, J), dt)
    assert y.w == 0.0
    assert y.f == -tau
    assert y.stuck == 1.0


@given(params, speeds, inertias, times)
def test_left_alone_it_slows_and_never_turns_back(p: Params, w: float, J: float, dt: float) -> None:
    _, y = step(p, State(), In(0.0, w, J), dt)
    assert y.w * w >= 0.0
    assert abs(y.w) <= abs(w)


@given(params, torques, speeds, inertias, times)
def test_never_pushes(p: Params, tau: float, w: float, J: float, dt: float) -> None:
    """Friction takes the speed nearer to rest than it would be without, and opposes a motion that keeps its direction."""
    _, y = step(p, State(), In(tau, w, J), dt)
    without = w + dt * tau / J
    if (y.w > 0.0 and w > 0.0) or (y.w < 0.0 and w < 0.0):
        assert y.f * w <= 1e-9 * J / dt
        assert abs(y.w) <= abs(without) + 1e-12 or without * w < 0.0
    else:
        assert y.w * tau >= 0.0, "only the torque can turn it"
        assert abs(y.w) <= abs(dt * tau / J) * (1.0 + 1e-12)


@given(params, torques, speeds, inertias, times)
def test_the_torque_it_reports_is_the_one_that_acted(p: Params, tau: float, w: float, J: float, dt: float) -> None:
    _, y = step(p, State(), In(tau, w, J), dt)
    assert w + dt * (tau + y.f) / J == pytest.approx(y.w, abs=1e-9)


@given(params, torques, st.one_of(st.just(0.0), speeds.filter(lambda w: abs(w) > 0.1)), st.floats(0.01, 10.0))
def test_what_it_reports_in_no_time_is_what_it_gives_in_hardly_any(p: Params, tau: float, w: float, J: float) -> None:
    _, now = step(p, State(), In(tau, w, J), 0.0)
    _, soon = step(p, State(), In(tau, w, J), 1e-7)
    assert now.w == w
    assert now.f == pytest.approx(soon.f, abs=1e-3)
    assert now.stuck == soon.stuck


def test_a_break_away_level_below_coulomb_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"drag\.s = 0\.1 N\.m, the break-away level, is below c = 0\.2 N\.m: set s to at least c"):
        check(Params(c=0.2, s=0.1), "drag")
