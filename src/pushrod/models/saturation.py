"""Saturation: the output is the input, held within two bounds.

    y = lo where u < lo;  hi where u > hi;  u between

u, y, lo, hi   all in the unit of the signal (written "-")
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp


class Params(NamedTuple):
    lo: A[float, Q("-")] = -1.0
    hi: A[float, Q("-")] = 1.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if self.lo > self.hi:
            yield f"lo = {self.lo:g} lies above hi = {self.hi:g}: nothing can be between them; swap them"


class State(NamedTuple):
    pass


In = A[float, Q("-")]
Out = A[float, Q("-")]


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, float]:
    return s, clamp(u, p.lo, p.hi)


SATURATION = Model("saturation", Params, State, In, Out, step)
