"""The dead zone: a weak drive neither starts nor turns a motion, but keeps one going until it was held once."""

from hypothesis import given
from hypothesis import strategies as st

from pushrod.models.dead_zone import In, Params, State, step

reals = st.floats(-2.0, 2.0)


def play(p: Params, inputs: list[tuple[float, float]]) -> list[float]:
    s, seen = State(), []
    for u, w in inputs:
        s, y = step(p, s, In(u, w), 0.01)
        seen.append(y.y)
    return seen


def test_the_story_of_a_latch() -> None:
    p = Params(threshold=0.5)
    assert play(p, [(0.3, 0.0)]) == [0.0], "too weak to start"
    assert play(p, [(0.5, 0.0), (0.3, 1.0), (0.1, 1.0)]) == [0.5, 0.3, 0.1], "strong enough, then kept going"
    assert play(p, [(0.3, 1.0), (-0.3, 1.0), (0.3, 1.0), (0.6, 1.0), (0.3, 1.0)]) == [0.3, 0.0, 0.0, 0.6, 0.3], "held once, until strong"
    assert play(p, [(-0.7, 1.0)]) == [-0.7], "a strong drive turns it"


def test_at_rest_and_without_drive_it_is_held_on_either_side() -> None:
    p = Params(threshold=0.5)
    for side in (1.0, -1.0):
        _, y = step(p, State(), In(side * 0.3, 0.0), 0.01)
        assert (y.y, y.held) == (0.0, 1.0)
        s, y = step(p, State(), In(0.0, side), 0.01)
        assert (y.y, y.held, s.held) == (0.0, 1.0, 1.0)
        s, y = step(p, s, In(side * 0.3, side), 0.0)
        assert s.held == 1.0
    s, y = step(p, State(), In(0.0, 1.0), 0.0)
    assert (s.held, y.held) == (0.0, 1.0), "in no time nothing latches"


@given(st.floats(0.0, 2.0), st.lists(st.tuples(reals, reals), max_size=30))
def test_all_or_nothing_and_never_holds_a_strong_drive(threshold: float, inputs: list[tuple[float, float]]) -> None:
    for (u, _), y in zip(inputs, play(Params(threshold), inputs), strict=True):
        assert y in (0.0, u)
        assert y == u or abs(u) < threshold


@given(st.lists(st.tuples(reals, reals), max_size=30))
def test_no_threshold_no_zone(inputs: list[tuple[float, float]]) -> None:
    assert play(Params(0.0), inputs) == [u for u, _ in inputs]
