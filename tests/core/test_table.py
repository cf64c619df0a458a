"""Look-ups in grids against the bilinear formula written out, and back again along a column."""

import math
from bisect import bisect_right
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.quantity import Floats
from pushrod.core.table import column_value, fraction, invert_rows, lookup_cell, lookup_grid, segment


class Grid(NamedTuple):
    row: Floats
    col: Floats
    z: Floats


axes = st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True).map(lambda xs: tuple(0.5 * x for x in sorted(xs)))


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    row, col = draw(axes), draw(axes)
    z = draw(st.lists(st.floats(-100.0, 100.0), min_size=len(row) * len(col), max_size=len(row) * len(col)))
    return Grid(row, col, tuple(z))


@st.composite
def rising(draw: st.DrawFn) -> Grid:
    """Values rise from row to row in every column, by 0.1 at least."""
    row, col = draw(axes), draw(axes)
    z: list[float] = []
    for i in range(len(row)):
        z += [(z[(i - 1) * len(col) + j] if i else 0.0) + draw(st.floats(0.1, 10.0)) for j in range(len(col))]
    return Grid(row, col, tuple(z))


def place(axis: Floats, x: float) -> tuple[int, float]:
    """Segment and fraction, by the library's own bisection."""
    i = min(max(bisect_right(axis, x) - 1, 0), len(axis) - 2)
    return i, min(max((x - axis[i]) / (axis[i + 1] - axis[i]), 0.0), 1.0)


def at(g: Grid, i: int, j: int) -> float:
    return g.z[i * len(g.col) + j]


anywhere = st.floats(-30.0, 30.0)


@given(axes, anywhere)
def test_the_segment_and_how_far_into_it(axis: Floats, x: float) -> None:
    j = segment(axis, x)
    assert (j, fraction(axis, j, x)) == place(axis, x)


def test_a_grid_of_two_rows_by_hand() -> None:
    g = Grid((0.0, 1.0), (0.0, 10.0, 20.0), (0.0, 1.0, 2.0, 10.0, 11.0, 12.0))
    assert lookup_grid(g, 0.0, 0.0) == 0.0
    assert lookup_grid(g, 1.0, 20.0) == 12.0
    assert lookup_grid(g, 0.5, 5.0) == 5.5
    assert lookup_grid(g, -9.0, 99.0) == 2.0


@given(grids(), anywhere, anywhere)
def test_between_four_corners_it_is_bilinear(g: Grid, r: float, c: float) -> None:
    (i, f), (j, h) = place(g.row, r), place(g.col, c)
    wanted = (1 - f) * ((1 - h) * at(g, i, j) + h * at(g, i, j + 1)) + f * ((1 - h) * at(g, i + 1, j) + h * at(g, i + 1, j + 1))
    assert lookup_grid(g, r, c) == pytest.approx(wanted, abs=1e-10)
    assert lookup_cell(g, i, f, j, h) == lookup_grid(g, r, c)
    assert column_value(g, i, j, h) == pytest.approx((1 - h) * at(g, i, j) + h * at(g, i, j + 1), abs=1e-10)


@given(rising(), st.floats(0.0, 1.0), anywhere, st.sampled_from([1.0, -1.0]))
def test_the_inverse_finds_the_row_that_gives_the_value(g: Grid, share: float, c: float, way: float) -> None:
    g = g._replace(z=tuple(way * z for z in g.z))
    j, h = place(g.col, c)
    r = g.row[0] + share * (g.row[-1] - g.row[0])
    assert invert_rows(g, j, h, lookup_grid(g, r, c), way) == pytest.approx(r, abs=1e-9)


@given(rising(), anywhere, st.floats(0.0, 1e3), st.sampled_from([1.0, -1.0]))
def test_beyond_its_values_the_inverse_stays_at_the_end(g: Grid, c: float, beyond: float, way: float) -> None:
    g = g._replace(z=tuple(way * z for z in g.z))
    j, h = place(g.col, c)
    assert invert_rows(g, j, h, column_value(g, 0, j, h) - way * beyond, way) == g.row[0]
    assert invert_rows(g, j, h, column_value(g, len(g.row) - 1, j, h) + way * beyond, way) == g.row[-1]


@given(grids(), anywhere, st.floats(-200.0, 200.0), st.sampled_from([1.0, -1.0]))
def test_a_table_in_disorder_still_gives_a_row_of_its_axis(g: Grid, c: float, z: float, way: float) -> None:
    j, h = place(g.col, c)
    r = invert_rows(g, j, h, z, way)
    assert math.isfinite(r)
    assert g.row[0] <= r <= g.row[-1]
