"""PI controller whose integral is unwound by what was achieved.

    e = r - y        u = kp e + I + ff
    dI/dt = ki e + aw / T_t

r, y   set point and measurement [their unit, "-"];  u request [-];  ff feed-forward [-]
aw     achieved less requested, in the space of the request: `aw_*_req` of MIXER_FEEDBACK [-];  T_t tracking time constant [s]

back_calculation    the integral goes to where the request would just be achieved, with time constant T_t
conditional         e is not integrated while it would push further than what was achieved
both                conditional, and the integral goes back with T_t, but not past 0: where kp e alone asks for too much, it is left alone
none                winds up; there to be compared with

There is no limit of the output in here: what can be done is known behind, and comes back as aw. Not active: the integral is emptied. A measurement
that is no number leaves the integral as it is; the request is none then, and the pipeline takes it for neutral and says so.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import clamp, settled
from pushrod.pipeline.request import finite

WAYS = ("none", "conditional", "back_calculation", "both")
BY_NONE, BY_CONDITION, BY_TRACKING, BY_BOTH = 0.0, 1.0, 2.0, 3.0
TOLD = 1e-4  # of a request: in single precision an allocation that meets its command misses it by 1e-5, and that is no limit


class Params(NamedTuple):
    kp: A[float, Q("-", 0.0, 1e4)] = 1.0
    ki: A[float, Q("1/s", 0.0, 1e4)] = 0.5
    T_t: A[float, Q("s", 1e-3, 1e3, "tracking time constant")] = 0.5
    windup: A[float, Choice(WAYS, "what keeps the integral from winding up")] = 3.0
    I_max: A[float, Q("-", 0.0, 1e4, "the integral lies within +- this")] = 1e4


class State(NamedTuple):
    I: A[float, Q("-")] = 0.0  # noqa: E741


class In(NamedTuple):
    r: A[float, Q("-", about="set point")] = 0.0
    y: A[float, Q("-", about="measurement")] = 0.0
    ff: A[float, Q("-", about="feed-forward")] = 0.0
    aw: A[float, Q("-", about="residual of MIXER_FEEDBACK in the space of the request")] = 0.0
    active: A[float, flag("this controller owns the actuators")] = 1.0


class Out(NamedTuple):
    u: A[float, Q("-", about="request")] = 0.0
    e: A[float, Q("-")] = 0.0
    I: A[float, Q("-")] = 0.0  # noqa: E741


@pure
def integrate(p: Params, I: float, e: float, aw: float, dt: float) -> float:  # noqa: E741
    """The integral after dt."""
    pushes = abs(aw) > TOLD and e * aw < 0.0
    if not (pushes and (p.windup == BY_CONDITION or p.windup == BY_BOTH)):
        I = I + p.ki * e * dt  # noqa: E741
    back = aw * settled(dt / p.T_t)
    if p.windup == BY_TRACKING:
        I = I + back  # noqa: E741
    if p.windup == BY_BOTH and I * back < 0.0:
        I = I + clamp(back, -abs(I), abs(I))  # noqa: E741
    return clamp(I, -p.I_max, p.I_max)


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    e = u.r - u.y
    I = s.I  # noqa: E741
    if u.active == 0.0 and dt > 0.0:
        I = 0.0  # noqa: E741
    elif dt > 0.0 and finite(e) and finite(u.aw):
        I = integrate(p, I, e, u.aw, dt)  # noqa: E741
    return State(I), Out(p.kp * e + I + u.ff, e, I)


PI = Model("pi", Params, State, In, Out, step)
