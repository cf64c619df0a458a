"""Work is done between the calls of control loops, not before them; but it is done."""

import time

import pytest

from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.gaps import BEFORE, PATIENCE, Gaps


@pytest.fixture
def loop():
    clock = WallClock()
    yield clock.every(0.01, lambda k: None)
    clock.end()


def test_a_gap_ends_before_the_next_call(loop):
    gaps = Gaps(lambda: [loop])
    for _ in range(20):
        end = gaps.wait()
        now = time.monotonic_ns()
        assert now <= end + BEFORE + 5_000_000  # a busy machine may come late, but not in vain
        assert loop.due(end) - end >= BEFORE - 1


def test_without_loops_there_is_time_at_once():
    assert Gaps(lambda: ()).wait() > time.monotonic_ns()


def test_loops_without_gaps_are_not_waited_for_for_ever():
    clock = WallClock()
    try:
        loops = [clock.every(2e-4, lambda k: None)]
        began = time.monotonic_ns()
        Gaps(lambda: loops).wait()
        assert time.monotonic_ns() - began < 50 * PATIENCE
    finally:
        clock.end()


def test_when_a_call_is_due():
    loop = SteppedClock().every(0.01, lambda k: None)
    assert [loop.due(now) for now in (0, 1, 9_999_999, 10_000_000, 10_000_001)] == [0, 10_000_000, 10_000_000, 10_000_000, 20_000_000]
