"""Two thrusters under a hull: a boat without its loops and its command pipeline, which then run elsewhere, as they do on a real one.

    X = F_L + F_R        N = (F_R - F_L) arm

F_L, F_R   thrust of the port and the starboard thruster [N], each `arm` from the middle [m]

A fault of a motor acts on its command (loss: it does that share of what it is told); `health` is the share it says it still gives, where the fault
is announced. `u_meas` is the command a motor turns by, as far as its rotor shows it: while it speeds up or slows down it shows the lag as well.

Measured values and health are those at the end of the tick, which is the start of the next one, with the noise and the faults of that.
"""

from collections.abc import Iterator
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Tick, World
from pushrod.core.noise import normal
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q
from pushrod.core.scalar import sign
from pushrod.models import fault, thruster
from pushrod.plants import surface_vessel


class Drive(NamedTuple):
    u: A[float, Q("-", -1.0, 1.0, "-1 full astern, 1 full ahead")] = 0.0


class In(NamedTuple):
    left: Drive = Drive()
    right: Drive = Drive()


class Sensors(NamedTuple):
    """One standard deviation."""

    speed: A[float, Q("m/s", 0.0, 1.0)] = 0.01
    heading: A[float, Q("rad", 0.0, 0.5)] = 0.003
    rate: A[float, Q("rad/s", 0.0, 0.5)] = 0.003


class Faults(NamedTuple):
    left: fault.Params = fault.Params()
    right: fault.Params = fault.Params()

    def flaws(self, dt: float | None) -> Iterator[str]:
        for side, broken in zip(self._fields, self, strict=True):
            if broken.kind == fault.DELAY:
                yield f"{side}.kind: a command to this motor takes no time that a fault could add to; use stuck, loss or bias"


class Params(NamedTuple):
    left: thruster.Params = thruster.Params()
    right: thruster.Params = thruster.Params()
    arm: A[float, Q("m", 0.0, 100.0, "from the middle to either thruster")] = 0.35
    hull: surface_vessel.Params = surface_vessel.Params()
    current: surface_vessel.Current = surface_vessel.Current()
    noise: Sensors = Sensors()
    faults: Faults = Faults()


class Motor(NamedTuple):
    broken: fault.State = fault.State()
    rotor: thruster.State = thruster.State()


class State(NamedTuple):
    left: Motor = Motor()
    right: Motor = Motor()
    hull: surface_vessel.State = surface_vessel.State()


class Turned(NamedTuple):
    F: A[float, Q("N", about="thrust")] = 0.0
    n: A[float, Q("rad/s", about="rotor speed")] = 0.0
    u_meas: A[float, Q("-", about="the command it turns by")] = 0.0
    health: A[float, Q("-", 0.0, 1.0, "share of its output it says it still gives")] = 1.0
    reported: A[float, Choice(fault.KINDS, "as the motor reports it")] = 0.0


class Out(NamedTuple):
    v: A[float, Q("m/s", about="speed ahead, over ground")] = 0.0
    psi: A[float, Q("rad", about="heading, from east to north, not wrapped")] = 0.0
    r: A[float, Q("rad/s", about="yaw rate, to port")] = 0.0
    left: Turned = Turned()
    right: Turned = Turned()
    X: A[float, Q("N", about="surge force of both thrusters")] = 0.0
    N: A[float, Q("N.m", about="yaw moment of both thrusters")] = 0.0
    x: A[float, Q("m", about="to the east")] = 0.0
    y: A[float, Q("m", about="to the north")] = 0.0
    sway: A[float, Q("m/s", about="speed to port, over ground")] = 0.0
    v_meas: A[float, Q("m/s", about="as measured")] = 0.0
    psi_meas: A[float, Q("rad", about="as measured")] = 0.0
    r_meas: A[float, Q("rad/s", about="as measured")] = 0.0


class Pushed(NamedTuple):
    motor: Motor
    F: A[float, Q("N")]
    n: A[float, Q("rad/s")]
    reported: A[float, Choice(fault.KINDS)]


class Seen(NamedTuple):
    v: A[float, Q("m/s")]
    psi: A[float, Q("rad")]
    r: A[float, Q("rad/s")]


@pure
def push(p: thruster.Params, broken: fault.Params, s: Motor, u: float, t: float, dt: float) -> Pushed:
    on = 1.0 if fault.is_active(broken, t) else 0.0
    b, done = fault.step(broken, s.broken, fault.In(u, on), dt)
    rotor, y = thruster.step(p, s.rotor, done.y, dt)
    return Pushed(Motor(b, rotor), y.F, y.n, done.reported)


@pure
def seen_command(p: thruster.Params, n: float, k: float) -> float:
    """The command a well motor would turn so fast by; of one known to give the share k, what it must have been told."""
    u = sign(n) * p.dead + (1.0 - p.dead) * n / p.n_max
    return u / k if k > 0.0 else 0.0


@pure
def sense(p: Sensors, h: surface_vessel.State, at: Tick) -> Seen:
    return Seen(h.u + p.speed * normal(at, 0), h.psi + p.heading * normal(at, 1), h.r + p.rate * normal(at, 2))


@pure
def moved(
    p: surface_vessel.Params, current: surface_vessel.Current, arm: float, h: surface_vessel.State, F_L: float, F_R: float, dt: float
) -> surface_vessel.State:
    s, _ = surface_vessel.step(p, h, surface_vessel.In(F_L + F_R, 0.0, (F_R - F_L) * arm, current), dt)
    return s


@pure
def step(p: Params, s: State, u: In, at: Tick) -> tuple[State, Out]:
    """Two thrusters under a hull, each told what it is to give."""
    dt = at.dt
    t = float(at.k) * dt
    L = push(p.left, p.faults.left, s.left, u.left.u, t, dt)
    R = push(p.right, p.faults.right, s.right, u.right.u, t, dt)
    h = moved(p.hull, p.current, p.arm, s.hull, L.F, R.F, dt)
    k = at.k + 1 if dt > 0.0 else at.k
    t = float(k) * dt
    k_L = fault.told_health(p.faults.left, t)
    k_R = fault.told_health(p.faults.right, t)
    seen = sense(p.noise, h, Tick(k, dt, at.seed, at.instance))
    return State(L.motor, R.motor, h), Out(
        h.u, h.psi, h.r,
        Turned(L.F, L.n, seen_command(p.left, L.motor.rotor.n, k_L), k_L, L.reported),
        Turned(R.F, R.n, seen_command(p.right, R.motor.rotor.n, k_R), k_R, R.reported),
        L.F + R.F, (R.F - L.F) * p.arm, h.x, h.y, h.v, seen.v, seen.psi, seen.r,
    )  # fmt: skip


HULL = World("hull", Params, State, In, Out, step)
