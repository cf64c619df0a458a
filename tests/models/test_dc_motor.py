"""The motor against its closed solutions, electrical alone and with a rotor on it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.models.dc_motor import In, Out, Params, State, step
from pushrod.plants import joint

P = Params(R=2.0, L=1e-3, k=0.05, v_max=24.0, i_max=1e4)


def run(p: Params, s: State, u: In, t: float, n: int) -> tuple[State, float]:
    """The state after t in n steps, and the mean torque over t."""
    total = 0.0
    for _ in range(n):
        s, y = step(p, s, u, t / n)
        total += y.torque / n
    return s, total


@pytest.mark.parametrize("n", [1, 2, 33])
@pytest.mark.parametrize("t", [1e-5, 5e-4, 2e-3, 0.1])
def test_current_rises_with_l_over_r(t: float, n: int) -> None:
    s, torque = run(P, State(), In(10.0, 40.0), t, n)
    T, end = 1e-3 / 2.0, (10.0 - 0.05 * 40.0) / 2.0
    gone = -math.expm1(-t / T)
    assert s.i == pytest.approx(end * gone, rel=1e-12)
    assert torque == pytest.approx(0.05 * end * (1.0 - gone * T / t), rel=1e-9)


@pytest.mark.parametrize("n", [1, 5, 64])
def test_current_is_held_at_its_limit_from_the_moment_it_gets_there(n: int) -> None:
    p = P._replace(i_max=2.0)
    T, end, t = 1e-3 / 2.0, 4.0, 2e-3
    hit = T * math.log(end / (end - 2.0))
    charge = end * hit - end * T * -math.expm1(-hit / T) + 2.0 * (t - hit)
    for side in (1.0, -1.0):
        s, torque = run(p, State(), In(side * 8.0, 0.0), t, n)
        assert s.i == side * 2.0
        assert torque == pytest.approx(side * 0.05 * charge / t, rel=1e-12)


def test_without_inductance_it_is_ohms_law() -> None:
    s, y = step(P._replace(L=0.0), State(9.0), In(10.0, 40.0), 1e-6)
    assert s.i == 4.0
    assert y == Out(0.2, 4.0, 10.0)


@pytest.mark.parametrize("dt", [1e-4, 1e-2])
def test_a_current_left_to_itself_carries_its_charge_however_quickly(dt: float) -> None:
    """The integral of i exp(-t R / L) is i L / R."""
    for L in (2e-6, 2e-9, 2e-12):
        _, y = step(P._replace(L=L), State(9.0), In(), dt)
        assert y.torque * dt == pytest.approx(P.k * 9.0 * L / P.R, rel=1e-12, abs=0.0)


def test_voltage_limit() -> None:
    s, y = step(P, State(), In(1e3, 0.0), 0.1)
    assert s.i == pytest.approx(24.0 / 2.0)
    assert y.v == pytest.approx(24.0)


def test_overhauled_beyond_what_the_driver_can_hold() -> None:
    """1,000 rad/s give 50 V of back-EMF: full opposite voltage leaves (24 - 50) / 2 A."""
    p = P._replace(i_max=2.0)
    s, y = step(p, State(), In(0.0, 1000.0), 0.1)
    assert s.i == pytest.approx(-13.0)
    assert y.v == pytest.approx(24.0, rel=1e-3), "from the moment the limit is reached"
    s, y = step(p, State(), In(0.0, 500.0), 0.1)
    assert s.i == -2.0
    assert y.v == pytest.approx(500.0 * 0.05 - 2.0 * 2.0, rel=1e-2)


@given(
    st.floats(-24.0, 24.0),
    st.floats(-400.0, 400.0),
    st.floats(-10.0, 10.0),
    st.one_of(st.just(0.0), st.floats(1e-10, 0.1)),
    st.floats(1e-6, 0.1),
)
def test_the_mean_voltage_is_what_resistance_back_emf_and_inductance_take(v: float, w: float, i: float, L: float, dt: float) -> None:
    s, y = step(P._replace(L=L), State(i), In(v, w), dt)
    assert y.v == pytest.approx(v, abs=1e-8), "no limit acts: the driver gives what was asked"
    assert P.R * y.torque / P.k + P.k * w + L * (s.i - i) / dt == pytest.approx(v, abs=1e-8)


@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_current_beyond_its_limit_comes_back_as_fast_as_the_voltage_allows(side: float, n: int) -> None:
    """From 9 A to the limit of 2 A by the full opposite voltage, towards -12 A; then it is held, for 8 V would lead to 4 A."""
    p = P._replace(i_max=2.0)
    T = 1e-3 / 2.0
    back = T * math.log((9.0 + 12.0) / (2.0 + 12.0))
    s, _ = run(p, State(side * 9.0), In(side * 8.0, 0.0), 0.5 * back, n)
    assert s.i == pytest.approx(side * (-12.0 + 21.0 * math.exp(-0.5 * back / T)), rel=1e-12)
    s, torque = run(p, State(side * 9.0), In(side * 8.0, 0.0), 3.0 * back, n)
    charge = -12.0 * back + 21.0 * T * -math.expm1(-back / T) + 2.0 * 2.0 * back
    assert s.i == side * 2.0
    assert torque == pytest.approx(side * P.k * charge / (3.0 * back), rel=1e-12)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_voltage_asked_for_counts_until_the_limit_is_reached_though_overhauled(side: float) -> None:
    """50 V of back-EMF: whatever is asked for, the current grows beyond -2 A; but on its way there 24 V and -24 V are not the same."""
    p = P._replace(i_max=2.0)
    T, t = 1e-3 / 2.0, 2e-5
    for v, goal in ((24.0, -13.0), (0.0, -25.0), (-24.0, -37.0)):
        s, y = step(p, State(), In(side * v, side * 1000.0), t)
        assert s.i == pytest.approx(side * goal * -math.expm1(-t / T), rel=1e-12)
        assert y.v == pytest.approx(side * v, abs=1e-9)
    s, _ = step(p, State(), In(side * -24.0, side * 1000.0), 0.1)
    assert s.i == pytest.approx(side * -13.0), "then the full opposite voltage"


def test_from_beyond_one_limit_to_the_other() -> None:
    p = P._replace(i_max=2.0)
    s, y = step(p, State(9.0), In(-20.0, 0.0), 0.1)
    assert (s.i, y.i) == (-2.0, -2.0)
    steps = State(9.0)
    total = 0.0
    for _ in range(1000):
        steps, z = step(p, steps, In(-20.0, 0.0), 1e-4)
        total += z.torque / 1000.0
    assert total == pytest.approx(y.torque, rel=1e-9)


def test_in_no_time_the_current_stays_and_the_torque_is_its_own() -> None:
    for i in (-3.0, 0.0, 1.0, 3.0):
        s, y = step(P._replace(i_max=2.0), State(i), In(24.0, 0.0), 0.0)
        assert s.i == y.i == i


def spin(p: Params, body: joint.Params, v: float, t: float, n: int) -> joint.State:
    s, b = State(), joint.State()
    for _ in range(n):
        s, y = step(p, s, In(v, b.w), t / n)
        b, _ = joint.step(body, b, y.torque, t / n)
    return b


def test_run_up_of_a_rotor() -> None:
    """L J w'' + (R J + b L) w' + (k^2 + R b) w = k v: two time constants, and w = k v / (k^2 + R b) in the end."""
    body, v, t = joint.Params(J=2e-5, b=1e-5, c=0.0), 12.0, 0.01
    A, B, C = P.L * body.J, P.R * body.J + body.b * P.L, P.k * P.k + P.R * body.b
    root = math.sqrt(B * B - 4.0 * A * C)
    a, b = (-B + root) / (2.0 * A), (-B - root) / (2.0 * A)
    end = P.k * v / C
    want = end * (1.0 + (b * math.exp(a * t) - a * math.exp(b * t)) / (a - b))
    error = [abs(spin(P, body, v, t, n).w - want) / end for n in (100, 200, 400)]
    assert error[0] < 0.01
    assert error[1] < 0.6 * error[0]
    assert error[2] < 0.6 * error[1]
    assert spin(P, body, v, 1.0, 2000).w == pytest.approx(end, rel=1e-9)


def test_stable_far_above_l_over_r() -> None:
    """L/R is 0.5 ms; a heavy rotor at 50 ms steps still ends at its speed, having never overshot."""
    body, last = joint.Params(J=5e-4, b=0.0, c=0.0), 0.0
    s, b = State(), joint.State()
    for _ in range(400):
        s, y = step(P, s, In(12.0, b.w), 0.05)
        b, _ = joint.step(body, b, y.torque, 0.05)
        assert b.w >= last
        last = b.w
    assert b.w == pytest.approx(12.0 / 0.05, rel=1e-9)


@given(
    st.floats(-50.0, 50.0),
    st.floats(-400.0, 400.0),
    st.floats(-2.0, 2.0),
    st.one_of(st.just(0.0), st.floats(1e-6, 0.1)),
    st.floats(1e-6, 0.1),
)
def test_current_within_its_limit_while_the_voltage_can_hold_it(v: float, w: float, i: float, L: float, dt: float) -> None:
    p = P._replace(i_max=2.0, L=L)
    s, y = step(p, State(i), In(v, w), dt)
    assert abs(s.i) <= 2.0 * (1.0 + 1e-12)
    assert abs(y.torque) <= 0.05 * 2.0 * (1.0 + 1e-12)
    assert abs(y.v) <= 24.0
    assert min(i, -2.0, (v - 0.05 * w) / 2.0) - 1e-9 <= s.i <= max(i, 2.0, (v - 0.05 * w) / 2.0) + 1e-9
