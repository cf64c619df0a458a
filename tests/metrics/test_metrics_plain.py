"""Each metric, folded in plain Python over a history, against what the whole history says."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod import metrics
from pushrod.core.model import Tick
from pushrod.core.purity import offences
from pushrod.metrics import METRICS, Measure
from pushrod.metrics.metric import window

DT = 0.5
histories = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


def folded(measure: Measure, ys: Sequence[float], k0: int = 0) -> float:
    metric, _, p, *_ = measure
    m, at = metric.State(), Tick(k0, DT)
    for k, y in enumerate(ys, start=k0):
        at = Tick(k, DT)
        m = metric.fold(p, m, y, at)
    return metric.finish(p, m, at)


@pytest.mark.parametrize("name", METRICS)
def test_pure_and_under_its_own_name(name: str) -> None:
    metric = METRICS[name]
    assert metric.name == name
    assert offences(metric.fold) + offences(metric.finish) == []


@given(histories)
def test_extremes_and_the_last(ys: list[float]) -> None:
    assert folded(metrics.maximum("y"), ys) == max(ys)
    assert folded(metrics.minimum("y"), ys) == min(ys)
    assert folded(metrics.final("y"), ys) == ys[-1]
    assert folded(metrics.magnitude("y"), ys) == max(abs(y) for y in ys)
    assert folded(metrics.mean("y"), ys) == pytest.approx(math.fsum(ys) / len(ys), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_number_is_not_passed_over(place: int) -> None:
    ys = [1.0, 1.0, 1.0]
    ys[place] = math.nan
    for measure in (metrics.maximum("y"), metrics.minimum("y"), metrics.magnitude("y"), metrics.mean("y"), metrics.rms("y")):
        assert math.isnan(folded(measure, ys))
    assert folded(metrics.settling_time("y", 1.0, 0.5), ys) == (math.inf if place == 2 else (place + 2) * DT)


@pytest.mark.parametrize(("since", "until", "first", "last"), [(0.0, math.inf, 0, math.inf), (0.3, 0.5, 2, 4), (0.25, 0.55, 2, 4), (0.1, 0.1, 0, 0)])
def test_a_window_is_the_ticks_that_end_within_it(since: float, until: float, first: float, last: float) -> None:
    assert window(since, until, 0.1) == (first, last)


def test_a_window_between_two_ticks_is_empty() -> None:
    first, last = window(0.32, 0.38, 0.1)
    assert first > last


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([1e-3, 0.01, 0.1, 1.0 / 3.0, 7e-4]))
def test_a_window_is_by_the_times_that_a_run_tells(a: int, b: int, dt: float) -> None:
    first, last = window((a + 1) * dt, (a + b + 1) * dt, dt)
    assert (first, last) == (a, a + b)


def test_recovery_counts_from_the_first_tick_it_is_given() -> None:
    ys = [0.0, 5.0, 5.0, 1.0, 1.0]
    assert folded(metrics.recovery_time("y", 1.0, 0.5), ys) == 3 * DT
    assert folded(metrics.recovery_time("y", 1.0, 0.5), ys, k0=100) == 3 * DT
    assert folded(metrics.recovery_time("y", 1.0, 0.5), [1.0, 1.0]) == 0.0
    assert folded(metrics.recovery_time("y", 1.0, 0.5), [1.0, 5.0]) == math.inf


@given(histories, st.floats(-1e3, 1e3))
def test_root_mean_square(ys: list[float], target: float) -> None:
    assert folded(metrics.rms("y", target), ys) == pytest.approx(math.sqrt(math.fsum((y - target) ** 2 for y in ys) / len(ys)), rel=1e-14)


def test_small_terms_are_not_lost_on_a_large_sum() -> None:
    ys = [1e8] + [1.0] * 10_000
    assert folded(metrics.rms("y"), ys) == pytest.approx(math.sqrt(math.fsum(y * y for y in ys) / len(ys)), rel=1e-16)


def test_nothing_watched_is_no_error() -> None:
    assert folded(metrics.rms("y"), []) == 0.0


SWING = [0.0, 2.0, 0.5, 1.2, 0.9, 1.1, 1.0]


@pytest.mark.parametrize(
    ("band", "tick"),
    [
        (2.0, 0),  # inside from the start
        (1.0, 0),  # on the edge is inside
        (0.5, 3),
        (0.25, 4),
        (0.15, 5),
        (0.05, 7),
    ],
)
def test_settling_time_is_the_end_of_the_first_tick_inside_for_good(band: float, tick: int) -> None:
    assert folded(metrics.settling_time("y", 1.0, band), SWING) == tick * DT


def test_never_settled() -> None:
    assert folded(metrics.settling_time("y", 1.0, 0.05), SWING[:-1]) == math.inf


def test_crossing_time_is_the_end_of_the_first_tick_past_the_threshold() -> None:
    rise = [0.0, 0.4, 0.5, 0.3, 0.9]
    assert folded(metrics.crossing_time("y", 0.5), rise) == 3 * DT
    assert folded(metrics.crossing_time("y", -1.0), rise) == DT
    assert folded(metrics.crossing_time("y", 1.0), rise) == math.inf
    assert folded(metrics.crossing_time("y", 0.3, falling=True), rise[1:]) == 3 * DT
    assert folded(metrics.crossing_time("y", -0.1, falling=True), rise) == math.inf


def test_times_count_from_tick_zero_wherever_the_run_begins() -> None:
    assert folded(metrics.crossing_time("y", 0.5), [0.0, 1.0], k0=10) == 12 * DT
    assert folded(metrics.settling_time("y", 1.0, 0.1), [0.0, 1.0, 1.0], k0=10) == 12 * DT
