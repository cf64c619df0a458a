"""A loop says who was late and by how much, to a sixteenth, however long it has run."""

from hypothesis import given
from hypothesis import strategies as st

from pushrod.runtime.cadence import Timing
from pushrod.runtime.clock import SteppedClock

LATE = st.lists(st.integers(0, 10**12), min_size=1, max_size=60)  # [ns] up to a quarter of an hour


def timing(late: list[int]) -> Timing:
    cadence = SteppedClock().every(0.001, lambda k: None, "control")
    for ns in late:
        cadence.note(ns)
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
    assert timing([])[1:] == (0, 0, 0.0, 0.0, 0.0)


def test_the_histogram_does_not_grow() -> None:
    cadence = SteppedClock().every(0.001, lambda k: None)
    size = len(cadence.bins)
    for bits in range(80):
        cadence.note(1 << bits)
    assert len(cadence.bins) == size
    assert cadence.timing().worst == (1 << 79) * 1e-9
