"""Dead zone with a latch: a weak drive cannot start or turn a motion, though it can keep one going.

    held    = |u| < threshold  and  (held before, or u does not push along w)
    y       = 0 while held, u otherwise

u, y        drive, in the unit of the signal (written "-");  threshold in the same unit
w           the motion it drives; only its sign is read. At rest (w = 0) no weak drive pushes along
Once held, only a drive of at least the threshold lets go.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag


class Params(NamedTuple):
    threshold: A[float, Q("-", 0.0, 1e9)] = 0.05


class State(NamedTuple):
    held: A[float, flag("the drive is held off")] = 0.0


class In(NamedTuple):
    u: A[float, Q("-", about="drive")] = 0.0
    w: A[float, Q("-", about="motion it drives; only its sign is read")] = 0.0


class Out(NamedTuple):
    y: A[float, Q("-", about="drive that comes through")] = 0.0
    held: A[float, flag("the drive is held off")] = 0.0


@pure
def is_held(threshold: float, u: float, w: float, held_before: bool) -> bool:
    along = (u > 0.0 and w > 0.0) or (u < 0.0 and w < 0.0)
    return abs(u) < threshold and (held_before or not along)


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    held = 1.0 if is_held(p.threshold, u.u, u.w, s.held != 0.0) else 0.0
    y = 0.0 if held != 0.0 else u.u
    return State(held if dt > 0.0 else s.held), Out(y, held)


DEAD_ZONE = Model("dead_zone", Params, State, In, Out, step)
