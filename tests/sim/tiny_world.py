"""A world small enough to know by heart: a valve with a lag that may stick, for tests of machine and scenario files."""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Floats, Q, Table, flag
from pushrod.core.scalar import clamp
from pushrod.models import fault


class Lag(NamedTuple):
    T: A[float, Q("s", 1e-3, 10.0, "time constant")] = 0.1
    angle_max: A[float, Q("rad", 0.0, 3.2, "end stop")] = 1.0


class Curve(NamedTuple):
    x: A[Floats, Table("rad", rising=True)] = (0.0, 1.0)
    y: A[Floats, Table("-")] = (0.0, 1.0)


class Grid(NamedTuple):
    row: A[Floats, Table("-", rising=True)] = (0.0, 1.0)
    col: A[Floats, Table("m/s", rising=True)] = (0.0, 1.0)
    z: A[Floats, Table("-", shape=("row", "col"))] = (0.0, 0.0, 1.0, 1.0)


class Faults(NamedTuple):
    angle: fault.Params = fault.Params()


class Params(NamedTuple):
    lag: Lag = Lag()
    inverted: A[float, flag("turns the other way")] = 0.0
    mode: A[float, Choice(("lagged", "instant"), "how it follows")] = 0.0
    curve: Curve = Curve()
    map: Grid = Grid()
    faults: Faults = Faults()

    def flaws(self, dt):
        if dt is not None and dt > self.lag.T:
            yield f"lag.T: {self.lag.T:g} s is shorter than the tick of {dt:g} s"


class State(NamedTuple):
    angle: A[float, Q("rad", -3.2, 3.2)] = 0.0
    broken: fault.State = fault.State()


class In(NamedTuple):
    angle: A[float, Q("rad", -3.2, 3.2, "wanted opening")] = 0.0
    push: A[float, Q("N")] = 0.5


class Out(NamedTuple):
    angle_req: A[float, Q("rad", about="wanted opening")] = 0.0
    angle_ach: A[float, Q("rad", about="opening")] = 0.0
    push: A[float, Q("N")] = 0.0


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    t = float(at.k) * at.dt
    active = 1.0 if fault.is_active(p.faults.angle, t) else 0.0
    broken, got = fault.step(p.faults.angle, s.broken, fault.In(u.angle, active), at.dt)
    goal = -got.y if p.inverted != 0.0 else got.y
    share = 1.0 if p.mode != 0.0 else 1.0 - math.exp(-at.dt / p.lag.T)
    angle = clamp(s.angle + (goal - s.angle) * share, -p.lag.angle_max, p.lag.angle_max)
    return State(angle, broken), Out(u.angle, angle, u.push)


TINY = World("tiny", Params, State, In, Out, step)
