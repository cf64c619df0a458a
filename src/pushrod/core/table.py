"""Piecewise linear look-up in tables, clamped at the ends.

1-D: a record with tables `x` (rising) and `y`.
2-D: a record with tables `row`, `col` (rising) and `z` over ("row", "col"), stored row by row. Along the columns first, then
along the rows, as the reference does it.
"""

from typing import Protocol

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats
from pushrod.core.scalar import clamp


class Curve(Protocol):
    @property
    def x(self) -> Floats: ...
    @property
    def y(self) -> Floats: ...


class Grid(Protocol):
    @property
    def row(self) -> Floats: ...
    @property
    def col(self) -> Floats: ...
    @property
    def z(self) -> Floats: ...


@pure
def segment(axis: Floats, x: float) -> int:
    """j with axis[j] <= x < axis[j + 1]; 0 or n - 2 beyond the ends."""
    lo = 0
    hi = len(axis) - 1
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if axis[mid] <= x:
            lo = mid
        else:
            hi = mid
    return lo


@pure
def segment_near(axis: Floats, x: float, j: int) -> int:
    """The same segment, walked to from segment j: quick where x moves little between look-ups."""
    last = len(axis) - 2
    while j < last and axis[j + 1] <= x:
        j = j + 1
    while j > 0 and axis[j] > x:
        j = j - 1
    return j


@pure
def fraction(axis: Floats, j: int, x: float) -> float:
    """How far x lies into segment j: 0 at its start, 1 at its end, clamped."""
    return clamp((x - axis[j]) / (axis[j + 1] - axis[j]), 0.0, 1.0)


@pure
def lookup(m: Curve, x: float) -> float:
    j = segment(m.x, x)
    return m.y[j] + fraction(m.x, j, x) * (m.y[j + 1] - m.y[j])


@pure
def lookup_cell(m: Grid, i: int, f: float, j: int, g: float) -> float:
    """The value at row segment i, fraction f and column segment j, fraction g."""
    n = len(m.col)
    a = m.z[i * n + j] + g * (m.z[i * n + j + 1] - m.z[i * n + j])
    b = m.z[(i + 1) * n + j] + g * (m.z[(i + 1) * n + j + 1] - m.z[(i + 1) * n + j])
    return a + f * (b - a)


@pure
def lookup_grid(m: Grid, r: float, c: float) -> float:
    i = segment(m.row, r)
    j = segment(m.col, c)
    return lookup_cell(m, i, fraction(m.row, i, r), j, fraction(m.col, j, c))


@pure
def column_value(m: Grid, i: int, j: int, g: float) -> float:
    """The value in row i at column segment j, fraction g."""
    k = i * len(m.col) + j
    return m.z[k] + g * (m.z[k + 1] - m.z[k])


@pure
def invert_rows(m: Grid, j: int, g: float, z: float, way: float) -> float:
    """The row coordinate where the grid takes the value z at column segment j, fraction g; clamped at the ends.

    `way` is 1.0 where values rise from row to row and -1.0 where they fall.
    """
    lo = 0
    hi = len(m.row) - 1
    z_lo = way * column_value(m, lo, j, g)
    z_hi = way * column_value(m, hi, j, g)
    z = way * z
    if z <= z_lo:
        return m.row[lo]
    if z >= z_hi:
        return m.row[hi]
    # from here z_lo <= z < z_hi holds throughout, so the last division is safe whatever the table holds
    while hi - lo > 1:
        mid = (lo + hi) // 2
        z_mid = way * column_value(m, mid, j, g)
        if z_mid <= z:
            lo = mid
            z_lo = z_mid
        else:
            hi = mid
            z_hi = z_mid
    return m.row[lo] + (z - z_lo) / (z_hi - z_lo) * (m.row[hi] - m.row[lo])
