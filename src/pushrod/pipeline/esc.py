"""From a normalised output to the pulse width an ESC takes, and back.

    pulse = us_mid + u (us_max - us_mid) for u >= 0,     us_mid + u (us_mid - us_min) for u < 0;     |u| <= 1

u   output of the motor [-], turned round where the motor is;  pulse [us]
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import clamp
from pushrod.pipeline.act import Esc

Params = Esc


class State(NamedTuple):
    pass


class In(NamedTuple):
    u_L: A[float, Q("-")] = 0.0
    u_R: A[float, Q("-")] = 0.0


class Out(NamedTuple):
    pulse_L: A[float, Q("us")] = 1500.0
    pulse_R: A[float, Q("us")] = 1500.0


@pure
def to_pulse(p: Esc, u: float, reverse: float) -> float:
    x = clamp(-u if reverse != 0.0 else u, -1.0, 1.0)
    return p.us_mid + x * ((p.us_max - p.us_mid) if x >= 0.0 else (p.us_mid - p.us_min))


@pure
def from_pulse(p: Esc, pulse: float, reverse: float) -> float:
    """The output that gives this pulse; 0 where no pulse reverses."""
    x = pulse - p.us_mid
    travel = p.us_max - p.us_mid if x >= 0.0 else p.us_mid - p.us_min
    u = clamp(x / travel, -1.0, 1.0) if travel > 0.0 else 0.0
    return -u if reverse != 0.0 else u


@pure
def step(p: Esc, s: State, u: In, dt: float) -> tuple[State, Out]:
    return s, Out(to_pulse(p, u.u_L, p.reverse_L), to_pulse(p, u.u_R, p.reverse_R))


ESC = Model("esc", Params, State, In, Out, step)
