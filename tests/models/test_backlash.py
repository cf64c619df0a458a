"""Backlash: taken up before anything moves, lost once at each turn, and nothing of it without play."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.models.backlash import Params, State, step

reals = st.lists(st.floats(-2.0, 2.0), max_size=40)


def followed(play: float, inputs: list[float], y: float = 0.0) -> list[float]:
    s, seen = State(y), []
    for u in inputs:
        s, out = step(Params(play), s, u, 0.01)
        seen.append(out)
    return seen


def test_there_and_back_the_play_is_lost_once() -> None:
    assert followed(0.2, [0.05, 0.1, 0.5, 1.0]) == pytest.approx([0.0, 0.0, 0.4, 0.9]), "half of it from the middle"
    assert followed(0.2, [0.95, 0.8, 0.5, 0.6], 0.9) == pytest.approx([0.9, 0.9, 0.6, 0.6]), "all of it from one side to the other"


@given(st.floats(0.0, 1.0), reals)
def test_the_output_is_never_farther_off_than_half_the_play_and_moves_no_farther_than_it_must(play: float, inputs: list[float]) -> None:
    y = 0.0
    for u, now in zip(inputs, followed(play, inputs), strict=True):
        assert abs(now - u) <= 0.5 * play + 1e-12
        assert now == y or abs(abs(now - u) - 0.5 * play) < 1e-12
        y = now


@given(reals)
def test_no_play_no_backlash(inputs: list[float]) -> None:
    assert followed(0.0, inputs) == inputs


def test_in_no_time_nothing_moves() -> None:
    assert step(Params(0.2), State(0.3), 5.0, 0.0) == (State(0.3), 0.3)
