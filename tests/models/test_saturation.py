import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.models.saturation import Params, State, step

reals = st.floats(-1e6, 1e6)


@given(reals, reals, reals)
def test_within_bounds_and_untouched_between(a: float, b: float, u: float) -> None:
    lo, hi = min(a, b), max(a, b)
    _, y = step(Params(lo, hi), State(), u, 0.01)
    assert lo <= y <= hi
    assert y == u or u < lo or u > hi


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"out\.lo = 2 lies above hi = 1"):
        check(Params(2.0, 1.0), "out")
