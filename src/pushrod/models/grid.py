"""Map: the output is looked up over two inputs, bilinear between the points and constant beyond the edges.

    y = f(r, c),  f through the points z[i n + j] at (row[i], col[j]),  n = len(col)

row, col   axes, strictly rising; z the values row by row; in the units of inputs and output (written "-")
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table
from pushrod.core.table import lookup_grid


class Params(NamedTuple):
    row: A[Floats, Table("-", rising=True)] = (0.0, 1.0)
    col: A[Floats, Table("-", rising=True)] = (0.0, 1.0)
    z: A[Floats, Table("-", shape=("row", "col"))] = (0.0, 0.0, 0.0, 1.0)


class State(NamedTuple):
    pass


class In(NamedTuple):
    r: A[float, Q("-", about="along the rows' axis")] = 0.0
    c: A[float, Q("-", about="along the columns' axis")] = 0.0


Out = A[float, Q("-")]


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, float]:
    return s, lookup_grid(p, u.r, u.c)


GRID = Model("grid", Params, State, In, Out, step)
