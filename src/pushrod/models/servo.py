"""Position servo: a firmware P or PD loop that drives a DC motor through a gear with friction and play, from a supply that sags.

    duty d = clamp(kp (goal - q) - kd w, -d_max, d_max)
    L di/dt = d V - R (1 + r) i - K w_g,   V = v_max - R_s d i,   K = ratio k,   |i| <= i_max,   T_r dr/dt = heat i^2 - r
    (J + J_l) dw/dt = K i + tau - D sign(w) - B w,   dq/dt = w,   D and B as in `gear_friction` with m = K i and e = tau
    within the play, |x| < play / 2:   J dw_g/dt = K i - D sign(w_g) - B w_g,   J_l dw/dt = tau,   dx/dt = w - w_g

q, w   angle [rad] and speed [rad/s] of the output;  tau torque on it from outside [N.m], positive along q
i      motor current [A];  d duty of the bridge [-];  V supply voltage at the bridge [V]: a bridge at duty d draws d i
r      growth of the winding's resistance as it gets hot [-]: heat [1/A2] in the long run, with its time constant T_r [s]
motor  R, L, k and i_max of the motor as in `dc_motor`; v_max is the supply without load
J      inertia of gear and rotor at the output [kg.m2] (ratio^2 times the rotor's own);  J_l that of what hangs on it [kg.m2]
x      angle of the output in the gear's play [rad];  w_g speed of the gear [rad/s]. Where they meet, neither springs back. No load (J_l = 0), no play
With `enabled` off the bridge is open: no current, no braking by back-EMF.

The firmware runs every `period` seconds, or every tick where that is shorter: the step is cut into that many equal parts, at most 10,000; those of
a longer tick are longer. Each part is one implicit
Euler step of (i, w), stable for any L and any friction, then of q; friction is a bounded impulse that can end a motion but never reverse it. The
error is of the order of the period; a tick of many periods gives the same as that many ticks of one.

Defaults: a Dynamixel XL430-W250 at 12 V by its maker's figures (ratio 258.5, stall 1.5 N.m at 1.4 A, 61 rev/min without load), from which R, k, b
and mu follow; inductance, inertia, gain and supply resistance are guesses of the right size.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.scalar import clamp, dead_band, parts, sign
from pushrod.models import dc_motor, gear_friction


class Params(NamedTuple):
    kp: A[float, Q("1/rad", 0.0, 1e4, "duty per radian of error")] = 5.0
    kd: A[float, Q("s/rad", 0.0, 1e2, "duty per rad/s of speed")] = 0.0
    d_max: A[float, Q("-", 0.0, 1.0, "greatest duty")] = 1.0
    period: A[float, Q("s", 1e-4, 0.1, "time between two runs of the firmware loop")] = 1e-3
    R_s: A[float, Q("ohm", 0.0, 100.0, "resistance of supply and cable")] = 0.2
    heat: A[float, Q("1/A2", 0.0, 1e3, "growth of the winding's resistance by the current squared")] = 0.0
    T_r: A[float, Q("s", 1e-2, 1e4, "time in which the winding gets hot")] = 10.0
    ratio: A[float, Q("-", 1.0, 1e4, "turns of the motor per turn of the output")] = 258.5
    J: A[float, Q("kg.m2", 1e-7, 1e4, "inertia of gear and rotor at the output")] = 0.01
    play: A[float, Q("rad", 0.0, 1.0, "backlash: how far the output turns while the gear stands")] = 0.0
    motor: dc_motor.Params = dc_motor.Params(R=8.4, L=1e-3, k=0.0066, v_max=12.0, i_max=2.0)
    drag: gear_friction.Params = gear_friction.Params(c=0.1, s=0.02, w_s=0.3, b=0.02, mu=0.4)


class State(NamedTuple):
    q: A[float, Q("rad")] = 0.0
    w: A[float, Q("rad/s")] = 0.0
    i: A[float, Q("A")] = 0.0
    x: A[float, Q("rad", about="angle of the output in the play")] = 0.0
    w_g: A[float, Q("rad/s", about="speed of the gear; w where it drives the output")] = 0.0
    r: A[float, Q("-", 0.0, about="growth of the winding's resistance")] = 0.0


class In(NamedTuple):
    goal: A[float, Q("rad", about="commanded angle")] = 0.0
    tau: A[float, Q("N.m", about="torque on the output from outside")] = 0.0
    enabled: A[float, flag("the bridge is switched on")] = 1.0
    J_l: A[float, Q("kg.m2", 0.0, 1e4, "inertia of what hangs on the output")] = 0.0


class Out(NamedTuple):
    q: A[float, Q("rad", about="angle of the output")] = 0.0
    w: A[float, Q("rad/s", about="speed of the output")] = 0.0
    i: A[float, Q("A", about="motor current")] = 0.0
    d: A[float, Q("-", about="duty that the firmware asks for now")] = 0.0
    V: A[float, Q("V", about="supply voltage at the bridge")] = 0.0
    torque: A[float, Q("N.m", about="motor torque at the output, before friction")] = 0.0


@pure
def duty(p: Params, s: State, u: In) -> float:
    d = clamp(p.kp * (u.goal - s.q) - p.kd * s.w, -p.d_max, p.d_max)
    return d if u.enabled != 0.0 else 0.0


class Turned(NamedTuple):
    w: A[float, Q("rad/s")]
    i: A[float, Q("A")]


@pure
def turn(p: Params, s: State, J: float, L: float, tau: float, d: float, enabled: float, dt: float) -> Turned:
    """Speed and current at the end of dt > 0 of all that turns with the gear: inertia J, angular momentum L."""
    K = p.ratio * p.motor.k
    w = L / J
    Z = p.motor.L + dt * (p.motor.R * (1.0 + s.r) + p.R_s * d * d)
    # the current at the end is a - g w: implicit in the speed, so that back-EMF brakes at any step
    a = (p.motor.L * s.i + dt * d * p.motor.v_max) / Z if enabled != 0.0 else 0.0
    g = dt * K / Z if enabled != 0.0 else 0.0
    push = L + dt * (K * a + tau)
    b = gear_friction.viscous(p.drag, sign(push))
    D = gear_friction.dry(p.drag, w, sign(push), K * (a - g * w), tau)
    w = dead_band(push, dt * D) / (J + dt * (b + K * g))
    i = a - g * w
    if abs(i) > p.motor.i_max:
        i = clamp(i, -p.motor.i_max, p.motor.i_max)
        w = dead_band(L + dt * (K * i + tau), dt * D) / (J + dt * b)
    return Turned(w, i)


@pure
def warmed(p: Params, r: float, i: float, dt: float) -> float:
    return (p.T_r * r + dt * p.heat * i * i) / (p.T_r + dt)


@pure
def advance(p: Params, s: State, u: In, dt: float) -> State:
    """One run of the firmware and what follows from it; dt > 0."""
    d = duty(p, s, u)
    half = 0.5 * p.play if u.J_l > 0.0 else 0.0
    if half > 0.0:
        gear = turn(p, s, p.J, p.J * s.w_g, 0.0, d, u.enabled, dt)
        w = s.w + dt * u.tau / u.J_l
        x = s.x + dt * (w - gear.w)
        if abs(x) < half:
            return State(s.q + dt * w, w, gear.i, x, gear.w, warmed(p, s.r, gear.i, dt))
        whole = turn(p, s, p.J + u.J_l, p.J * s.w_g + u.J_l * s.w, u.tau, d, u.enabled, dt)
        return State(s.q + dt * whole.w, whole.w, whole.i, half * sign(x), whole.w, warmed(p, s.r, whole.i, dt))
    whole = turn(p, s, p.J + u.J_l, (p.J + u.J_l) * s.w, u.tau, d, u.enabled, dt)
    return State(s.q + dt * whole.w, whole.w, whole.i, 0.0, whole.w, warmed(p, s.r, whole.i, dt))


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    n = parts(dt, p.period)
    e = s
    for _ in range(n):
        e = advance(p, e, u, dt / float(n))
    d = duty(p, e, u)
    return e, Out(e.q, e.w, e.i, d, p.motor.v_max - p.R_s * d * e.i, p.ratio * p.motor.k * e.i)


SERVO = Model("servo", Params, State, In, Out, step)
