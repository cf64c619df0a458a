"""Rate limit: the output follows the input no faster than it may.

    -fall <= dy/dt <= rise

u, y   input and output, both in the unit of the signal (written "-")
Exact for a held input: the result does not depend on how a time is cut into steps.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp


class Params(NamedTuple):
    rise: A[float, Q("1/s", 0.0, 1e9, "greatest rate upwards")] = 1.0
    fall: A[float, Q("1/s", 0.0, 1e9, "greatest rate downwards")] = 1.0


class State(NamedTuple):
    y: A[float, Q("-")] = 0.0


In = A[float, Q("-")]
Out = A[float, Q("-")]


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, float]:
    y = clamp(u, s.y - p.fall * dt, s.y + p.rise * dt)
    return State(y), y


RATE_LIMIT = Model("rate_limit", Params, State, In, Out, step)
