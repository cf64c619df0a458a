"""PID controller: the PI controller and a filtered derivative of the measurement.

    u = kp e + I + ff - kd dy_f/dt        T_f dy_f/dt = y - y_f

y      measurement [its unit, "-"], y_f the same filtered;  T_f time constant of the filter [s];  the rest as in `pi`

The derivative is of the measurement, so that a step of the set point gives no kick; the first measurement gives none either.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import settled
from pushrod.pipeline.control import pi
from pushrod.pipeline.control.pi import In
from pushrod.pipeline.request import finite


class Params(NamedTuple):
    gains: pi.Params = pi.Params()
    kd: A[float, Q("s", 0.0, 1e4)] = 0.0
    T_f: A[float, Q("s", 1e-3, 1e3)] = 0.02


class State(NamedTuple):
    integral: pi.State = pi.State()
    y_f: A[float, Q("-")] = 0.0
    started: A[float, flag("a measurement has been seen")] = 0.0


class Out(NamedTuple):
    u: A[float, Q("-", about="request")] = 0.0
    e: A[float, Q("-")] = 0.0
    I: A[float, Q("-")] = 0.0  # noqa: E741
    D: A[float, Q("-")] = 0.0


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    inner, y = pi.step(p.gains, s.integral, u, dt)
    y_f = s.y_f if s.started != 0.0 else u.y
    if dt > 0.0:
        y_f = y_f + (u.y - y_f) * settled(dt / p.T_f)
    D = -p.kd * (u.y - y_f) / p.T_f
    out = Out(y.u + D, y.e, y.I, D)
    if not finite(u.y):
        return State(inner, s.y_f, s.started), out
    return State(inner, y_f, 1.0) if dt > 0.0 else s, out


PID = Model("pid", Params, State, In, Out, step)
