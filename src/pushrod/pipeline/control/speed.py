"""Speed loop: the surge request that brings a vessel or rover to its speed.

    u_s_raw = kp (v_d - v) + I + k_ff v_d        I unwound by aw_s_req of MIXER_FEEDBACK

v_d, v   speed wanted and measured [m/s];  u_s_raw request [-];  k_ff feed-forward [s/m]
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.pipeline.control import pi
from pushrod.pipeline.topic import MixerFeedback


class Params(NamedTuple):
    gains: pi.Params = pi.Params(0.9, 0.25)
    k_ff: A[float, Q("s/m", 0.0, 1e3)] = 0.6


State = pi.State


class In(NamedTuple):
    v_d: A[float, Q("m/s")] = 0.0
    v: A[float, Q("m/s")] = 0.0
    fb: MixerFeedback = MixerFeedback()
    active: A[float, flag("the autopilot owns the actuators")] = 1.0


class Out(NamedTuple):
    u_s_raw: A[float, Q("-")] = 0.0
    e: A[float, Q("m/s")] = 0.0
    I: A[float, Q("-")] = 0.0  # noqa: E741


@pure
def step(p: Params, s: pi.State, u: In, dt: float) -> tuple[pi.State, Out]:
    s, y = pi.step(p.gains, s, pi.In(u.v_d, u.v, p.k_ff * u.v_d, u.fb.aw_s_req, u.active), dt)
    return s, Out(y.u, y.e, y.I)


SPEED = Model("speed_loop", Params, State, In, Out, step)
