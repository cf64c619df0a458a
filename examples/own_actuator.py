"""Write an actuator once, run it in three ways: a valve with dead time, lag and a rate limit.

python examples/own_actuator.py
"""

import math
from typing import Annotated as A
from typing import NamedTuple

import numpy as np

from pushrod import Model, Q, Stepper, batch, metrics, pure, rollout
from pushrod.models import delay, rate_limit

Opening = A[float, Q("-", 0.0, 1.0)]
LINE = delay.of(Opening, slots=32)


class Params(NamedTuple):
    dead_time: LINE.Params = LINE.Params(0.12)
    T: A[float, Q("s", 0.01, 10.0, "lag of the positioner")] = 0.3
    stroke: rate_limit.Params = rate_limit.Params(rise=2.0, fall=1.0)


class State(NamedTuple):
    line: LINE.State = LINE.State()
    stroke: rate_limit.State = rate_limit.State()
    y: Opening = 0.0


@pure
def move(p: Params, s: State, u: float, dt: float) -> State:
    stroke, goal = rate_limit.step(p.stroke, s.stroke, u, dt)
    return State(s.line, stroke, goal + (s.y - goal) * math.exp(-dt / p.T))


@pure
def step(p: Params, s: State, u: float, dt: float) -> tuple[State, float]:
    """T y' = rate limited u(t - dead_time) - y."""
    line, held = LINE.step(p.dead_time, s.line, u, dt)
    s = move(p, State(line, s.stroke, s.y), held.before, held.h)
    s = move(p, s, held.after, dt - held.h)
    return s, s.y


VALVE = Model("valve", Params, State, Opening, Opening, step)

if __name__ == "__main__":
    one = rollout(VALVE, inputs=1.0, steps=300, dt=0.01)
    print(f"one run: opening after 1 s {one['y'][99]:.3f}, after 3 s {one['y'][-1]:.3f}")

    wanted = {"t90": metrics.crossing_time("y", 0.9)}
    many = batch(VALVE, inputs=1.0, steps=300, dt=0.01, vary={"T": np.linspace(0.05, 1.0, 10_000)}, metrics=wanted)
    reached = np.isfinite(many.metrics["t90"])
    print(f"10,000 lags: {reached.sum()} reach 90 % within 3 s, the slowest of them after {many.metrics['t90'][reached].max():.2f} s")

    live = Stepper(VALVE, dt=0.01)
    print("live, tick by tick:", ", ".join(f"{live.step(1.0):.3f}" for _ in range(15)))
