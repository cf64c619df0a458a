"""When is a process dead? By what its heartbeats say of its progress, and never for being slow by design."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.guard.judge import ARMED, SAFE, STOPPING, TURNS, Watch, beat, looked_at, patience, verdict
from pushrod.guard.wire import Reader, by_path, pack

LIMIT = 0.1
NAMES = {0: ("the event loop", TURNS), 1: ("the loop control", 0.001), 2: ("the loop slow", 1.0)}


def armed(at: float = 0.0, level: int = ARMED) -> Watch:
    return looked_at(Watch(LIMIT), level, at)


@pytest.mark.parametrize("level", [STOPPING, ARMED])
def test_silence_past_the_limit_is_death(level: int) -> None:
    watch = armed(5.0, level)
    assert verdict(watch, 5.1 - 1e-9) == ""
    assert "no heartbeat for 0.101 s, 0.1 s are allowed" in verdict(watch, 5.101)
    assert "the computer is too busy" in verdict(watch, 5.101)


def test_what_is_disarmed_may_be_silent_for_ever() -> None:
    assert verdict(armed(0.0, SAFE), 1e9) == ""
    assert patience(armed(0.0, SAFE), 1.0) is None


def beating(ticks: dict[int, int], since: float, now: float) -> Watch:
    """Heartbeats all the time, but these counts have not changed since."""
    watch = beat(armed(since), NAMES, ticks, since)
    return beat(watch, NAMES, ticks, now)


@pytest.mark.parametrize(
    ("ticks", "allowed", "says"),
    [
        ({0: 8}, LIMIT, "the event loop has not turned"),
        ({1: 7}, LIMIT, "the loop control is stuck in one call"),
        ({1: 8}, LIMIT + 0.001, "the loop control has not been called"),
        ({2: 7}, 2.0, "the loop slow is stuck in one call"),
        ({2: 8}, LIMIT + 1.0, "the loop slow has not been called"),
    ],
)
def test_each_source_has_the_time_its_period_gives_it(ticks: dict[int, int], allowed: float, says: str) -> None:
    assert verdict(beating(ticks, 3.0, 3.0 + allowed - 1e-6), 3.0 + allowed - 1e-6) == ""
    assert says in verdict(beating(ticks, 3.0, 3.0 + allowed + 1e-6), 3.0 + allowed + 1e-6)


def test_progress_is_not_looked_at_while_it_is_being_disarmed() -> None:
    watch = looked_at(beating({0: 1, 1: 1}, 0.0, 50.0), STOPPING, 50.0)
    assert verdict(watch, 50.05) == ""
    assert verdict(beat(watch, NAMES, {0: 1, 1: 1}, 60.0), 60.0) == ""


def test_what_was_before_arming_does_not_count() -> None:
    watch = looked_at(beating({0: 1, 1: 1}, 0.0, 50.0), ARMED, 50.0)
    assert verdict(watch, 50.05) == ""


def test_a_loop_that_has_ended_is_not_missed() -> None:
    watch = beat(beating({0: 2, 1: 1}, 0.0, 0.05), NAMES, {0: 4}, 0.06)
    assert verdict(beat(watch, NAMES, {0: 6}, 0.15), 0.15) == ""


@given(st.lists(st.tuples(st.floats(1e-3, 0.5), st.dictionaries(st.sampled_from(list(NAMES)), st.integers(0, 3))), max_size=12))
def test_it_never_looks_again_later_than_it_must(story: list[tuple[float, dict[int, int]]]) -> None:
    """Whenever a verdict falls, the guard was not still waiting by then; and while it waits, none does."""
    now, watch = 0.0, armed()
    for seconds, ticks in story:
        now += seconds
        watch = beat(watch, NAMES, ticks, now)
        wait = patience(watch, now)
        assert wait is not None
        assert verdict(watch, now + wait)
        assert verdict(watch, now) or not verdict(watch, now + 0.999 * (wait - 1e-3))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


@given(st.lists(st.tuples(st.text(), PLAIN), max_size=5), st.integers(1, 64))
def test_messages_arrive_as_they_were_however_they_are_cut(messages: list[tuple[object, ...]], n: int) -> None:
    whole, reader, got = b"".join(map(pack, messages)), Reader(), []
    while whole:
        got += reader.feed(whole[:n])
        whole = whole[n:]
    assert got == messages


def test_equal_problems_are_told_once() -> None:
    assert by_path({"a": "gone", "b": "gone", "c": "odd"}) == ["a and 1 more: gone", "c: odd"]
