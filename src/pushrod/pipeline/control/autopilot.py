"""Autopilot of a vessel: speed, heading and yaw-rate loops, from what is to be kept to what is asked of the pipeline.

    u_s_raw = speed loop(v_req, v)        u_d_raw = yaw-rate loop(r_d, r),   r_d = heading loop(psi_req, psi)

v, psi, r   speed [m/s], heading [rad] and yaw rate [rad/s] as measured, heading and rate positive to port
fb          MIXER_FEEDBACK of the last tick: all that the loops know of limits

Neither set-point is reached at once, so the integrals wait while the motors give all they have: conditional, which keeps them where they are. The
yaw-rate loop integrates, so the heading loop need not.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.pipeline.control import heading as heading_loop
from pushrod.pipeline.control import pi
from pushrod.pipeline.control import speed as speed_loop
from pushrod.pipeline.control import yaw_rate as yaw_rate_loop
from pushrod.pipeline.topic import MixerFeedback


class Params(NamedTuple):
    speed: speed_loop.Params = speed_loop.Params(pi.Params(0.9, 0.45, 2.0, pi.BY_CONDITION), 0.55)
    heading: heading_loop.Params = heading_loop.Params(1.2, 0.0, 0.6)
    yaw_rate: yaw_rate_loop.Params = yaw_rate_loop.Params(pi.Params(0.8, 0.8, 1.0, pi.BY_CONDITION), 0.2)


class State(NamedTuple):
    speed: pi.State = pi.State()
    heading: heading_loop.State = heading_loop.State()
    yaw_rate: pi.State = pi.State()


class In(NamedTuple):
    v_req: A[float, Q("m/s", about="speed to keep")] = 0.0
    psi_req: A[float, Q("rad", about="heading to keep")] = 0.0
    v: A[float, Q("m/s", about="measured")] = 0.0
    psi: A[float, Q("rad", about="measured")] = 0.0
    r: A[float, Q("rad/s", about="measured")] = 0.0
    fb: MixerFeedback = MixerFeedback()
    active: A[float, flag("the autopilot owns the actuators")] = 1.0


class Out(NamedTuple):
    u_s_raw: A[float, Q("-", about="surge request")] = 0.0
    u_d_raw: A[float, Q("-", about="differential request")] = 0.0
    r_d: A[float, Q("rad/s", about="yaw rate the heading loop asks for")] = 0.0
    e_psi: A[float, Q("rad", about="heading error, the short way round")] = 0.0
    I_s: A[float, Q("-", about="integral of the speed loop")] = 0.0
    I_psi: A[float, Q("rad/s", about="integral of the heading loop")] = 0.0
    I_d: A[float, Q("-", about="integral of the yaw-rate loop")] = 0.0


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    a, y_v = speed_loop.step(p.speed, s.speed, speed_loop.In(u.v_req, u.v, u.fb, u.active), dt)
    b, y_psi = heading_loop.step(p.heading, s.heading, heading_loop.In(u.psi_req, u.psi, u.fb, u.active), dt)
    c, y_r = yaw_rate_loop.step(p.yaw_rate, s.yaw_rate, yaw_rate_loop.In(y_psi.r_d, u.r, u.fb, u.active), dt)
    return State(a, b, c), Out(y_v.u_s_raw, y_r.u_d_raw, y_psi.r_d, y_psi.e, a.I, b.I, c.I)


AUTOPILOT = Model("autopilot", Params, State, In, Out, step)
