import math

from hypothesis import given
from hypothesis import strategies as st

from pushrod.models.quantiser import Params, State, step


@given(st.floats(1e-6, 1e3), st.floats(-1e4, 1e4))
def test_a_whole_multiple_within_half_a_step(q: float, u: float) -> None:
    _, y = step(Params(q), State(), u, 0.01)
    assert abs(y - u) <= 0.5 * q * (1.0 + 1e-9)
    assert math.isclose(y / q, round(y / q), rel_tol=1e-12, abs_tol=1e-12)
    assert step(Params(q), State(), y, 0.01)[1] == y, "what is on the grid stays"


@given(st.floats(-1e300, 1e300))
def test_no_step_passes_everything(u: float) -> None:
    assert step(Params(0.0), State(), u, 0.01)[1] == u


def test_counts_of_an_encoder() -> None:
    _, y = step(Params(2.0 * math.pi / 4096.0), State(), 0.01, 0.01)
    assert y == 7.0 * 2.0 * math.pi / 4096.0
    assert step(Params(0.5), State(), 0.25, 0.01)[1] == 0.5
    assert step(Params(0.5), State(), -0.25, 0.01)[1] == 0.0
    assert step(Params(1e-12), State(), 1e9, 0.01)[1] == 1e9
