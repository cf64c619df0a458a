"""Work is done between the calls of control loops, not before them; but it is done."""

import time

import pytest

from pushrod.runtime.clock import SteppedClock, WallClock
from pushrod.runtime.gaps import AFTER, BEFORE, PATIENCE, PUT_OFF, Gaps

MS = 1_000_000


@pytest.fixture
def clock():
    clock = WallClock()
    yield clock
    clock.end()


def test_a_gap_ends_before_the_next_call(clock):
    loops = [clock.every(0.01, lambda k: None)]
    gaps = Gaps(lambda: loops)
    for _ in range(20):
        end = gaps.wait()
        now = time.monotonic_ns()
        assert now <= end + BEFORE + 5_000_000  # a busy machine may come late, but not in vain
        assert loops[0].due(end) - end >= BEFORE - 1


def test_a_gap_begins_when_a_call_has_ended_as_long_as_it_takes(clock):
    loops = [clock.every(0.02, lambda k: time.sleep(0.008))]
    time.sleep(0.6)
    assert 7 * MS < loops[0].usual < 15 * MS
    gaps, since = Gaps(lambda: loops), []
    for _ in range(10):
        gaps.wait(0.02)
        now = time.monotonic_ns()
        since.append(now - loops[0].due(now) + 20 * MS)
    assert sum(8 * MS <= x <= 20 * MS - BEFORE for x in since) >= 8  # a busy machine may disturb one


def test_it_rests_before_it_waits():
    began = time.monotonic_ns()
    Gaps(lambda: ()).wait(0.03)
    assert time.monotonic_ns() - began >= 30 * MS


def test_without_loops_there_is_time_at_once():
    assert Gaps(lambda: ()).wait() > time.monotonic_ns()


def test_loops_without_gaps_are_not_waited_for_for_ever(clock):
    loops = [clock.every(2e-4, lambda k: None)]
    began = time.monotonic_ns()
    Gaps(lambda: loops).wait()
    assert AFTER < time.monotonic_ns() - began < 50 * PATIENCE


def test_when_a_call_is_due():
    loop = SteppedClock().every(0.01, lambda k: None)
    assert [loop.due(now) for now in (0, 1, 9_999_999, 10_000_000, 10_000_001)] == [0, 10_000_000, 10_000_000, 10_000_000, 20_000_000]


def test_what_is_planned_comes_in_a_gap_and_hardly_later(clock):
    loops = [clock.every(0.005, lambda k: None), clock.every(0.01, lambda k: None)]
    time.sleep(0.1)
    gaps, now = Gaps(lambda: loops), time.monotonic()
    put_off = 0
    for j in range(200):
        t = now + 1.0 + 1e-4 * j
        when = gaps.planned(t)
        assert t <= when <= t + 1e-9 * PUT_OFF + 1e-3
        put_off += when > t
        for loop in loops:
            assert loop.due(round(when * 1e9)) - round(when * 1e9) >= BEFORE - 1
    assert 5 < put_off < 150


def test_a_plan_between_calls_stays_where_it_is():
    assert Gaps(lambda: ()).planned(12.5) == 12.5


def test_loops_without_gaps_put_a_plan_off_by_a_millisecond(clock):
    loops = [clock.every(2e-4, lambda k: None)]
    t = time.monotonic() + 1.0
    assert t < Gaps(lambda: loops).planned(t) <= t + 2e-9 * PUT_OFF


def test_a_timer_does_not_come_while_a_call_is_due(clock):
    loop = clock.every(0.01, lambda k: None)
    time.sleep(0.1)
    before = []
    for j in range(20):
        clock.later(0.02 + 5e-4 * j, lambda: before.append(loop.due(time.monotonic_ns()) - time.monotonic_ns()))
    time.sleep(0.1)
    assert len(before) == 20
    assert sum(x > BEFORE // 2 for x in before) >= 17  # a busy machine may disturb some
