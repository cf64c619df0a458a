"""A torque-controlled joint behind a realistic drive: the smallest world with every kind of effect, and the one the speed figures are taken on.

    torque_req + noise -> sub-step delay -> rate limit -> first-order lag -> saturation -> joint with friction

The delay hands over at h inside the tick, so what follows is called for h and for dt - h.
"""

import functools
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.noise import uniform
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.models import delay, first_order, rate_limit, saturation
from pushrod.plants import joint


class In(NamedTuple):
    torque_req: A[float, Q("N.m", -100.0, 100.0, "requested torque")] = 0.0


class Drive(NamedTuple):
    ramp: rate_limit.State = rate_limit.State()
    lag: first_order.State = first_order.State()
    body: joint.State = joint.State()


class Out(NamedTuple):
    torque_req: A[float, Q("N.m")] = 0.0
    torque_cmd: A[float, Q("N.m", about="after the delay")] = 0.0
    torque_ach: A[float, Q("N.m", about="on the joint")] = 0.0
    q: A[float, Q("rad")] = 0.0
    w: A[float, Q("rad/s")] = 0.0


class Moved(NamedTuple):
    drive: Drive
    tau: A[float, Q("N.m")]


@pure
def move(p: Any, s: Drive, torque_cmd: float, dt: float) -> Moved:
    ramp, tau = rate_limit.step(p.ramp, s.ramp, torque_cmd, dt)
    lag, tau = first_order.step(p.lag, s.lag, tau, dt)
    _, tau = saturation.step(p.limit, saturation.State(), tau, dt)
    body, _ = joint.step(p.body, s.body, tau, dt)
    return Moved(Drive(ramp, lag, body), tau)


@functools.cache
def of(slots: int = 16) -> World:
    """The servo with a delay line of that many slots."""
    bus_line = delay.of(In, slots)

    class Params(NamedTuple):
        noise: A[float, Q("N.m", 0.0, 10.0, "half width of the noise on the request")] = 0.0
        bus: bus_line.Params = bus_line.Params(0.0073)  # type: ignore[name-defined]
        ramp: rate_limit.Params = rate_limit.Params(50.0, 50.0)
        lag: first_order.Params = first_order.Params(0.02)
        limit: saturation.Params = saturation.Params(-3.0, 3.0)
        body: joint.Params = joint.Params()

    class State(NamedTuple):
        bus: bus_line.State = bus_line.State()  # type: ignore[name-defined]
        drive: Drive = Drive()

    @pure
    def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
        torque_req = u.torque_req + p.noise * uniform(at, 0)
        bus, held = bus_line.step(p.bus, s.bus, In(torque_req), at.dt)
        a = move(p, s.drive, held.before.torque_req, held.h)
        b = move(p, a.drive, held.after.torque_req, at.dt - held.h)
        return State(bus, b.drive), Out(torque_req, held.after.torque_req, b.tau, b.drive.body.q, b.drive.body.w)

    return World("servo", Params, State, In, Out, step, of)


SERVO = of()
BUS = delay.of(In, 16)
Params = SERVO.Params  # for parameters written in Python
