"""Point to point under limits of velocity and acceleration: the reference numbers, the laws, and nothing quicker."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import check_joined, check_limits, size, travelled

from counts import examples
from pushrod.core.errors import InputError
from pushrod.motion import announce, make_limits, move, sample, trapezoidal
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Sample, peak_velocity

DEG = math.pi / 180.0
REFERENCE = make_limits(60.0 * DEG, 120.0 * DEG)

positions = st.floats(-10.0, 10.0)
velocities = st.floats(-3.0, 3.0)
bounds = st.builds(Limits, st.floats(0.05, 5.0), st.floats(0.1, 20.0), st.just(math.inf))
unlimited_speed = st.builds(Limits, st.just(math.inf), st.floats(0.1, 20.0), st.just(math.inf))


def test_trapezoid_of_the_reference() -> None:
    p = move(0.0, 1.0, REFERENCE)
    told = announce(0.0, p)
    assert told.duration == pytest.approx(0.954930 + 0.5, abs=1e-6)
    assert told.acceleration == pytest.approx(2.0944, abs=1e-4)
    assert told.peak_velocity == pytest.approx(1.0472, abs=1e-4)
    assert (told.initial, told.target) == (0.0, 1.0)
    for t, x in ((0.25, 0.06545), (0.5, 0.261799), (0.727, 0.499513), (0.955, 0.738274)):
        assert sample(p, t).x == pytest.approx(x, abs=1e-6)


def test_triangle_of_the_reference() -> None:
    told = announce(0.0, move(0.0, 0.1, REFERENCE))
    assert told.peak_velocity == pytest.approx(0.457646, abs=1e-6)
    assert told.duration == pytest.approx(0.437, abs=5e-4)


def test_rectangle_of_the_reference() -> None:
    p = move(0.0, 1.0, make_limits(60.0 * DEG))
    told = announce(0.0, p)
    assert told.duration == pytest.approx(0.955, abs=5e-4)
    assert told.acceleration is None
    assert told.peak_velocity is None
    assert sample(p, told.duration / 2.0).x == pytest.approx(0.5)


def test_without_limits_it_is_there_at_once() -> None:
    p = move(0.0, 1.0, make_limits())
    assert announce(0.0, p) == (0.0, 1.0, 0.0, None, None)
    assert sample(p, 0.0) == (1.0, 0.0, 0.0)


def test_without_a_velocity_limit_a_triangle_however_far() -> None:
    p = move(0.0, 100.0, make_limits(a=4.0))
    assert pytest.approx(2.0 * math.sqrt(100.0 / 4.0)) == p.T
    assert peak_velocity(p) == pytest.approx(20.0)


def test_at_the_target_already() -> None:
    assert move(2.0, 2.0, REFERENCE).T == 0.0
    assert sample(move(2.0, 2.0, REFERENCE), 1.0) == (2.0, 0.0, 0.0)


def test_too_fast_to_stop_it_overshoots_and_returns() -> None:
    p = move(0.0, 0.1, make_limits(5.0, 2.0), v0=2.0)  # needs 1.0 to stop
    assert sample(p, 1.0).x == pytest.approx(1.0)
    assert sample(p, 1.0).v == pytest.approx(0.0)
    back = 2.0 * math.sqrt(0.9 / 2.0)
    assert pytest.approx(1.0 + back) == p.T


def test_moving_away_it_brakes_turns_and_comes() -> None:
    p = move(0.0, 1.0, make_limits(1.0, 2.0), v0=-1.0)
    assert sample(p, 0.5).v == pytest.approx(0.0)
    assert min(sample(p, 0.01 * k).x for k in range(300)) == pytest.approx(-0.25)


def test_faster_than_the_limit_it_slows_down_to_it_first() -> None:
    p = move(0.0, 10.0, make_limits(1.0, 2.0), v0=3.0)
    assert sample(p, 1.0).v == pytest.approx(1.0)
    assert pytest.approx(1.0 + (10.0 - 2.0 - 0.25) / 1.0 + 0.5) == p.T


def test_hints() -> None:
    assert peak_velocity(move(0.0, 1.0, REFERENCE, velocity=-0.5)) == pytest.approx(0.5)
    assert peak_velocity(move(0.0, 1.0, REFERENCE, velocity=50.0)) == pytest.approx(60.0 * DEG)
    assert pytest.approx(4.0) == move(0.0, 1.0, REFERENCE, duration=4.0).T
    assert move(0.0, 1.0, REFERENCE, duration=0.1) == move(0.0, 1.0, REFERENCE)
    assert sample(move(0.0, 1.0, make_limits(), duration=2.0), 0.5) == (0.25, 0.5, 0.0)
    assert move(1.0, 1.0, REFERENCE, duration=3.0).T == 3.0


@pytest.mark.parametrize("T", [1.4, 1.6, 2.2, 2.8, 4.0])
def test_one_that_moves_already_speeds_up_less_or_slows_down_to_arrive_late(T: float) -> None:
    """From 0.5 over 1.2 with a = 2: at 0.5 all along it takes 2.525; the way of both legs and the cruise makes up the rest."""
    p = move(3.0, 4.2, make_limits(2.0, 2.0), v0=0.5, duration=T)
    vc = sample(p, 0.5 * T).v
    t1, t3 = abs(vc - 0.5) / 2.0, vc / 2.0
    assert t1 * (0.5 + vc) / 2.0 + (T - t1 - t3) * vc + t3 * vc / 2.0 == pytest.approx(1.2)
    assert (sample(p, 0.5 * t1).a, sample(p, 0.5 * T).a, sample(p, T - 0.5 * t3).a) == (2.0 if vc > 0.5 else -2.0, 0.0, -2.0)


@given(positions, velocities, positions, bounds | unlimited_speed, st.sampled_from([0.0, 0.5, 3.0, 50.0]))
def test_laws(x0: float, v0: float, x1: float, limits: Limits, T: float) -> None:
    p = trapezoidal(x0, v0, x1, limits, T)
    start = Sample(x0, v0, 0.0)
    assert p.T >= T
    assert sample(p, p.T) == (x1, 0.0, 0.0)
    check_joined(p, start, order=1)
    check_limits(p, start, limits)
    middle = 0.4 * p.T
    assert travelled(p, x0, middle) == pytest.approx(sample(p, middle).x, abs=1e-9 * size(p, start))


@given(positions, velocities, positions, bounds, st.floats(1.0, 20.0))
def test_a_duration_is_honoured(x0: float, v0: float, x1: float, limits: Limits, factor: float) -> None:
    """It arrives when asked to, moving until then; only where braking at once ends on the target it must wait."""
    quickest = trapezoidal(x0, v0, x1, limits, 0.0)
    p = trapezoidal(x0, v0, x1, limits, factor * quickest.T)
    assert pytest.approx(factor * quickest.T) == p.T
    assert peak_velocity(p) <= peak_velocity(quickest) * (1.0 + 1e-9) + 1e-100  # squares of less than that are 0
    left = x1 - x0 - 0.5 * v0 * abs(v0) / limits.a
    if abs(left) > 1e-3:
        assert abs(sample(p, 0.999 * p.T).v) > 0.0


@given(positions, velocities, positions, bounds, st.floats(0.0, 1.0))
def test_what_is_left_of_the_quickest_way_is_the_quickest_way(x0: float, v0: float, x1: float, limits: Limits, share: float) -> None:
    p = trapezoidal(x0, v0, x1, limits, 0.0)
    s = sample(p, share * p.T)
    rest = trapezoidal(s.x, s.v, x1, limits, 0.0)
    assert pytest.approx((1.0 - share) * p.T, abs=1e-5) == rest.T


def rivals(d: float, v0: float, V: float, a: float, top: float) -> list[float]:
    """Durations of every motion "push, push, cruise, brake" with pushes of +-a on a grid of lengths: none may be quicker."""
    times = [top * k / 40.0 for k in range(41)]
    found = []
    for u1, u2 in itertools.product((-a, a), repeat=2):
        for t1, t2 in itertools.product(times, times):
            v1 = v0 + u1 * t1
            v2 = v1 + u2 * t2
            if abs(v1) > max(V, abs(v0)) or abs(v2) > V or v2 == 0.0:
                continue
            x = t1 * (v0 + v1) / 2.0 + t2 * (v1 + v2) / 2.0
            cruise = (d - x - v2 * abs(v2) / (2.0 * a)) / v2
            if cruise >= 0.0:
                found.append(t1 + t2 + cruise + abs(v2) / a)
    return found


@settings(max_examples=examples(25))
@given(st.floats(-3.0, 3.0), st.floats(-1.0, 1.0), st.floats(0.2, 2.0), st.floats(0.5, 5.0))
def test_nothing_is_quicker(d: float, share: float, V: float, a: float) -> None:
    p = trapezoidal(0.0, share * V, d, Limits(V, a), 0.0)
    best = min(rivals(d, share * V, V, a, min(p.T, 2.0 * V / a) + 0.01), default=math.inf)
    assert best + 1e-9 >= p.T
    assert best <= 1.2 * p.T + 0.2  # the search does find good ones


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: make_limits(v=0.0), r"limit v = 0\.0 x/s: allowed are numbers of at least 1e-9, or None"),
        (lambda: make_limits(a=math.nan), r"limit a = nan"),
        (lambda: move(0.0, math.inf, REFERENCE), r"x1 = inf: a motion needs finite numbers"),
        (lambda: move(0.0, 1.0, REFERENCE, duration=-1.0), r"duration = -1\.0 s: allowed are 0 and more"),
        (lambda: move(0.0, 1.0, REFERENCE, velocity=0.0), r"velocity hint 0\.0 x/s: at that speed the motion never arrives"),
    ],
)
def test_what_cannot_be_is_refused(call, says) -> None:
    with pytest.raises(InputError, match=says):
        call()
