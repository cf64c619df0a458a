"""A small world with every storage kind: nested record, table, delay line, noise, flag."""

import math
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.noise import normal
from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table, flag
from pushrod.core.ring import Ring
from pushrod.core.table import lookup


class Sent(NamedTuple):
    u: A[float, Q("V")] = 0.0


LINE = Ring(Sent, 8)


class Curve(NamedTuple):
    x: A[Floats, Table("V", rising=True)] = (-2.0, 0.0, 2.0)
    y: A[Floats, Table("V", shape=("x",))] = (-2.0, 0.0, 2.5)


class Lag(NamedTuple):
    T: A[float, Q("s", 0.001, 1.0)] = 0.05


class Params(NamedTuple):
    lag: Lag = Lag()
    noise: A[float, Q("V", 0.0, 1.0)] = 0.01
    inverted: A[float, flag("turn the sign of the output")] = 0.0
    curve: Curve = Curve()


class State(NamedTuple):
    y: A[float, Q("V")] = 0.0
    slot: A[float, Q("-")] = 0.0
    line: A[tuple[Any, ...], LINE] = LINE.empty()


class In(NamedTuple):
    u: A[float, Q("V", -2.0, 2.0)] = 0.0


class Out(NamedTuple):
    y: A[float, Q("V")] = 0.0
    u_late: A[float, Q("V")] = 0.0


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    k = int(s.slot)
    old = LINE.get(s.line, k).u
    line = LINE.put(s.line, k, Sent(u.u + p.noise * normal(at, 0)))
    goal = lookup(p.curve, old)
    y = s.y + (goal - s.y) * (1.0 - math.exp(-at.dt / p.lag.T))
    return State(y, float((k + 1) % 8), line), Out(-y if p.inverted != 0.0 else y, old)


LAG_WORLD = World("lag_world", Params, State, In, Out, step)
