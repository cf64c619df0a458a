"""Stage 3 for one motor: trim, clamp, dead band, slew, and the hardware's own bounds last of all.

    u_1 = g u + o                                  trimmed
    u_2 = clamp(u_1, lo, hi)                       clamped
    u_3 = 0 where |u_2| < db and lo <= 0 <= hi     else u_2
    u_4 = u_3, but no further from the last output than -down dt .. up dt
    y   = clamp(u_4, hw_lo, hw_hi)                 never beyond, even where limits changed while it ran

u, y   mixed and final output of the motor [-];  g, o trim [-];  rising means a growing signed value, for slew.up

The slew stands behind the dead band, so the output may pass through the band on its way. All five values are kept: losses are told from them.
`through` is the output as it would be without the dead band: what controllers unwind by, for to push through the band is their work. A tick that is
no time (negative, NaN) counts as 0: the output stays where it is.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp

LONGEST = 1e9  # seconds: a longer tick is none


class Params(NamedTuple):
    gain: A[float, Q("-", 0.1, 10.0)] = 1.0
    offset: A[float, Q("-", -1.0, 1.0)] = 0.0
    lo: A[float, Q("-", -10.0, 10.0, "least output we allow")] = -1.0
    hi: A[float, Q("-", -10.0, 10.0, "greatest output we allow")] = 1.0
    hw_lo: A[float, Q("-", -10.0, 10.0, "least output the hardware takes")] = -1.0
    hw_hi: A[float, Q("-", -10.0, 10.0, "greatest output the hardware takes")] = 1.0
    deadband: A[float, Q("-", 0.0, 1.0)] = 0.0
    up: A[float, Q("1/s", 0.0, 1e9)] = 1e9
    down: A[float, Q("1/s", 0.0, 1e9)] = 1e9

    def flaws(self, dt: float | None) -> Iterator[str]:
        if self.lo > self.hi:
            yield f"lo = {self.lo:g} lies above hi = {self.hi:g}; swap them"
        if self.hw_lo > self.hw_hi:
            yield f"hw_lo = {self.hw_lo:g} lies above hw_hi = {self.hw_hi:g}; swap them"


class State(NamedTuple):
    u: A[float, Q("-", -10.0, 10.0, "the last output")] = 0.0


In = A[float, Q("-", about="mixed output, before the trim")]


class Out(NamedTuple):
    trimmed: A[float, Q("-")] = 0.0
    clamped: A[float, Q("-")] = 0.0
    banded: A[float, Q("-")] = 0.0
    slewed: A[float, Q("-")] = 0.0
    y: A[float, Q("-")] = 0.0
    through: A[float, Q("-", about="y, were there no dead band")] = 0.0


@pure
def tick(dt: float) -> float:
    """The length of a tick; 0 where it is none."""
    return dt if dt > 0.0 and dt <= LONGEST else 0.0


@pure
def slew(p: Params, last: float, u: float, dt: float) -> float:
    return clamp(u, last - p.down * dt, last + p.up * dt)


@pure
def pass_motor(p: Params, last: float, u: float, dt: float) -> Out:
    trimmed = p.gain * u + p.offset
    clamped = clamp(trimmed, p.lo, p.hi)
    banded = 0.0 if abs(clamped) < p.deadband and p.lo <= 0.0 and p.hi >= 0.0 else clamped
    slewed = slew(p, last, banded, dt)
    through = clamp(slew(p, last, clamped, dt), p.hw_lo, p.hw_hi)
    return Out(trimmed, clamped, banded, slewed, clamp(slewed, p.hw_lo, p.hw_hi), through)


@pure
def untrimmed(p: Params, y: float) -> float:
    return (y - p.offset) / p.gain


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, Out]:
    h = tick(dt)
    y = pass_motor(p, clamp(s.u, p.hw_lo, p.hw_hi), u, h)
    return State(y.y) if h > 0.0 else s, y


MOTOR_STAGE = Model("motor_stage", Params, State, In, Out, step)
