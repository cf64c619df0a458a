"""Faults of an actuator: what becomes of its command or output while a fault is active.

    none    y = u
    stuck   y = the last value before the fault
    loss    y = effectiveness u
    bias    y = u + bias
    delay   y = u; `extra_delay` is what a world adds to its delay block

u, y           in the unit of the signal (written "-")
at, until      the fault is active for at <= t < until [s]
announced      an announced fault says its kind in `reported`; a silent one reports none
A block knows no time: a world asks `is_active(p, t)` and hands the answer in.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import single

KINDS = ("none", "stuck", "loss", "bias", "delay")
NONE, STUCK, LOSS, BIAS, DELAY = 0.0, 1.0, 2.0, 3.0, 4.0

# k dt may round to just below a time it should reach, by two units in its last place; a fault then still starts at its tick
ROUNDING = 5e-16
ROUNDING_SINGLE = 2e-7


class Params(NamedTuple):
    kind: A[float, Choice(KINDS)] = NONE
    at: A[float, Q("s", 0.0, 1e9, "start")] = 0.0
    until: A[float, Q("s", 0.0, 1e9, "end")] = 1e9
    announced: A[float, flag("the actuator says so")] = 0.0
    effectiveness: A[float, Q("-", 0.0, 1.0, "what is left, for kind loss")] = 0.5
    bias: A[float, Q("-", -1e9, 1e9, "what is added, for kind bias")] = 0.0
    extra_delay: A[float, Q("s", 0.0, 10.0, "further delay, for kind delay")] = 0.0

    def flaws(self, dt: float | None) -> Iterator[str]:
        if self.kind != NONE and self.until <= self.at:
            yield f"until = {self.until:g} s is not after at = {self.at:g} s: the fault would never be active; set kind to none, or move it"


class State(NamedTuple):
    y: A[float, Q("-")] = 0.0


class In(NamedTuple):
    u: A[float, Q("-")] = 0.0
    active: A[float, flag("as is_active says")] = 0.0


class Out(NamedTuple):
    y: A[float, Q("-")] = 0.0
    extra_delay: A[float, Q("s", 0.0, 10.0)] = 0.0
    reported: A[float, Choice(KINDS, "what the actuator says of itself")] = NONE


@pure
def is_active(p: Params, t: float) -> bool:
    soon = t + t * (ROUNDING_SINGLE if single() else ROUNDING)
    return p.kind != NONE and p.at <= soon < p.until


@pure
def told_health(p: Params, t: float) -> float:
    """What an actuator says of itself at time t: the share it still gives."""
    if p.announced == 0.0 or not is_active(p, t):
        return 1.0
    return p.effectiveness if p.kind == LOSS else (0.0 if p.kind == STUCK else 1.0)


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    kind = p.kind if u.active != 0.0 else NONE
    y = u.u
    if kind == STUCK:
        y = s.y
    elif kind == LOSS:
        y = p.effectiveness * u.u
    elif kind == BIAS:
        y = u.u + p.bias
    extra = p.extra_delay if kind == DELAY else 0.0
    return State(y if dt > 0.0 else s.y), Out(y, extra, kind if p.announced != 0.0 else NONE)


FAULT = Model("fault", Params, State, In, Out, step)
