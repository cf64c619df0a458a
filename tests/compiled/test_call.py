"""Pure functions compiled for live code: equal bits, and quick."""

import time
from typing import Annotated as A
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.compiled.call import compiled
from pushrod.core.errors import PurityError
from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q
from pushrod.motion import Limits, point_to_point


class Pair(NamedTuple):
    a: A[float, Q("m")] = 0.0
    b: A[float, Q("m")] = 0.0


class Sorted(NamedTuple):
    n: A[float, Q("-")]
    by: Pair


@pure
def ordered(p: Pair, k: float) -> Sorted:
    return Sorted(k, p if p.a <= p.b else Pair(p.b, p.a))


def unmarked(p: Pair) -> Pair:
    return p


places = st.floats(-10.0, 10.0)
limits = st.one_of(st.just(INF), st.floats(0.01, 100.0))


@given(places, places, places, places, st.builds(Limits, limits, limits, st.floats(0.1, 1e4)), st.floats(0.0, 5.0))
def test_a_motion_is_solved_with_equal_bits(x0, v0, a0, x1, bounds, T):
    assert compiled(point_to_point)(x0, v0, a0, x1, bounds, T) == point_to_point(x0, v0, a0, x1, bounds, T)


def test_records_go_in_and_come_out():
    answer = compiled(ordered)(Pair(3.0, -1.0), 7.0)
    assert answer == Sorted(7.0, Pair(-1.0, 3.0))
    assert type(answer.by) is Pair


def test_it_is_compiled_once():
    assert compiled(ordered) is compiled(ordered)


def test_the_wrong_number_of_arguments():
    with pytest.raises(TypeError, match="ordered takes 3 numbers, got 2"):
        compiled(ordered)(Pair())


def test_only_what_is_pure():
    with pytest.raises(PurityError, match="not marked @pure"):
        compiled(unmarked)


def test_a_move_is_solved_much_quicker():
    task = (0.0, 0.1, 0.0, 0.05, Limits(1.0, 2.0, 10.0), 0.0)
    quick = compiled(point_to_point)

    def least(fn):
        took = []
        for _ in range(50):
            began = time.perf_counter()
            fn(*task)
            took.append(time.perf_counter() - began)
        return min(took)

    assert least(point_to_point) > 5.0 * least(quick)
