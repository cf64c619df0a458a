"""Characteristic curve: the output is looked up over one input, straight between the points and constant beyond the ends.

    y = f(u),  f through the points (x[j], y[j])

x, y   points of the curve, x strictly rising; in the units of input and output (written "-")
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table
from pushrod.core.table import lookup


class Params(NamedTuple):
    x: A[Floats, Table("-", rising=True)] = (-1.0, 1.0)
    y: A[Floats, Table("-", shape=("x",))] = (-1.0, 1.0)


class State(NamedTuple):
    pass


In = A[float, Q("-")]
Out = A[float, Q("-")]


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, float]:
    return s, lookup(p, u)


CURVE = Model("curve", Params, State, In, Out, step)
