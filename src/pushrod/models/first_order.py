"""First-order lag, integrated exactly for a held input.

    T dy/dt = K u - y        y(t + dt) = K u + (y - K u) exp(-dt / T)

u, y   input and output, both in the unit of the signal (written "-")
T      time constant [s]; at 0 the output is K u at once
K      gain [-]
The result does not depend on how a time is cut into steps, and y always lies between its old value and K u.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import settled


class Params(NamedTuple):
    T: A[float, Q("s", 0.0, 1e3, "time constant")] = 0.05
    K: A[float, Q("-", -1e6, 1e6, "gain")] = 1.0


class State(NamedTuple):
    y: A[float, Q("-")] = 0.0


In = A[float, Q("-")]
Out = A[float, Q("-")]


@pure
def towards(y: float, goal: float, T: float, dt: float) -> float:
    """Where a lag of time constant T that was at y is after dt."""
    if dt <= 0.0:
        return y
    if dt >= 100.0 * T:
        return goal
    f = settled(dt / T)
    # from the nearer end, so that rounding never carries it past either
    return y + (goal - y) * f if f < 0.5 else goal + (y - goal) * (1.0 - f)


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, float]:
    y = towards(s.y, p.K * u, p.T, dt)
    return State(y), y


FIRST_ORDER = Model("first_order", Params, State, In, Out, step)
