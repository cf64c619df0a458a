"""Steering feedback of the command converter: a PID with a limit on each part and an integral that forgets at standstill.

    e = target - angle
    P = clamp(kp e, min_p, max_p)
    E' = e while |v| >= 0.01 m/s, with ki E within [min_i, max_i]; slower, E is multiplied by `decay` in every call
    D = clamp(kd de/dt, min_d, max_d), 0 in the first call
    u = clamp(P + ki E + D, min, max)

    target, angle: tyre angles [rad], positive to the left      v: speed [m/s]      u: steering actuation [its own unit]

The decay counts calls, not seconds, as in the reference. A call with dt = 0 changes nothing. Source: the public command
converter of Autoware, restated.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp

V_STANDSTILL = 0.01  # m/s


class Params(NamedTuple):
    kp: A[float, Q("1/rad", 0.0, 1e4)] = 150.0
    ki: A[float, Q("1/(rad.s)", 0.0, 1e4)] = 15.0
    kd: A[float, Q("s/rad", 0.0, 1e4)] = 0.0
    max: A[float, Q("-", 0.0, 1e4, "largest actuation")] = 8.0
    min: A[float, Q("-", -1e4, 0.0, "least actuation")] = -8.0
    max_p: A[float, Q("-", 0.0, 1e4)] = 8.0
    min_p: A[float, Q("-", -1e4, 0.0)] = -8.0
    max_i: A[float, Q("-", 0.0, 1e4)] = 8.0
    min_i: A[float, Q("-", -1e4, 0.0)] = -8.0
    max_d: A[float, Q("-", 0.0, 1e4)] = 0.0
    min_d: A[float, Q("-", -1e4, 0.0)] = 0.0
    decay: A[float, Q("-", 0.0, 1.0, "of the integral, per call at standstill")] = 0.97


class State(NamedTuple):
    E: A[float, Q("rad.s", about="integral of the error")] = 0.0
    e_last: A[float, Q("rad")] = 0.0
    started: A[float, flag("a call has been made, so that e_last is known")] = 0.0


class In(NamedTuple):
    target: A[float, Q("rad", about="tyre angle asked for")] = 0.0
    angle: A[float, Q("rad", about="tyre angle measured")] = 0.0
    v: A[float, Q("m/s")] = 0.0


class Out(NamedTuple):
    u: A[float, Q("-", about="steering actuation")] = 0.0
    p: A[float, Q("-")] = 0.0
    i: A[float, Q("-")] = 0.0
    d: A[float, Q("-")] = 0.0
    e: A[float, Q("rad")] = 0.0
    e_rate: A[float, Q("rad/s")] = 0.0


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    e = u.target - u.angle
    P = clamp(p.kp * e, p.min_p, p.max_p)
    E = s.E
    if dt > 0.0:
        if abs(u.v) >= V_STANDSTILL:
            E = E + e * dt
            if p.ki > 0.0:
                E = clamp(E, p.min_i / p.ki, p.max_i / p.ki)
        else:
            E = E * p.decay
    I = p.ki * E  # noqa: E741
    e_rate = 0.0
    if dt > 0.0 and s.started != 0.0:
        e_rate = (e - s.e_last) / dt
    D = clamp(p.kd * e_rate, p.min_d, p.max_d)
    y = Out(clamp(P + I + D, p.min, p.max), P, I, D, e, e_rate)
    if dt > 0.0:
        return State(E, e, 1.0), y
    return s, y


STEER_PID = Model("steer_pid", Params, State, In, Out, step)
