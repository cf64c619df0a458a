"""Stage 0: one owner speaks. The mode says whose request it is; a request that is old, lost or no number becomes neutral, with the reason.

    u_req = u_raw of the autopilot | x of the RC channels | what the test asks        0 where there is no owner
    x = f((us - us_mid -+ us_dead) / (us_end - us_mid -+ us_dead)),   f(x) = (1 - e) x + e x^3,   |x| <= 1

us     pulse width of an RC channel [us];  us_dead dead band to either side of the middle;  e expo
age    time since the request was made [s]; above its timeout it counts as lost

There is no feasibility here and no motor: what can be done with a request is for the stages behind.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import clamp, dead_band
from pushrod.pipeline.act import Channel, Rc, Timeouts
from pushrod.pipeline.names import (
    ABORT,
    AUTOPILOT,
    BY_ABORT,
    BY_DISARM,
    BY_IDLE,
    BY_NO_PULSE,
    BY_NOT_FINITE,
    BY_TIMEOUT,
    BY_UNKNOWN,
    FINE,
    IDLE,
    IN_AUTOPILOT,
    IN_MANUAL,
    IN_TEST,
    MANUAL,
    MODES,
    NONE,
    TEST,
)
from pushrod.pipeline.topic import ActuatorReq

LARGEST = 1e9  # beyond it a request is no request; NaN and infinity are not below it either


class Params(NamedTuple):
    rc: Rc = Rc()
    timeout: Timeouts = Timeouts()


class State(NamedTuple):
    pass


class In(NamedTuple):
    mode: A[float, Choice(MODES, "who owns the actuators")] = 0.0
    armed: A[float, flag()] = 1.0
    u_s_raw: A[float, Q("-", about="of the speed loop")] = 0.0
    u_d_raw: A[float, Q("-", about="of the yaw loop")] = 0.0
    ap_age: A[float, Q("s", 0.0)] = 0.0
    rc_s: A[float, Q("us", 0.0, 1e5)] = 1500.0
    rc_d: A[float, Q("us", 0.0, 1e5)] = 1500.0
    man_age: A[float, Q("s", 0.0)] = 0.0
    u_s_test: A[float, Q("-")] = 0.0
    u_d_test: A[float, Q("-")] = 0.0
    test_age: A[float, Q("s", 0.0)] = 0.0


Out = ActuatorReq


@pure
def finite(x: float) -> bool:
    return abs(x) <= LARGEST


@pure
def expo(x: float, e: float) -> float:
    return (1.0 - e) * x + e * x * x * x


@pure
def stick(c: Channel, us: float) -> float:
    """Where the stick is: -1 at one end, 1 at the other."""
    x = dead_band(us - c.us_mid, c.us_dead)
    travel = (c.us_max - c.us_mid if x >= 0.0 else c.us_mid - c.us_min) - c.us_dead
    x = expo(clamp(x / travel, -1.0, 1.0), c.expo) if travel > 0.0 else 0.0
    return -x if c.reverse != 0.0 else x


@pure
def heard(p: Rc, us: float) -> bool:
    return us >= p.us_lost_below and us <= p.us_lost_above


@pure
def neutral(reason: float) -> ActuatorReq:
    return ActuatorReq(0.0, 0.0, NONE, reason)


@pure
def asked(u_s: float, u_d: float, age: float, timeout: float, src: float) -> ActuatorReq:
    """A request, if it is fresh and a number."""
    if not age <= timeout:
        return neutral(BY_TIMEOUT)
    if not (finite(u_s) and finite(u_d)):
        return neutral(BY_NOT_FINITE)
    return ActuatorReq(u_s, u_d, src, FINE)


@pure
def is_source(src: float) -> bool:
    """One of those that may ask; what lies between two of them, or is no number, is none."""
    return (src - AUTOPILOT) * (src - MANUAL) * (src - TEST) == 0.0


@pure
def sound(req: ActuatorReq) -> ActuatorReq:
    """The request, or neutral where it is none: nothing that is no number gets beyond here."""
    if req.src == NONE:
        return neutral(req.reason)
    if not is_source(req.src):
        return neutral(BY_UNKNOWN)
    return req if finite(req.u_s_req) and finite(req.u_d_req) else neutral(BY_NOT_FINITE)


@pure
def select(p: Params, u: In) -> ActuatorReq:
    if u.mode == ABORT:
        return neutral(BY_ABORT)
    if u.armed == 0.0:
        return neutral(BY_DISARM)
    if u.mode == IDLE:
        return neutral(BY_IDLE)
    if u.mode == IN_AUTOPILOT:
        return asked(u.u_s_raw, u.u_d_raw, u.ap_age, p.timeout.ap, AUTOPILOT)
    if u.mode == IN_MANUAL:
        if not (heard(p.rc, u.rc_s) and heard(p.rc, u.rc_d)):
            return neutral(BY_NO_PULSE)
        return asked(stick(p.rc.s, u.rc_s), stick(p.rc.d, u.rc_d), u.man_age, p.timeout.man, MANUAL)
    if u.mode == IN_TEST:
        return asked(u.u_s_test, u.u_d_test, u.test_age, p.timeout.test, TEST)
    return neutral(BY_UNKNOWN)  # between two modes, or beyond all, or no number: nobody owns it


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, ActuatorReq]:
    return s, select(p, u)


REQUEST = Model("request", Params, State, In, Out, step)
