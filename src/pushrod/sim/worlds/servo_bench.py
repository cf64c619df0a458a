"""A position servo that swings a weight on an arm: the bench on which servos are identified.

    goal, enabled -> sub-step delay -> firmware loop, motor, gear (`models/servo`) -> arm with a weight at its end
    tau = -m g l sin(q + q_0)        J_l = m l^2

m, l   weight [kg] and length of the arm [m]: known for each recording;  q = 0 hangs down, but for q_0 [rad], by which the scale is off
The firmware runs every `drive.period`, or every tick where that is shorter; gravity is taken anew each time.
"""

import functools
import math
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import parts
from pushrod.models import dc_motor, delay, gear_friction, servo

G = 9.80665  # m/s2


class In(NamedTuple):
    goal: A[float, Q("rad", -1e3, 1e3, "commanded angle")] = 0.0
    enabled: A[float, flag("the bridge is switched on")] = 1.0


class Load(NamedTuple):
    m: A[float, Q("kg", 0.0, 1e3, "weight at the end of the arm")] = 0.5
    l: A[float, Q("m", 0.0, 10.0, "length of the arm")] = 0.1  # noqa: E741
    q_0: A[float, Q("rad", -0.5, 0.5, "angle by which the scale is off")] = 0.0


class Out(NamedTuple):
    goal: A[float, Q("rad", about="commanded angle, after the delay")] = 0.0
    q: A[float, Q("rad", about="angle of the output")] = 0.0
    w: A[float, Q("rad/s", about="speed of the output")] = 0.0
    i: A[float, Q("A", about="motor current")] = 0.0
    d: A[float, Q("-", about="duty that the firmware asks for now")] = 0.0


@pure
def told(p: Any, s: servo.State, u: In) -> servo.In:
    return servo.In(u.goal, -p.load.m * G * p.load.l * math.sin(s.q + p.load.q_0), u.enabled, p.load.m * p.load.l * p.load.l)


@pure
def swing(p: Any, s: servo.State, u: In, dt: float) -> servo.State:
    n = parts(dt, p.drive.period)
    e = s
    for _ in range(n):
        e = servo.advance(p.drive, e, told(p, e, u), dt / float(n))
    return e


@functools.cache
def of(slots: int = 16) -> World:
    """The bench with a delay line of that many slots."""
    bus_line = delay.of(In, slots)

    class Params(NamedTuple):
        bus: bus_line.Params = bus_line.Params(0.0)  # type: ignore[name-defined]
        drive: servo.Params = servo.Params(
            kp=0.58,
            R_s=0.0,
            period=0.0025,
            ratio=1.0,
            J=0.003,
            motor=dc_motor.Params(R=4.0, L=0.0, k=0.4, v_max=7.4, i_max=10.0),
            drag=gear_friction.Params(c=0.02, b=0.01),
        )
        load: Load = Load()

    class State(NamedTuple):
        bus: bus_line.State = bus_line.State()  # type: ignore[name-defined]
        drive: servo.State = servo.State()

    @pure
    def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
        bus, held = bus_line.step(p.bus, s.bus, u, at.dt)
        e = swing(p, swing(p, s.drive, held.before, held.h), held.after, at.dt - held.h)
        return State(bus, e), Out(held.after.goal, e.q, e.w, e.i, servo.duty(p.drive, e, told(p, e, held.after)))

    return World("servo_bench", Params, State, In, Out, step, of)


SERVO_BENCH = of()
