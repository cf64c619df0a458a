"""What a position loop looks like from outside: delay, then a lag with a rate limit and a dead band. The first rungs of every ladder.

    dq/dt = clamp(db(K goal + bias - q) / T, -rate, rate)        db(e): e moved towards zero by `band`
    T = T_0 (k_0 / k)^n        K = K_0 / (1 + a k_0 / k)

goal, q  command and angle [rad];  T_0 time constant [s];  K_0 gain [-];  rate [rad/s];  band [rad]
k        gain of the loop inside, where it is known and differs between recordings, in any unit;  k_0 a gain of the same unit
n, a     how lag and standing error follow it: n = a = 0 leaves that out [-]
Exact for a held goal, whatever the tick.
"""

import functools
import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.models import delay
from pushrod.vehicles.steering import towards


class In(NamedTuple):
    goal: A[float, Q("rad", -1e3, 1e3, "commanded angle")] = 0.0


class Lag(NamedTuple):
    T_0: A[float, Q("s", 1e-4, 1e2, "time constant")] = 0.1
    K_0: A[float, Q("-", 0.0, 10.0, "gain")] = 1.0
    bias: A[float, Q("rad", -1.0, 1.0, "angle at goal 0")] = 0.0
    rate: A[float, Q("rad/s", 1e-3, 1e3, "greatest rate")] = 1e3
    band: A[float, Q("rad", 0.0, 1.0, "error that moves nothing")] = 0.0
    k: A[float, Q("-", 1e-6, 1e6, "gain of the loop inside")] = 1.0
    k_0: A[float, Q("-", 1e-6, 1e6, "gain at which T = T_0")] = 1.0
    n: A[float, Q("-", -2.0, 2.0, "how the lag falls with k")] = 0.0
    a: A[float, Q("-", 0.0, 1e2, "standing error at k_0, by what is left of the way")] = 0.0


class Out(NamedTuple):
    goal: A[float, Q("rad", about="commanded angle, after the delay")] = 0.0
    q: A[float, Q("rad", about="angle")] = 0.0


@pure
def follow(p: Lag, q: float, goal: float, dt: float) -> float:
    T = p.T_0 * math.exp(p.n * math.log(p.k_0 / p.k))
    K = p.K_0 / (1.0 + p.a * p.k_0 / p.k)
    return towards(q, K * goal + p.bias, 0.0, T, p.rate, p.band, dt)


@functools.cache
def of(slots: int = 16) -> World:
    """The lag with a delay line of that many slots."""
    bus_line = delay.of(In, slots)

    class Params(NamedTuple):
        bus: bus_line.Params = bus_line.Params(0.0)  # type: ignore[name-defined]
        lag: Lag = Lag()

    class State(NamedTuple):
        bus: bus_line.State = bus_line.State()  # type: ignore[name-defined]
        q: A[float, Q("rad")] = 0.0

    @pure
    def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
        bus, held = bus_line.step(p.bus, s.bus, u, at.dt)
        q = follow(p.lag, follow(p.lag, s.q, held.before.goal, held.h), held.after.goal, at.dt - held.h)
        return State(bus, q), Out(held.after.goal, q)

    return World("lag", Params, State, In, Out, step, of)


LAG = of()
