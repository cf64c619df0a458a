"""Point to point under a jerk limit: textbook answers, an independent implementation, the laws, the principle of optimality."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import check_joined, check_limits, size, travelled

from counts import examples
from pushrod.motion import halt, make_limits, move, point_to_point, s_curve, sample
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Sample, peak_acceleration, peak_velocity

# x0, v0, a0, x1, V, A, J and the least duration, computed with ruckig 0.19.4 (position control, one axis)
RUCKIG = [
    (0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 10.0, 1.700000000000),
    (0.0, 0.0, 0.0, 0.05, 1.0, 2.0, 10.0, 0.542883523319),
    (0.0, 0.0, 0.0, 0.2, 1.0, 2.0, 10.0, 0.863324958071),
    (0.0, 0.8, 0.0, 0.1, 1.0, 2.0, 10.0, 1.165427043583),
    (0.0, -0.8, 0.0, 0.5, 1.0, 2.0, 10.0, 1.840000000000),
    (0.0, 0.5, 1.5, 2.0, 1.0, 2.0, 10.0, 2.418789062500),
    (0.0, 0.5, -1.5, 0.05, 1.0, 2.0, 10.0, 0.586751845065),
    (0.0, 0.9, -2.0, 0.2, 1.0, 2.0, 10.0, 0.685358186079),
    (0.0, -0.5, 2.0, -3.0, 1.0, 2.0, 10.0, 3.669166666667),
    (0.0, 0.3, 1.0, 0.1, 3.0, 0.9, 0.7, 7.235968786554),
    (2.0, 1.2, -0.4, -1.0, 1.5, 3.0, 4.0, 3.933527991251),
    (0.0, 0.0, 2.0, 0.0, 1.0, 2.0, 10.0, 0.878062537810),
    (0.0, 1.0, 0.0, 0.55, 1.0, 5.0, 5.0, 0.997213595500),
    (0.0, 0.2, -1.9, 0.3, 2.0, 2.0, 3.0, 2.727293271502),
]

bounds = st.builds(Limits, st.floats(0.1, 5.0), st.floats(0.2, 10.0), st.floats(0.5, 50.0))
loose = st.builds(Limits, st.just(math.inf), st.floats(0.2, 10.0) | st.just(math.inf), st.floats(0.5, 50.0))
starts = st.tuples(st.floats(-5.0, 5.0), st.floats(-1.3, 1.3), st.floats(-1.3, 1.3))


def start_of(shares: tuple[float, float, float], limits: Limits) -> Sample:
    """A start whose rates are shares of the limits (beyond them, now and then)."""
    x, v, a = shares
    return Sample(x, v * min(limits.v, 3.0), a * min(limits.a, 6.0))


@pytest.mark.parametrize("case", RUCKIG)
def test_as_quick_as_an_independent_implementation(case: tuple[float, ...]) -> None:
    x0, v0, a0, x1, V, A, J, T = case
    assert pytest.approx(T, abs=1e-9) == point_to_point(x0, v0, a0, x1, Limits(V, A, J), 0.0).T


def test_seven_phases_from_rest_to_rest() -> None:
    p = move(0.0, 1.0, make_limits(1.0, 2.0, 10.0))
    assert pytest.approx(1.0 / 1.0 + 1.0 / 2.0 + 2.0 / 10.0) == p.T  # d/v + v/a + a/j
    assert (peak_velocity(p), peak_acceleration(p)) == (1.0, 2.0)
    assert sample(p, 0.2).a == pytest.approx(2.0)
    assert sample(p, 0.7).v == pytest.approx(1.0)
    assert sample(p, p.T / 2.0) == (pytest.approx(0.5), pytest.approx(1.0), pytest.approx(0.0))


def test_short_way_reaches_neither_limit() -> None:
    p = move(0.0, 0.01, make_limits(1.0, 2.0, 10.0))
    t = (0.01 / (2.0 * 10.0)) ** (1.0 / 3.0)  # d = 2 j t^3
    assert pytest.approx(4.0 * t) == p.T
    assert peak_acceleration(p) == pytest.approx(10.0 * t)
    assert peak_velocity(p) == pytest.approx(10.0 * t * t)


def test_a_high_jerk_limit_is_none() -> None:
    hard, none = move(0.0, 1.0, make_limits(1.0, 2.0, 1e9), v0=0.3), move(0.0, 1.0, make_limits(1.0, 2.0), v0=0.3)
    assert pytest.approx(none.T, abs=1e-6) == hard.T
    for k in range(20):
        assert sample(hard, 0.1 * k).x == pytest.approx(sample(none, 0.1 * k).x, abs=1e-6)


@given(starts, st.floats(-5.0, 5.0), bounds | loose, st.sampled_from([0.0, 0.0, 4.0, 60.0]))
def test_laws(shares: tuple[float, float, float], x1: float, limits: Limits, T: float) -> None:
    start = start_of(shares, limits)
    p = point_to_point(*start, x1, limits, T)
    assert p.T >= T
    assert sample(p, p.T) == (x1, 0.0, 0.0)
    check_joined(p, start, order=2)
    check_limits(p, start, limits)
    middle = 0.4 * p.T
    assert travelled(p, start.x, middle) == pytest.approx(sample(p, middle).x, abs=1e-9 * size(p, start))


@given(starts, st.floats(-5.0, 5.0), bounds, st.floats(0.0, 1.0))
def test_what_is_left_of_the_quickest_way_is_the_quickest_way(shares: tuple[float, float, float], x1: float, limits: Limits, share: float) -> None:
    """From a start that can respect the limits; a start beyond them is brought back first, which is not always quickest."""
    start = start_of(shares, limits)
    if abs(start.a) > limits.a or abs(start.v) + start.a * start.a / (2.0 * limits.j) > limits.v:
        start = Sample(start.x, 0.0, 0.0)
    p = point_to_point(*start, x1, limits, 0.0)
    s = sample(p, share * p.T)
    assert pytest.approx((1.0 - share) * p.T, abs=2e-4) == point_to_point(*s, x1, limits, 0.0).T


@given(st.floats(0.01, 5.0), bounds, st.floats(1.0, 10.0))
def test_a_duration_from_rest_is_used_to_the_last(d: float, limits: Limits, factor: float) -> None:
    quickest = point_to_point(0.0, 0.0, 0.0, d, limits, 0.0)
    p = point_to_point(0.0, 0.0, 0.0, d, limits, factor * quickest.T)
    assert pytest.approx(factor * quickest.T) == p.T
    assert p.seven.end == pytest.approx(p.T)
    assert sample(p, p.T / 2.0).x == pytest.approx(d / 2.0)
    assert peak_velocity(p) <= peak_velocity(quickest) * (1.0 + 1e-9) + 1e-100  # squares of less than that are 0


@settings(max_examples=examples(50))
@given(starts, st.floats(-5.0, 5.0), bounds)
def test_wider_limits_never_take_longer(shares: tuple[float, float, float], x1: float, limits: Limits) -> None:
    x, v, _ = shares
    start = (x, 0.3 * v * min(limits.v, math.sqrt(limits.j)), 0.0)
    T = point_to_point(*start, x1, limits, 0.0).T
    for wider in (limits._replace(v=1.5 * limits.v), limits._replace(a=1.5 * limits.a), limits._replace(j=1.5 * limits.j)):
        assert point_to_point(*start, x1, wider, 0.0).T <= T + 1e-9


def test_too_fast_for_the_limit_with_little_room_it_never_speeds_up() -> None:
    limits = Limits(0.8, math.inf, 1.0)
    p = point_to_point(0.0, 1.0, 0.0, 1.3, limits, 0.0)  # braking at once takes 1.0; down to the limit and then to rest 1.5
    speeds = [sample(p, 0.01 * k).v for k in range(400)]
    assert speeds == sorted(speeds, reverse=True)
    assert sample(p, p.T) == (1.3, 0.0, 0.0)
    check_joined(p, Sample(0.0, 1.0, 0.0), order=2)


def test_with_only_just_room_to_stop_it_arrives_early_and_waits() -> None:
    quickest = point_to_point(0.0, 1.0, 0.0, 1.05, Limits(2.0, math.inf, 1.0), 0.0)
    p = point_to_point(0.0, 1.0, 0.0, 1.05, Limits(2.0, math.inf, 1.0), 1.05 * quickest.T)
    assert pytest.approx(1.05 * quickest.T) == p.T
    assert p.seven.end == quickest.T
    assert sample(p, p.T) == sample(p, quickest.T) == (1.05, 0.0, 0.0)
    creeping = point_to_point(0.0, 1.0, 0.0, 1.05, Limits(2.0, math.inf, 1.0), 20.0)  # with time enough it creeps the last bit
    assert creeping.seven.end == pytest.approx(20.0)


@settings(max_examples=examples(60))
@given(st.floats(1.0, 2.0), st.floats(-2.0, 2.0), st.floats(0.9, 1.1))
def test_one_that_is_too_fast_arrives_near_where_it_would_come_to_rest(v0: float, a0: float, share: float) -> None:
    """Beyond the velocity limit already, and the target about as far as braking at once would take: it arrives, no less in a hurry later."""
    limits = make_limits(1.0, 2.0, 10.0)
    x1 = share * halt(0.0, v0, a0, limits, 0.0).after.x
    p = move(0.0, x1, limits, v0=v0, a0=a0)
    end = sample(p, p.T)
    assert end.x == pytest.approx(x1, abs=1e-9)
    assert end.v == pytest.approx(0.0, abs=1e-9)
    half = sample(p, 0.5 * p.T)
    left = move(half.x, x1, limits, v0=half.v, a0=half.a).T
    assert left == pytest.approx(0.5 * p.T, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("d", "J"), [(1e9, 1e-3), (1e-9, 1e-3), (1e9, 1e6), (1e-9, 1e6), (-1e9, 1e-3)])
def test_however_far_and_however_gently(d: float, J: float) -> None:
    """Under a jerk limit alone: t = (d / 2 J)^(1/3) four times."""
    p = move(1.0, 1.0 + d, make_limits(j=J))
    assert pytest.approx(4.0 * math.cbrt(abs((1.0 + d) - 1.0) / (2.0 * J)), rel=1e-9, abs=0.0) == p.T
    assert sample(p, 0.5 * p.T).x == pytest.approx(1.0 + 0.5 * d, rel=1e-9)
    assert peak_acceleration(p) == pytest.approx(0.25 * J * p.T, rel=1e-9)


def test_one_that_accelerates_too_hard_is_brought_back_to_the_limit_first() -> None:
    p = move(0.0, 30.0, make_limits(a=2.0, j=4.0), a0=3.0)
    assert [sample(p, t).a for t in (0.0, 0.1, 0.25, 0.3, 1.0)] == pytest.approx([3.0, 2.6, 2.0, 2.0, 2.0])
    assert (peak_acceleration(p), p.one.j) == (3.0, -4.0)
    check_joined(p, Sample(0.0, 0.0, 3.0), order=2)


@pytest.mark.parametrize(("limits", "v0", "a0"), [(Limits(1.0, 0.5, 0.2), 2.0, -0.4), (Limits(1.0, 5.0, 20.0), 1.6, -4.0)])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_too_fast_and_braking_already_it_brakes_less_hard_and_no_more(limits: Limits, v0: float, a0: float, share: float) -> None:
    """The target lies between where braking on would end and where it would end if the brake were let go first."""
    t = -a0 / limits.j
    let_go = Sample(t * (v0 + t * (0.5 * a0 + t * limits.j / 6.0)), v0 + 0.5 * t * a0, 0.0)
    near, far = (halt(*s, limits, 0.0).after.x for s in ((0.0, v0, a0), let_go))
    x1 = near + share * (far - near)
    p = point_to_point(0.0, v0, a0, x1, limits, 0.0)
    check_joined(p, Sample(0.0, v0, a0), order=2)
    check_limits(p, Sample(0.0, v0, a0), limits)
    way = [sample(p, p.T * k / 200.0) for k in range(201)]
    assert all(s.a <= 1e-9 for s in way)
    assert way[-1] == pytest.approx((x1, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0, 1e5])
@pytest.mark.parametrize("factor", [1.01, 1.3, 7.0])
def test_a_duration_is_met_exactly_in_any_unit_of_time(scale: float, factor: float) -> None:
    """The same motion in nanoseconds or in days, slowed down: it cruises until it is time to brake."""
    limits = Limits(1.0 / scale, 2.0 / scale**2, 10.0 / scale**3)
    v0, a0 = 0.4 / scale, -0.3 / scale**2
    T = factor * point_to_point(0.0, v0, a0, 1.0, limits, 0.0).T
    p = point_to_point(0.0, v0, a0, 1.0, limits, T)
    assert (p.T, p.seven.end) == pytest.approx((T, T), rel=1e-12, abs=0.0)
    cruise = sample(p, 0.5 * T)
    assert (cruise.a, sample(p, 0.52 * T).v) == (pytest.approx(0.0, abs=1e-12 / scale**2), pytest.approx(cruise.v, rel=1e-12))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("task", "limits", "most"),
    [
        ((0.0, 0.0, 0.0, 1.0, 0.0), Limits(1.0, 2.0, 10.0), 0),  # seven phases: closed form
        ((0.0, 0.0, 0.0, 0.2, 0.0), Limits(1.0, 2.0, 10.0), 11),
        ((0.0, 0.3, 1.0, 0.1, 0.0), Limits(3.0, 0.9, 0.7), 15),
        ((0.0, 0.0, 0.0, 3.0, 0.0), Limits(math.inf, 2.0, 10.0), 25),
        ((0.0, 0.9, 0.0, 0.2925, 0.0), Limits(math.inf, 2.0, 10.0), 3),  # braking at once ends on the target
        ((0.0, 1.0, 0.0, 1.3, 0.0), Limits(0.8, math.inf, 1.0), 13),
        ((0.0, 0.0, 0.0, 1.0, 3.0), Limits(1.0, 2.0, 10.0), 14),
        ((0.0, 0.4, -0.3, 1.0, 9.0), Limits(1.0, 2.0, 10.0), 16),
        ((0.0, -0.9, 0.0, 0.6, 0.0), Limits(3.0, 2.0, 10.0), 13),
        ((0.0, -2.0, 0.0, -1.15, 0.0), Limits(3.0, 2.0, 10.0), 15),
        ((0.0, -2.0, 0.0, 1.2, 0.0), Limits(3.0, 2.0, 10.0), 17),
    ],
)
def test_a_plan_takes_few_trials(task: tuple[float, ...], limits: Limits, most: int, sign: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a replan in every tick costs."""
    trials = []
    tried = s_curve.miss
    monkeypatch.setattr(s_curve, "miss", lambda *of: trials.append(of) or tried(*of))
    x0, v0, a0, x1, T = task
    p = point_to_point(x0, sign * v0, sign * a0, sign * x1, limits, T)
    assert len(trials) <= most
    assert max(T, p.seven.end) == p.T
