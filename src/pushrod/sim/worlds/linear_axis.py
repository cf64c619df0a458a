"""A linear axis inside its position loop, or open: controller of a machine tool, amplifier, slide with friction.

    u = kp kv (ref - q) - kv (qf - qf_last) / dt + extra,   qf = (q + q_last) / 2,   |u| <= u_max        closed
    u = volts                                                                                            open
    force = gain u, a real number of seconds later

ref    position asked for [m];  extra  voltage added to the controller's [V];  volts  voltage of the open axis [V]
kp     position loop [1/s];  kv speed loop [V.s/m];  gain force per volt [N/V]
The controller runs once a tick, from the position at its start: the tick is its period. Out.u is held over the tick that ends there. What it knows of
the time before the start is in the state (q_last, qf_last). The slide is integrated in parts of at most `part` seconds, no more than 10,000 of
them. A tick of no length changes nothing, and its controller sees no speed.
"""

import functools
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp, parts
from pushrod.models import delay
from pushrod.plants import slide


class In(NamedTuple):
    ref: A[float, Q("m", -1e3, 1e3, "position asked for")] = 0.0
    extra: A[float, Q("V", -1e4, 1e4, "added to the controller's voltage")] = 0.0
    volts: A[float, Q("V", -1e4, 1e4, "voltage of the open axis")] = 0.0


class Voltage(NamedTuple):
    u: A[float, Q("V")] = 0.0


class Loop(NamedTuple):
    closed: A[float, flag("the controller drives; else `volts`")] = 1.0
    kp: A[float, Q("1/s", 0.0, 1e5, "position loop")] = 160.0
    kv: A[float, Q("V.s/m", 0.0, 1e6, "speed loop")] = 240.0
    u_max: A[float, Q("V", 0.0, 1e4, "greatest voltage of the controller")] = 10.0


class Out(NamedTuple):
    ref: A[float, Q("m")] = 0.0
    u: A[float, Q("V", about="voltage over the tick that ends here")] = 0.0
    q: A[float, Q("m")] = 0.0
    v: A[float, Q("m/s")] = 0.0


@pure
def control(p: Loop, u: In, q: float, q_last: float, qf_last: float, dt: float) -> float:
    if p.closed == 0.0:
        return u.volts
    qf = 0.5 * (q + q_last)
    # The rate overflows at the shortest ticks: without a speed loop it would be 0 * inf.
    damping = p.kv * ((qf - qf_last) / dt) if dt > 0.0 and p.kv > 0.0 else 0.0
    return clamp(p.kp * p.kv * (u.ref - q) - damping + u.extra, -p.u_max, p.u_max)


@pure
def glide(p: Any, s: slide.State, u: float, dt: float) -> slide.State:
    n = parts(dt, p.part)
    e = s
    for _ in range(n):
        e, _ = slide.step(p.body, e, p.gain * u, dt / float(n))
    return e


@functools.cache
def of(slots: int = 8) -> World:
    """The axis with a delay line of that many slots."""
    amplifier_line = delay.of(Voltage, slots)

    class Params(NamedTuple):
        loop: Loop = Loop()
        amplifier: amplifier_line.Params = amplifier_line.Params(0.0)  # type: ignore[name-defined]
        gain: A[float, Q("N/V", 1e-6, 1e6, "force per volt")] = 35.0
        part: A[float, Q("s", 1e-6, 1.0, "longest part of a tick that is integrated in one")] = 2.5e-4
        body: slide.Params = slide.Params()

    class State(NamedTuple):
        q_last: A[float, Q("m", about="position at the start of the last tick")] = 0.0
        qf_last: A[float, Q("m", about="what the controller's filter gave then")] = 0.0
        amplifier: amplifier_line.State = amplifier_line.State()  # type: ignore[name-defined]
        body: slide.State = slide.State()

    @pure
    def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
        q = s.body.q
        volts = control(p.loop, u, q, s.q_last, s.qf_last, at.dt)
        amplifier, held = amplifier_line.step(p.amplifier, s.amplifier, Voltage(volts), at.dt)
        e = glide(p, glide(p, s.body, held.before.u, held.h), held.after.u, at.dt - held.h)
        runs = at.dt > 0.0
        return State(q if runs else s.q_last, 0.5 * (q + s.q_last) if runs else s.qf_last, amplifier, e), Out(u.ref, volts, e.q, e.v)

    return World("linear_axis", Params, State, In, Out, step, of)


LINEAR_AXIS = of()
