"""A loop says who was late and by how much, to a sixteenth, however long it has run."""

import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from pushrod.runtime.cadence import Timing
from pushrod.runtime.clock import SteppedClock, WallClock

LATE = st.lists(st.integers(0, 10**12), min_size=1, max_size=60)  # [ns] up to a quarter of an hour


def timing(late: list[int]) -> Timing:
    cadence = SteppedClock().every(0.001, lambda k: None, "control")
    for ns in late:
        cadence.late.add(ns)
    return cadence.timing()


@given(LATE)
def test_shares_are_never_told_too_low_and_at_most_a_sixteenth_too_high(late: list[int]) -> None:
    told = timing(late)
    assert told.ticks == len(late)
    assert told.worst == max(late) * 1e-9
    for share, seconds in ((0.5, told.p50), (0.99, told.p99)):
        true = min(sorted(late)[max(0, -int(-share * len(late) // 1) - 1)], 2**36 - 1)
        assert true * 1e-9 <= seconds <= true * 17 / 16 * 1e-9 + 1e-15


def test_a_loop_that_has_not_run_was_never_late() -> None:
    assert timing([])[1:] == (0, 0, *[0.0] * 6)


def test_the_histogram_does_not_grow() -> None:
    cadence = SteppedClock().every(0.001, lambda k: None)
    size = len(cadence.late.bins)
    for bits in range(80):
        cadence.late.add(1 << bits)
    assert len(cadence.late.bins) == size
    assert cadence.timing().worst == (1 << 79) * 1e-9


def test_a_call_that_takes_too_long_is_told_by_how_long_it_took_and_how_long_others_waited() -> None:
    clock, done = WallClock(), threading.Event()

    def tick(k: int) -> None:
        if k == 3:
            time.sleep(0.035)  # real time is what is measured here
        if k > 10:
            done.set()

    cadence = clock.every(0.01, tick, "control")
    assert done.wait(5.0)
    cadence.stop()
    told = cadence.timing()
    assert told.missed >= 3
    assert told.longest >= 0.035
    assert told.longest >= told.call_p99 > 0.0
    assert told.delay >= 0.03  # the tick after the long one was due 30 ms before the next call
    assert told.delay >= told.worst


def test_on_the_stepped_clock_nothing_takes_time() -> None:
    clock = SteppedClock()
    cadence = clock.every(0.01, lambda k: None)
    clock.advance(1.0)
    assert cadence.timing()[1:] == (101, 0, *[0.0] * 6)
