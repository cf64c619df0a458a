"""The queue against a plain list with n zeros in it."""

from collections import deque
from typing import Annotated as A
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.core.quantity import Q
from pushrod.models import queue

LINE = queue.of(A[float, Q("m/s2")], slots=32)


class Command(NamedTuple):
    torque: A[float, Q("N.m")] = 0.0
    gear: A[float, Q("-")] = 2.0


@given(st.integers(0, 31), st.lists(st.floats(-10.0, 10.0), max_size=80))
def test_like_a_list_of_n_zeros(n: int, inputs: list[float]) -> None:
    p, s = LINE.Params(n * 0.025, 0.025), LINE.State()
    reference = deque([0.0] * n)
    for u in inputs:
        reference.append(u)
        s, y = LINE.step(p, s, u, 0.01)
        assert y == reference.popleft()
        assert LINE.step(p, s, 99.0, 0.0) == (s, y), "no time, no push: the last output again"


@pytest.mark.parametrize(
    ("delay", "sampling_time", "n"),
    [
        (0.0, 0.025, 0),
        (0.1, 0.025, 4),
        (0.24, 0.025, 10),
        (0.0125, 0.025, 1),
        (0.0124, 0.025, 0),
        (0.25, 0.1, 3),
        (0.35, 0.1, 3),
        (0.49999999999999994, 1.0, 0),
        (0.5, 1.0, 1),
        (2.5, 1.0, 3),
    ],
)
def test_length_is_rounded_halves_away_from_zero(delay: float, sampling_time: float, n: int) -> None:
    p, s = LINE.Params(delay, sampling_time), LINE.State()
    out = []
    for k in range(20):
        s, y = LINE.step(p, s, float(k + 1), 0.025)
        out.append(y)
    assert out == [max(0.0, k + 1.0 - n) for k in range(20)]


def test_a_record_travels_whole_and_starts_at_its_defaults() -> None:
    line = queue.of(Command, slots=4)
    s, seen = line.State(), []
    for k in range(3):
        s, y = line.step(line.Params(0.05), s, Command(float(k), 20.0), 0.025)
        seen.append(y)
    assert seen == [Command(0.0, 2.0), Command(0.0, 2.0), Command(0.0, 20.0)]


def test_a_delay_the_queue_cannot_hold_is_refused() -> None:
    check(LINE.Params(31 * 0.025))
    with pytest.raises(
        ParameterError, match=r"delay = 0\.8 s is 32 entries of 0\.025 s and needs 33 slots; this queue has 32: take at most 0\.775 s"
    ):
        check(LINE.Params(0.8))


def test_a_delay_the_queue_cannot_hold_is_cut_to_its_length() -> None:
    line = queue.of(Command, slots=4)
    s, seen = line.State(), []
    for k in range(6):
        s, y = line.step(line.Params(9.0, 0.025), s, Command(float(k + 1)), 0.025)
        seen.append(y.torque)
        assert len(s.line) == 4
    assert seen == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]


def test_equal_arguments_give_the_same_model() -> None:
    assert queue.of(A[float, Q("m/s2")], 32) is LINE
    assert queue.of(A[float, Q("m/s2")], slots=31) is not LINE
