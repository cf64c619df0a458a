"""How well a request was followed: against responses whose figures are known by formula."""

import math

import numpy as np
import pytest

from pushrod.sim import response

DT = 0.001


def lag(r, T):
    a = np.zeros(len(r))
    k = 1.0 - math.exp(-DT / T)
    for i in range(1, len(r)):
        a[i] = a[i - 1] + (r[i - 1] - a[i - 1]) * k
    return a


def step(n=2000, at=100, size=1.0):
    r = np.zeros(n)
    r[at:] = size
    return r


@pytest.mark.parametrize("shift", [0, 1, 37, 300])
@pytest.mark.parametrize("shape", ["step", "sine", "ramp", "noise"])
def test_a_pure_delay_is_found_whatever_gain_and_offset(shift, shape):
    t = np.arange(3000) * DT
    noise = np.random.default_rng(3).normal(size=3000)
    r = {"step": step(3000), "sine": np.sin(7.0 * t), "ramp": np.clip(t - 0.3, 0.0, 1.0), "noise": np.cumsum(noise)}[shape]
    a = np.concatenate((np.full(shift, r[0]), r[: 3000 - shift]))
    found = response.delay(r, 2.0 + 0.7 * a, DT)
    assert found == pytest.approx(shift * DT, abs=0.6 * DT)


@pytest.mark.parametrize("shift", [0, 1, 37])
def test_a_copy_that_went_through_sums_and_products_is_still_one(shift):
    r = np.sin(7.0 * np.arange(3000) * DT)
    a = np.concatenate((np.full(shift, r[0]), r[: 3000 - shift]))
    rounded = a + np.random.default_rng(5).integers(-1, 2, 3000) * np.spacing(a)  # the last bit is not to be relied on
    assert response.delay(r, rounded, DT) == shift * DT


def test_the_delay_of_a_lag_at_one_frequency_is_its_phase_delay():
    w, T = 2.0 * math.pi, 0.08
    t = np.arange(20000) * DT
    r = np.sin(w * t)
    assert response.delay(r, lag(r, T), DT) == pytest.approx(math.atan(w * T) / w, rel=0.03)


def test_no_delay_is_claimed_where_none_can_be_seen():
    still = np.ones(500)
    assert response.delay(still, np.arange(500.0), DT) is None
    assert response.delay(np.arange(500.0), still, DT) is None
    noise = np.random.default_rng(1).normal(size=(2, 4000))
    assert response.delay(noise[0], noise[1], DT) is None


def test_a_lag_rises_in_ln9_time_constants_without_overshoot():
    r = step(size=-2.0)
    got = response.respond(r, lag(r, 0.1), DT)
    assert got.rise_time == pytest.approx(math.log(9.0) * 0.1, rel=1e-2)
    assert got.overshoot == 0.0
    assert got.settling_time == pytest.approx(math.log(20.0) * 0.1, abs=2 * DT)
    assert got.saturation_time is None


def test_the_overshoot_of_a_second_order_system_is_the_textbook_one():
    z, w = 0.3, 20.0
    t = np.arange(3000) * DT
    wd = w * math.sqrt(1.0 - z * z)
    a = np.zeros(3000)
    a[100:] = (1.0 - np.exp(-z * w * t) * (np.cos(wd * t) + z * w / wd * np.sin(wd * t)))[:2900]
    got = response.respond(step(3000), a, DT)
    assert got.overshoot == pytest.approx(math.exp(-z * math.pi / math.sqrt(1.0 - z * z)), rel=1e-3)


def test_the_largest_of_several_steps_counts_and_a_request_without_levels_has_none():
    r = np.concatenate((np.zeros(500), np.full(500, 1.0), np.full(500, -3.0), np.full(500, -2.5)))
    found = response.largest_step(r, r, DT)
    assert (found.first, found.goal) == (999, -3.0)
    assert response.largest_step(np.sin(np.arange(1000) * 0.01), np.zeros(1000), DT) is None


@pytest.mark.parametrize("shape", ["jump", "ramp", "drift"])
def test_standing_still_for_longer_changes_neither_rise_time_nor_overshoot(shape):
    t = np.arange(8000) * DT
    r = {
        "jump": np.where(t < 1.0, 0.0, np.where(t < 4.0, 2.0, 0.3)),
        "ramp": np.interp(t, [1.0, 1.5, 4.0, 4.8, 6.0, 6.2], [0.0, 2.0, 2.0, -0.5, -0.5, 0.0]),
        "drift": np.interp(t, [1.0, 1.1, 4.0, 4.3, 7.0], [0.0, 2.0, 1.7, 0.1, 0.0]),
    }[shape]
    a = lag(lag(r, 0.1), 0.05)
    short = response.respond(r, a, DT)
    assert short.rise_time is not None
    for n in (1_000, 30_000, 1_000_000):
        longer = [np.concatenate((x, np.full(n, x[-1]))) for x in (r, a)]
        got = response.respond(*longer, DT)
        assert (got.rise_time, got.overshoot) == (short.rise_time, short.overshoot)


def test_slow_and_quick_steps_are_found_alike():
    for w in (1, 3, 30, 300, 3000):
        r = np.interp(np.arange(12_000), [4000, 4000 + w], [0.0, 1.0])
        found = response.largest_step(r, r, DT)
        assert found is not None
        assert found.goal == 1.0
        assert 0 <= found.first - 4000 <= 0.002 * w
        assert abs(found.arrived - 4000 - w) <= 0.06 * w
        assert found.last == 11_999


@pytest.mark.parametrize("dt", [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02])
def test_the_same_step_is_found_at_every_tick(dt):
    t = np.arange(round(8.0 / dt)) * dt
    r = np.interp(t, [1.0, 1.5, 3.0, 3.2, 3.5, 3.8, 6.0, 7.5], [0.0, 2.0, 2.0, 0.0, 0.0, -4.0, -4.0, -1.0])
    found = response.largest_step(r, r, dt)
    assert found is not None
    assert found.goal == pytest.approx(-4.0)
    assert found.first * dt == pytest.approx(3.5, abs=0.02)


def test_what_comes_at_once_where_all_else_comes_late_is_no_answer():
    r = np.concatenate((np.zeros(1000), np.full(2000, -3.0), np.zeros(3000)))
    a = lag(r, 0.15)
    a[3000:] = 0.0  # it stands: neither does it brake nor is it asked to
    assert response.respond(r, a, DT).rise_time == pytest.approx(math.log(9.0) * 0.15, rel=1e-2)


@pytest.mark.parametrize("dt", [0.01, 0.1, 0.2])
def test_the_delay_does_not_shrink_with_the_tick(dt):
    w, T = 0.5, 0.3
    t = np.arange(int(100.0 / dt)) * dt
    r, a, y = np.sin(w * t), np.zeros(len(t)), 0.0
    for k in range(len(t)):
        y += (r[k] - y) * (1.0 - math.exp(-dt / T))
        a[k] = y  # at the end of the tick
    assert response.delay(r, a, dt) == pytest.approx(math.atan(w * T) / w, rel=0.04)


def test_what_arrives_whole_ticks_later_is_that_late():
    r = np.repeat(np.random.default_rng(2).normal(size=50), 40)
    for shift in (0, 3, 12):
        assert response.delay(r, np.concatenate((np.full(shift, r[0]), r[: len(r) - shift])), 0.01) == shift * 0.01


def test_what_is_only_late_does_not_overshoot():
    r = np.interp(np.arange(6000), [1000, 1500, 4000, 4500], [0.0, 0.6, 0.6, 0.2])
    assert response.respond(r, np.concatenate((np.zeros(120), r[:-120])), DT).overshoot == 0.0


def test_what_never_arrives_has_no_rise_time():
    r = step()
    assert response.respond(r, 0.5 * r, DT).rise_time is None


def test_errors_are_rms_and_largest():
    r = np.array([0.0, 3.0, 0.0, 0.0])
    got = response.respond(r, np.array([0.0, 0.0, -4.0, 0.0]), DT)
    assert (got.error_rms, got.error_max) == (2.5, 4.0)


def test_time_at_limits_and_at_the_rate_limit_is_counted_once():
    a = np.clip(np.arange(1000) * 0.002, 0.0, 1.0)  # 500 ticks at 2 per second, then at 1
    assert response.saturation_time(a, DT, None, 1.0, None) == pytest.approx(0.5, abs=2 * DT)
    assert response.saturation_time(a, DT, None, None, 2.0) == pytest.approx(0.5, abs=2 * DT)
    assert response.saturation_time(a, DT, -1.0, 1.0, 2.0) == pytest.approx(1.0, abs=2 * DT)
    assert response.saturation_time(a, DT, -5.0, 5.0, None) == 0.0
    told = np.arange(1000) < 700
    assert response.saturation_time(a, DT, None, None, None, told) == pytest.approx(0.7)
    assert response.saturation_time(a, DT, None, 1.0, None, told) == pytest.approx(1.0, abs=2 * DT)
    assert response.saturation_time(a, DT, None, None, None) is None
    assert told.sum() == 700


def test_the_settling_time_is_the_last_entry_into_the_band():
    t = np.arange(1, 6) * 0.1
    assert response.settling_time(np.array([5.0, 1.0, 5.0, 1.0, 1.0]), t, 1.0, 0.1) == pytest.approx(0.4)
    assert response.settling_time(np.ones(5), t, 1.0, 0.1) == 0.0
    assert response.settling_time(np.array([1.0, 1.0, 1.0, 1.0, 5.0]), t, 1.0, 0.1) == math.inf
    assert response.settling_time(np.array([1.0, 1.0, 1.0, 1.0, math.nan]), t, 1.0, 0.1) == math.inf


def test_what_is_not_near_the_new_level_in_time_has_not_settled():
    r = step(n=400)
    assert response.respond(r, lag(r, 0.2), DT).settling_time is None
