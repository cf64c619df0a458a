"""Curve and grid as components: exact at their points, straight between, constant beyond."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.models import curve, grid

CURVE = curve.Params((0.0, 1.0, 3.0), (10.0, 20.0, 0.0))
# z = 2 r + 3 c is its own bilinear interpolation
GRID = grid.Params((0.0, 1.0, 4.0), (-1.0, 2.0), (-3.0, 6.0, -1.0, 8.0, 5.0, 14.0))


@pytest.mark.parametrize(("u", "y"), [(-5.0, 10.0), (0.0, 10.0), (0.5, 15.0), (1.0, 20.0), (2.0, 10.0), (3.0, 0.0), (9.0, 0.0)])
def test_curve(u: float, y: float) -> None:
    assert curve.step(CURVE, curve.State(), u, 0.01)[1] == y


@given(st.floats(-2.0, 6.0), st.floats(-3.0, 4.0))
def test_grid_of_a_plane_is_the_plane(r: float, c: float) -> None:
    _, y = grid.step(GRID, grid.State(), grid.In(r, c), 0.01)
    assert y == pytest.approx(2.0 * min(max(r, 0.0), 4.0) + 3.0 * min(max(c, -1.0), 2.0), abs=1e-12)


def test_tables_that_do_not_fit_are_refused() -> None:
    check(CURVE)
    check(GRID)
    with pytest.raises(ParameterError, match=r"pedal\.y has 2 values; its axes ask for 3 \(x\) = 3"):
        check(CURVE._replace(y=(1.0, 2.0)), "pedal")
    with pytest.raises(ParameterError, match=r"x\[2\] = 1 - does not exceed x\[1\] = 1"):
        check(CURVE._replace(x=(0.0, 1.0, 1.0)))
    with pytest.raises(ParameterError, match=r"z has 5 values; its axes ask for 3 \(row\) x 2 \(col\) = 6"):
        check(GRID._replace(z=GRID.z[:5]))
