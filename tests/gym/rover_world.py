"""A cart on a rail for the tests of environments: two real channels, a gear and a brake to choose, noise on what is measured, and it may run away.

dv/dt = (gear force + slope) / m + growth v        v = 0 where the brake is on        dx/dt = v
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.noise import uniform
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag


class Params(NamedTuple):
    m: A[float, Q("kg", 0.1, 10.0)] = 1.0
    growth: A[float, Q("1/s", -10.0, 1e9)] = 0.0
    noise: A[float, Q("m", 0.0, 1.0)] = 0.0


class State(NamedTuple):
    x: A[float, Q("m")] = 0.0
    v: A[float, Q("m/s")] = 0.0


class In(NamedTuple):
    force: A[float, Q("N", -5.0, 5.0)] = 0.0
    slope: A[float, Q("N", -1.0, 1.0)] = 0.0
    gear: A[float, Choice(("reverse", "neutral", "forward"))] = 1.0
    brake: A[float, flag()] = 0.0


class Out(NamedTuple):
    x: A[float, Q("m")] = 0.0
    v: A[float, Q("m/s")] = 0.0
    x_meas: A[float, Q("m")] = 0.0
    gear: A[float, Choice(("reverse", "neutral", "forward"))] = 1.0


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    v = s.v + at.dt * (((u.gear - 1.0) * u.force + u.slope) / p.m + p.growth * s.v)
    v = 0.0 if u.brake != 0.0 else v
    x = s.x + at.dt * v
    return State(x, v), Out(x, v, x + p.noise * uniform(at, 0), u.gear)


ROVER = World("rover", Params, State, In, Out, step)
