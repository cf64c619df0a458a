"""Trajectories through waypoints: what is given is met, what is not is chosen smoothly, repeats run on without a break."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.errors import InputError
from pushrod.motion import Waypoint, fit, follow, make_limits, where
from pushrod.motion.course import Course, duration, end, excess, length, reach
from pushrod.motion.extent import extent, zeros
from pushrod.motion.limits import Limits
from pushrod.motion.track import Point, Track, along, through

FREE = make_limits()
TIGHT = make_limits(2.0, 8.0)
EPS = 1e-7

rates = st.none() | st.floats(-3.0, 3.0)


@st.composite
def paths(draw: st.DrawFn) -> tuple[Waypoint, ...]:
    t, points = draw(st.sampled_from([0.0, 0.3, 1.0])), []
    for _ in range(draw(st.integers(1, 5))):
        v = draw(rates)
        points.append(Waypoint(draw(st.floats(-2.0, 2.0)), t, v, draw(rates) if v is not None else None))
        t += draw(st.floats(0.2, 2.0))
    return tuple(points)


def seams(c: Course) -> list[float]:
    """Times where two polynomials meet: all waypoints of the first four passes."""
    found, start = [], 0.0
    for track in (c.first, *((c.again, c.again, c.last) if c.passes > 3.0 else (c.last,) if c.passes > 1.0 else ())):
        found += [start + t for t in track.t]
        start += length(track)
    return [t for t in found if t > 0.0]


def check_smooth(c: Course, size: float = 10.0) -> None:
    for t in seams(c):
        if t > duration(c) - EPS:
            continue
        before, after = where(c, t - EPS), where(c, t + EPS)
        assert abs(after.x - before.x) <= 1e-4, f"position jumps at {t}"
        assert abs(after.v - before.v) <= 1e-3 * size, f"velocity jumps at {t}"


def test_cubic_hermite_where_velocities_are_given() -> None:
    c = follow((Waypoint(1.0, 1.0, 0.0), Waypoint(3.0, 3.0, 0.0)), 0.0, 0.0, FREE)
    s = where(c, 2.0)  # h = 2, from rest to rest: the middle at 1.5 d / h
    assert (s.x, s.v) == (pytest.approx(2.0), pytest.approx(1.5))
    assert where(c, 1.0 + 0.5).x == pytest.approx(1.0 + 2.0 * (3.0 * 0.25**2 - 2.0 * 0.25**3))


def test_quintic_where_accelerations_are_given_too() -> None:
    c = follow((Waypoint(0.0, 0.0, 0.0, 0.0), Waypoint(1.0, 2.0, 0.0, 0.0)), 0.0, 0.0, FREE)
    for f in (0.1, 0.25, 0.5, 0.9):
        assert where(c, 2.0 * f).x == pytest.approx(10.0 * f**3 - 15.0 * f**4 + 6.0 * f**5)
    assert where(c, 1.0).v == pytest.approx(1.875 / 2.0)


@pytest.mark.parametrize(("a0", "a1"), [(1.0, -2.0), (None, 0.7), (-0.4, None), (None, None)])
def test_velocity_and_acceleration_are_the_derivatives_of_the_position(a0: float | None, a1: float | None) -> None:
    p, q = Point(0.5, 1.0, -0.3, a0), Point(3.5, -1.0, 0.8, a1)
    track = through((p, q))
    for asked, s in ((p, along(track, p.t)), (q, along(track, q.t))):
        assert (s.x, s.v, s.a) == (pytest.approx(asked.x), pytest.approx(asked.v), pytest.approx(s.a if asked.a is None else asked.a))
    for t in (0.5, 0.9, 2.0, 3.1, 3.5):
        before, now, after = (along(track, t + h) for h in (-1e-4, 0.0, 1e-4))
        assert now.v == pytest.approx((after.x - before.x) / 2e-4, abs=1e-6)
        assert now.a == pytest.approx((after.v - before.v) / 2e-4, abs=1e-6)


def test_one_acceleration_makes_a_quartic() -> None:
    track = through((Point(0.0, 0.0, 0.0, 1.0), Point(2.0, 1.0, 0.5)))
    assert track.c[5] == 0.0
    assert along(track, 0.0) == (0.0, 0.0, pytest.approx(1.0))
    assert along(track, 2.0)[:2] == (pytest.approx(1.0), pytest.approx(0.5))
    other = through((Point(0.0, 0.0, 0.0), Point(2.0, 1.0, 0.5, 1.0)))
    assert (other.c[5], along(other, 2.0).a) == (0.0, pytest.approx(1.0))


def test_evenly_spaced_points_on_a_line_are_run_at_its_slope() -> None:
    c = follow(tuple(Waypoint(0.5 * k, float(k)) for k in range(1, 6)), 0.0, 0.0, FREE)
    assert [where(c, t).v for t in (2.0, 2.5, 3.0)] == [pytest.approx(0.5)] * 3


def test_first_waypoint_later_than_0_is_led_up_to_from_the_present() -> None:
    c = follow((Waypoint(1.0, 2.0), Waypoint(2.0, 3.0)), -1.0, 0.3, FREE)
    assert where(c, 0.0) == (pytest.approx(-1.0), pytest.approx(0.3), pytest.approx(where(c, 1e-12).a))
    assert where(c, 2.0).x == pytest.approx(1.0)
    assert duration(c) == 3.0
    assert where(c, 9.0) == (pytest.approx(2.0), 0.0, 0.0)


def test_first_waypoint_at_0_elsewhere_is_led_up_to_within_the_limits() -> None:
    points = (Waypoint(1.0, 0.0), Waypoint(2.0, 2.0))
    c = follow(points, 0.0, 0.5, TIGHT)
    lead = duration(c) - 2.0
    assert lead > 0.0
    assert where(c, 0.0)[:2] == (0.0, 0.5)
    assert where(c, lead).x == pytest.approx(1.0)
    assert excess(c, TIGHT) <= 1.0 + 1e-6
    assert where(follow(points, 0.0, 0.5, FREE), 0.0).x == 1.0  # nothing limits it: it jumps


def test_a_moving_axis_told_to_be_where_it_is_brakes_and_comes_back() -> None:
    c = follow((Waypoint(0.0, 0.0),), 0.0, 1.0, TIGHT)
    assert where(c, 0.0).v == 1.0
    assert end(c) == (pytest.approx(0.0), pytest.approx(0.0), end(c).a)
    assert excess(c, TIGHT) <= 1.0 + 1e-6


def test_repeats() -> None:
    points = (Waypoint(1.0, 1.0), Waypoint(-1.0, 2.0))
    c = follow(points, 0.0, 0.0, FREE, passes=3.0)
    assert duration(c) == 6.0
    for k in range(3):
        assert where(c, 2.0 * k + 1.0).x == pytest.approx(1.0)
        assert where(c, 2.0 * k + 2.0).x == pytest.approx(-1.0)

    check_smooth(c)
    assert where(c, 6.0).v == pytest.approx(0.0)


@pytest.mark.parametrize("passes", [1.0, 2.0, 3.0, 5.0])
def test_the_end_of_the_last_pass_is_part_of_it_and_then_it_rests(passes: float) -> None:
    """The last waypoint may ask for a velocity: it is there at the end, and gone after it."""
    c = follow((Waypoint(1.0, 1.0), Waypoint(0.0, 2.0, 0.5)), -1.0, 0.25, TIGHT, passes=passes)
    assert duration(c) == 2.0 * passes
    assert where(c, 0.0)[:2] == (-1.0, 0.25)
    for k in range(int(passes)):
        assert where(c, 2.0 * k + 1.0).x == pytest.approx(1.0)
        assert where(c, 2.0 * k + 2.0)[:2] == (pytest.approx(0.0, abs=1e-12), pytest.approx(0.5))
    assert where(c, 2.0 * passes + 1e-9) == (pytest.approx(0.0, abs=1e-12), 0.0, 0.0)
    assert where(c, 1e6) == (pytest.approx(0.0, abs=1e-12), 0.0, 0.0)


def test_for_ever() -> None:
    c = follow((Waypoint(1.0, 1.0), Waypoint(-1.0, 2.0)), 0.0, 0.0, FREE, passes=math.inf)
    assert duration(c) == math.inf
    assert where(c, 2001.3) == tuple(pytest.approx(x, abs=1e-9) for x in where(c, 3.3))


def test_a_closed_path_runs_on() -> None:
    circle = tuple(Waypoint(math.sin(math.pi * k / 4.0), 0.25 * k) for k in range(9))
    c = follow(circle, 0.0, 0.0, FREE, passes=math.inf)
    assert length(c.again) == 2.0
    assert where(c, 4.0).v == pytest.approx(where(c, 6.0).v)
    assert where(c, 4.0).v > 1.0  # not a stop at the seam
    check_smooth(c)


def test_an_open_path_from_0_returns_within_the_limits() -> None:
    c = follow((Waypoint(0.0, 0.0), Waypoint(1.0, 1.0)), 0.0, 0.0, TIGHT, passes=3.0)
    assert length(c.again) > 1.0
    assert excess(c, TIGHT) <= 1.0 + 1e-6
    check_smooth(c)


def test_too_fast_a_path_is_slowed_down_to_the_limits() -> None:
    points = (Waypoint(1.0, 0.1), Waypoint(0.0, 0.2), Waypoint(1.0, 0.3))
    assert excess(follow(points, 0.0, 0.0, TIGHT), TIGHT) > 1.0
    c, slower = fit(points, 0.0, 0.0, TIGHT)
    assert duration(c) == pytest.approx(0.3 * slower)
    assert 0.99 <= excess(c, TIGHT) <= 1.0 + 1e-6
    assert fit(points, 0.0, 0.0, FREE)[1] == 1.0


def test_extremes_are_exact() -> None:
    e = extent(Track((0.0, 2.0), (0.0, -1.0, 0.0, 1.0, 0.0, 0.0)))[0]  # x = u^3 - u
    assert e.lo == pytest.approx(-2.0 / (3.0 * math.sqrt(3.0)))
    assert (e.hi, e.v, e.a) == (6.0, 11.0, 12.0)
    assert zeros((-6.0, 11.0, -6.0, 1.0), 5.0) == [pytest.approx(1.0), pytest.approx(2.0), pytest.approx(3.0)]


@given(paths(), st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.sampled_from([1.0, 2.0, 5.0, math.inf]))
def test_laws(points: tuple[Waypoint, ...], x0: float, v0: float, passes: float) -> None:
    c = follow(points, x0, v0, TIGHT, passes=passes)
    assert where(c, 0.0).x == pytest.approx(x0, abs=1e-9)
    shift = length(c.first) - points[-1].t
    if shift > -points[-1].t:  # otherwise the whole course is one point
        for w in points:
            s = where(c, w.t + shift - (1e-12 if w is points[-1] else 0.0))
            assert s.x == pytest.approx(w.x, abs=1e-6)
            if w.v is not None:
                assert s.v == pytest.approx(w.v, abs=1e-5)
    check_smooth(c, size=100.0)


@given(st.lists(st.floats(-2.0, 2.0), min_size=2, max_size=6), st.floats(-2.0, 2.0), st.sampled_from([1.0, 3.0, math.inf]))
def test_without_given_rates_no_waypoint_is_overshot(xs: list[float], x0: float, passes: float) -> None:
    c = follow(tuple(Waypoint(x, 0.5 * (k + 1)) for k, x in enumerate(xs)), x0, 0.0, FREE, passes=passes)
    low, high = reach(c)
    assert low >= min([x0, *xs]) - 1e-9
    assert high <= max([x0, *xs]) + 1e-9


@given(paths(), st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.builds(Limits, st.floats(1.0, 3.0), st.floats(1.0, 20.0), st.just(math.inf)))
def test_fitted_paths_respect_the_limits(points: tuple[Waypoint, ...], x0: float, v0: float, bounds: Limits) -> None:
    c, slower = fit(points, x0, v0, bounds)
    assert slower >= 1.0
    for k in range(201):
        s = where(c, duration(c) * k / 200.0)
        assert abs(s.v) <= bounds.v * (1.0 + 1e-6) + 1e-9
        assert abs(s.a) <= bounds.a * (1.0 + 1e-6) + 1e-9


@pytest.mark.parametrize(
    ("points", "passes", "says"),
    [
        ((), 1.0, "at least one waypoint"),
        ((Waypoint(0.0, 1.0), Waypoint(1.0, 1.0)), 1.0, r"waypoints\[1\]\.t = 1\.0 s: times start at 0 or later and rise; the one before is 1 s"),
        ((Waypoint(0.0, -1.0),), 1.0, r"waypoints\[0\]\.t = -1\.0 s"),
        ((Waypoint(0.0, 1.0, math.nan),), 1.0, r"waypoints\[0\]\.v = nan is not a finite number"),
        ((Waypoint(0.0, 1.0),), 1.5, r"passes = 1\.5: allowed are whole numbers from 1"),
    ],
)
def test_what_cannot_be_is_refused(points: tuple[Waypoint, ...], passes: float, says: str) -> None:
    with pytest.raises(InputError, match=says):
        follow(points, 0.0, 0.0, FREE, passes=passes)


def test_after_the_last_of_several_passes_it_rests() -> None:
    c = follow((Waypoint(1.0, 1.0), Waypoint(0.0, 2.0)), 0.0, 0.0, TIGHT, passes=3.0)
    assert where(c, duration(c) + 1.0) == (0.0, 0.0, 0.0)
    c = follow((Waypoint(1.0, 1.0),), 0.0, 0.0, TIGHT)
    assert where(c, duration(c) + 1.0) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("slower", [0.0, -1.0, math.inf, math.nan])
def test_slower_is_a_finite_factor(slower: float) -> None:
    with pytest.raises(InputError, match="slower = .*: allowed are finite numbers above 0"):
        follow((Waypoint(1.0, 1.0),), 0.0, 0.0, TIGHT, slower=slower)


def test_a_pass_that_ends_where_it_began_takes_the_rate_its_first_waypoint_asks_for() -> None:
    """A loop: first and last waypoint are the same place, the first says how fast it is passed."""
    c = follow((Waypoint(0.0, 0.0, 0.5), Waypoint(1.0, 1.0), Waypoint(0.0, 2.0)), 0.0, 0.5, FREE, passes=math.inf)
    for seam in (2.0, 4.0):
        assert where(c, seam).v == pytest.approx(0.5)
        assert where(c, seam - EPS).v == pytest.approx(0.5, abs=1e-5)


def test_limits_that_cannot_be_kept_are_not_waited_for() -> None:
    """A rate the waypoint itself asks for grows slower with the whole, but a start that is too fast does not."""
    course, slower = fit((Waypoint(1.0, 1.0),), 0.0, 50.0, make_limits(2.0, 8.0))
    assert slower >= 1.0
    assert where(course, duration(course)).x == pytest.approx(1.0)
