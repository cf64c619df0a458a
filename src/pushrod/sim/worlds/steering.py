"""A steering on its own, from the angle asked for to that of the tyre: of second order, or mechanical as `vehicles/mechanical`.

    second   goal -> delay -> q'' = w^2 (K goal + bias - q) - 2 z w q',   |q'| <= rate
    mechanical   goal -> delay -> limit, controller, power steering, wheel with inertia, damping, stiffness, friction and dead zone

goal, q  tyre angles [rad], positive to the left;  v speed of the car [m/s], which the power steering knows
"""

import functools
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.models import delay, second_order
from pushrod.vehicles import mechanical

FREE = 1e3  # rad: where no stop is meant


class In(NamedTuple):
    goal: A[float, Q("rad", -1e2, 1e2, "tyre angle asked for")] = 0.0
    v: A[float, Q("m/s", -1e2, 1e2, "speed of the car")] = 0.0


class Out(NamedTuple):
    goal: A[float, Q("rad", about="tyre angle asked for, after the delay")] = 0.0
    q: A[float, Q("rad", about="tyre angle")] = 0.0


class Second(NamedTuple):
    w: A[float, Q("rad/s", 0.1, 1e3, "natural frequency")] = 10.0
    z: A[float, Q("-", 0.01, 10.0, "damping ratio")] = 0.7
    rate: A[float, Q("rad/s", 1e-3, 1e3, "greatest rate")] = 1e3
    K: A[float, Q("-", 0.0, 10.0, "gain")] = 1.0
    bias: A[float, Q("rad", -1.0, 1.0, "angle at goal 0")] = 0.0


@pure
def turn(p: Second, s: second_order.State, goal: float, dt: float) -> second_order.State:
    e, _ = second_order.step(second_order.Params(p.w, p.z, p.rate, -FREE, FREE), s, p.K * goal + p.bias, dt)
    return e


@functools.cache
def second(slots: int = 16) -> World:
    """The steering of second order with a delay line of that many slots."""
    bus_line = delay.of(In, slots)

    class Params(NamedTuple):
        bus: bus_line.Params = bus_line.Params(0.0)  # type: ignore[name-defined]
        wheel: Second = Second()

    class State(NamedTuple):
        bus: bus_line.State = bus_line.State()  # type: ignore[name-defined]
        wheel: second_order.State = second_order.State()

    @pure
    def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
        bus, held = bus_line.step(p.bus, s.bus, u, at.dt)
        e = turn(p.wheel, turn(p.wheel, s.wheel, held.before.goal, held.h), held.after.goal, at.dt - held.h)
        return State(bus, e), Out(held.after.goal, e.y)

    return World("second_order_steering", Params, State, In, Out, step, second)


@functools.cache
def with_mechanism(slots: int = 16) -> World:
    """The mechanical steering, in its sane form, with a delay line of that many slots. Its controller runs once a tick."""
    bus_line = delay.of(In, slots)
    rack = mechanical.of(2)

    class Params(NamedTuple):
        bus: bus_line.Params = bus_line.Params(0.0)  # type: ignore[name-defined]
        wheel: mechanical.Params = mechanical.Params(torque_delay_time=0.0)

    class State(NamedTuple):
        bus: bus_line.State = bus_line.State()  # type: ignore[name-defined]
        wheel: rack.State = rack.State()  # type: ignore[name-defined]

    @pure
    def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
        bus, held = bus_line.step(p.bus, s.bus, u, at.dt)
        # a command that comes inside the tick counts by its share of it: the controller has one run for both
        if not at.dt > 0.0:
            return s, Out(held.after.goal, s.wheel.pos)
        share = held.h / at.dt
        goal = share * held.before.goal + (1.0 - share) * held.after.goal
        e = rack.sane_step(p.wheel, s.wheel, s.wheel.pos, goal, held.after.v, p.wheel.angle_limit, p.wheel.rate_limit, at.dt, at.dt)
        return State(bus, e), Out(held.after.goal, e.pos)

    return World("mechanical_steering", Params, State, In, Out, step, with_mechanism)


SECOND_ORDER_STEERING = second()
MECHANICAL_STEERING = with_mechanism()
