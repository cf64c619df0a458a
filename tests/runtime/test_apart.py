"""Loops that come again and again at the same time are begun apart from each other."""

from itertools import pairwise
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.runtime.apart import MEET, apart
from pushrod.runtime.clock import WallClock

MS = 1_000_000


def distance(a: tuple[int, int], b: tuple[int, int]) -> int:
    """The nearest that calls of two loops (start, period) ever come."""
    g = gcd(a[1], b[1])
    return min((a[0] - b[0]) % g, (b[0] - a[0]) % g)


def begun(*periods: int, first: int = 12_345_678) -> list[tuple[int, int]]:
    loops: list[tuple[int, int]] = []
    for i, period in enumerate(periods):
        loops.append((apart(first + 77_777 * i, period, loops), period))
    return loops


def test_two_of_a_kilohertz_are_half_a_period_apart() -> None:
    assert distance(*begun(MS, MS)) >= 0.48 * MS


def test_slow_ones_leave_the_middle_to_the_quick_ones_that_follow() -> None:
    machine, watchdogs, sensor, commands = begun(MS, 10 * MS, 15 * MS, MS)
    assert distance(machine, commands) >= 0.45 * MS
    for slow in (watchdogs, sensor):
        assert distance(machine, slow) >= 0.2 * MS
        assert distance(commands, slow) >= 0.2 * MS


def test_four_quick_ones_share_the_period() -> None:
    starts = sorted(start % MS for start, _ in begun(MS, MS, MS, MS))
    assert min(b - a for a, b in pairwise([*starts, starts[0] + MS])) >= 0.2 * MS


@given(
    st.integers(0, 10**15),
    st.integers(1, 10**9),
    st.lists(st.tuples(st.integers(0, 10**15), st.integers(1, 10**9)), max_size=6),
)
def test_nobody_waits_longer_than_the_others_ask_for(begin, period, others) -> None:
    start = apart(begin, period, others)
    common = [g for _, other in others if (g := gcd(period, other)) >= MEET]
    assert begin <= start <= begin + min(common, default=0) <= begin + period


def test_on_the_wall_clock_they_are_begun_so() -> None:
    clock = WallClock()
    try:
        one, two = (clock.every(0.01, lambda k: None, name) for name in ("one", "two"))
        assert one.due(0) != two.due(0)
        assert abs((one.due(0) - two.due(0)) % (10 * MS) - 5 * MS) <= 0.2 * MS
    finally:
        clock.end()


@pytest.mark.parametrize("period", [333_333, 7 * MS + 13])
def test_who_passes_through_all_others_begins_at_once(period) -> None:
    assert apart(5, period, [(0, MS)]) == 5
