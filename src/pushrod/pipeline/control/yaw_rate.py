"""Yaw-rate loop: the differential request that turns at a rate.

    u_d_raw = kp (r_d - r) + I + k_ff r_d        I unwound by aw_d_req of MIXER_FEEDBACK

r_d, r   yaw rate wanted and measured [rad/s], positive to port;  u_d_raw request [-];  k_ff feed-forward [s/rad]
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.pipeline.control import pi
from pushrod.pipeline.topic import MixerFeedback


class Params(NamedTuple):
    gains: pi.Params = pi.Params(1.1, 0.18)
    k_ff: A[float, Q("s/rad", 0.0, 1e3)] = 0.0


State = pi.State


class In(NamedTuple):
    r_d: A[float, Q("rad/s")] = 0.0
    r: A[float, Q("rad/s")] = 0.0
    fb: MixerFeedback = MixerFeedback()
    active: A[float, flag("the autopilot owns the actuators")] = 1.0


class Out(NamedTuple):
    u_d_raw: A[float, Q("-")] = 0.0
    e: A[float, Q("rad/s")] = 0.0
    I: A[float, Q("-")] = 0.0  # noqa: E741


@pure
def step(p: Params, s: pi.State, u: In, dt: float) -> tuple[pi.State, Out]:
    s, y = pi.step(p.gains, s, pi.In(u.r_d, u.r, p.k_ff * u.r_d, u.fb.aw_d_req, u.active), dt)
    return s, Out(y.u, y.e, y.I)


YAW_RATE = Model("yaw_rate_loop", Params, State, In, Out, step)
