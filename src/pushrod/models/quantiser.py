"""Quantiser: the nearest whole multiple of a step, as of an encoder, a converter or a command register.

    y = q floor(u / q + 1/2)

u, y, q   all in the unit of the signal (written "-"); q = 0 passes everything. Halves go up.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q


class Params(NamedTuple):
    q: A[float, Q("-", 0.0, 1e9, "step")] = 2.0 * math.pi / 4096.0


class State(NamedTuple):
    pass


In = A[float, Q("-")]
Out = A[float, Q("-")]


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, float]:
    if abs(u) >= 1e15 * p.q:
        return s, u  # coarser than the step already; 0 steps included
    return s, p.q * float(math.floor(u / p.q + 0.5))


QUANTISER = Model("quantiser", Params, State, In, Out, step)
