"""Heading loop: the yaw rate that brings a heading in, the short way round. Its output is the set point of the yaw-rate loop.

    e = wrap(psi_d - psi)        r_d = clamp(k e + I, -r_max, r_max)        dI/dt = k_i e

psi_d, psi   heading wanted and measured [rad], positive to port;  r_d yaw rate [rad/s]

The integral is not fed while e would push further than can be done: past r_max, or past what MIXER_FEEDBACK says was achieved (aw_d_req).
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp, wrap_angle
from pushrod.pipeline.control.pi import TOLD
from pushrod.pipeline.request import finite
from pushrod.pipeline.topic import MixerFeedback


class Params(NamedTuple):
    k: A[float, Q("1/s", 0.0, 1e3)] = 1.8
    k_i: A[float, Q("1/s2", 0.0, 1e3)] = 0.1
    r_max: A[float, Q("rad/s", 1e-3, 100.0)] = 1.2
    heed: A[float, flag("heed what MIXER_FEEDBACK says; off to see what comes of not heeding it")] = 1.0


class State(NamedTuple):
    I: A[float, Q("rad/s")] = 0.0  # noqa: E741


class In(NamedTuple):
    psi_d: A[float, Q("rad")] = 0.0
    psi: A[float, Q("rad")] = 0.0
    fb: MixerFeedback = MixerFeedback()
    active: A[float, flag("the autopilot owns the actuators")] = 1.0


class Out(NamedTuple):
    r_d: A[float, Q("rad/s")] = 0.0
    e: A[float, Q("rad")] = 0.0
    I: A[float, Q("rad/s")] = 0.0  # noqa: E741


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    d = u.psi_d - u.psi
    e = wrap_angle(d) if finite(d) else d - d  # what is no angle stays none: the request behind is none then, and is told
    I = s.I  # noqa: E741
    raw = p.k * e + I
    past = (raw > p.r_max and e > 0.0) or (raw < -p.r_max and e < 0.0)
    pushes = p.heed != 0.0 and abs(u.fb.aw_d_req) > TOLD and e * u.fb.aw_d_req < 0.0
    if u.active == 0.0 and dt > 0.0:
        I = 0.0  # noqa: E741
    elif dt > 0.0 and finite(d) and not (past or pushes):
        I = clamp(I + p.k_i * e * dt, -p.r_max, p.r_max)  # noqa: E741
    return State(I), Out(clamp(p.k * e + I, -p.r_max, p.r_max), e, I)


HEADING = Model("heading_loop", Params, State, In, Out, step)
