"""Backlash: the output of a worn gear or linkage follows its input only once the play between them is taken up.

    y = clamp(y before, u - play / 2, u + play / 2)

u, y   angle or way of the input and of the output, in the unit of the signal (written "-");  play  how far the input turns back unnoticed
The output has friction enough to stay where it was left and no inertia: for one that swings within its play see `servo`.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp


class Params(NamedTuple):
    play: A[float, Q("-", 0.0, 1e9, "how far the input turns back unnoticed")] = 0.02


class State(NamedTuple):
    y: A[float, Q("-", about="output")] = 0.0


In = A[float, Q("-")]
Out = A[float, Q("-")]


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, float]:
    if dt <= 0.0:
        return s, s.y
    y = clamp(s.y, u - 0.5 * p.play, u + 0.5 * p.play)
    return State(y), y


BACKLASH = Model("backlash", Params, State, In, Out, step)
