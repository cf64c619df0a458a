"""Mechanical steering: a position controller with power steering that turns the tyres against inertia, damping, spring and friction.

    limit     lim = prev + clamp(tire_des - prev, +-rate_limit dt),   |lim| <= angle_limit
    control   e = lim - theta        T = ff_gain lim + kp e + ki (I + e dt) + kd (e - e_last) / dt          I' = e
    power     tau = a T^3 + b T^2 + c T + d s^3 + e s^2 + f s + g T s + h,   |tau| <= steering_torque_limit,   s = |v|
    motion    theta' = omega         inertia omega' = tau - damping omega - stiffness theta - friction sgn(omega)

theta tyre angle [rad], omega its rate [rad/s], tau torque (nominal unit: the numbers were fitted), s speed [m/s]. All positive to the left.
Dead zone: a torque that is small (below dead_zone_threshold) and against the motion moves nothing, until one above the threshold frees the latch.

Reference (Runge-Kutta over the motion, controller memory frozen in the step): `prev` is the previous UNLIMITED tire_des; in the dead zone omega is
kept, not zeroed; sgn(0) = 1; I has no bound; torque_delay_time only freezes the steering until the oldest stored torque is that old by the
controller's own accumulated clock. Torques are stored for that alone. (The clock starts again every 1024 s; float32 would stop it after three days.)
Sane: the controller acts once a step, its torque held over the step and delayed by round(torque_delay_time / sampling_time) steps; `prev` is the
limited command; the dead zone brings the wheel to rest (its threshold adds to the friction) and
keeps it there; friction is a budget that stops a motion but never reverses it; damping is implicit, so that no step
is too long; a saturated torque stops the integral; the end stop takes the rate away.
Source: the public vehicle models of Autoware, restated.
"""

import functools
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q, flag
from pushrod.core.ring import Ring
from pushrod.core.scalar import clamp, dead_band, minimum, sign
from pushrod.models.queue import entries

AROUND = 1024.0  # [s], once round the clock

Coefficient = A[float, Q("-", -1e3, 1e3, "power steering polynomial")]
Torque = A[float, Q("torque")]


class Params(NamedTuple):
    kp: A[float, Q("torque/rad", 0.0, 1e4)] = 386.9151820510161
    ki: A[float, Q("torque/(rad.s)", 0.0, 1e4)] = 5.460970982628869
    kd: A[float, Q("torque.s/rad", 0.0, 1e3)] = 0.03550834077602694
    ff_gain: A[float, Q("torque/rad", -1e3, 1e3)] = 0.03051963576179274
    angle_limit: A[float, Q("rad", 0.01, 100.0)] = 10.0
    rate_limit: A[float, Q("rad/s", 0.01, 100.0, "of the command, and of the tyre")] = 3.0
    dead_zone_threshold: A[float, Q("torque", 0.0, 1e3)] = 0.00708241866710033
    poly_a: Coefficient = 0.15251276182076065
    poly_b: Coefficient = -0.17301900674117585
    poly_c: Coefficient = 1.5896528355739639
    poly_d: Coefficient = 0.002300899817071436
    poly_e: Coefficient = -0.0418928856764797
    poly_f: Coefficient = 0.18449047960081838
    poly_g: Coefficient = -0.06320887302605509
    poly_h: Coefficient = 0.18696796150634806
    inertia: A[float, Q("torque.s2/rad", 0.01, 1e4)] = 25.17844747941984
    damping: A[float, Q("torque.s/rad", 0.0, 1e4)] = 117.00653795106054
    stiffness: A[float, Q("torque/rad", 0.0, 1e4)] = 0.17526182368541224
    friction: A[float, Q("torque", 0.0, 1e4)] = 0.6596571248682918
    steering_torque_limit: A[float, Q("torque", 0.0, 1e4)] = 30.0
    torque_delay_time: A[float, Q("s", 0.0, 10.0)] = 0.0007641271506616108


class Stage(NamedTuple):
    """One evaluation of the motion."""

    e: A[float, Q("rad")] = 0.0
    tau: Torque = 0.0
    d_theta: A[float, Q("rad/s")] = 0.0
    d_omega: A[float, Q("rad/s2")] = 0.0


class Frozen(NamedTuple):
    """What no stage changes: T = base + gain e, tau = ((a T + b) T + c) T + offset."""

    lim: A[float, Q("rad")] = 0.0
    base: Torque = 0.0
    gain: A[float, Q("torque/rad")] = 0.0
    a: Coefficient = 0.0
    b: Coefficient = 0.0
    c: Coefficient = 0.0
    offset: Torque = 0.0


@pure
def frozen(p: Params, lim: float, integral: float, e_last: float, v: float, dt: float) -> Frozen:
    s = abs(v)
    kd = p.kd / dt if dt >= 1e-6 else 0.0
    offset = ((p.poly_d * s + p.poly_e) * s + p.poly_f) * s + p.poly_h
    return Frozen(lim, p.ff_gain * lim + p.ki * integral - kd * e_last, p.kp + p.ki * dt + kd, p.poly_a, p.poly_b, p.poly_c + p.poly_g * s, offset)


@pure
def power_torque(c: Frozen, e: float) -> float:
    """The torque of the power steering, without its limit."""
    T = c.base + c.gain * e
    return ((c.a * T + c.b) * T + c.c) * T + c.offset


@pure
def in_dead_zone(threshold: float, omega: float, tau: float, latched: float) -> bool:
    """As the reference asks it: zero counts as positive."""
    return abs(tau) < threshold and (latched != 0.0 or (tau < 0.0) != (omega < 0.0))


@pure
def stage(p: Params, c: Frozen, latched: float, free: bool, theta: float, omega: float) -> Stage:
    """One Runge-Kutta stage of the reference."""
    e = c.lim - theta
    tau = clamp(power_torque(c, e), -p.steering_torque_limit, p.steering_torque_limit)
    if not free or in_dead_zone(p.dead_zone_threshold, omega, tau, latched):
        return Stage(e, tau, 0.0, 0.0)
    friction = -p.friction if omega < 0.0 else p.friction
    return Stage(e, tau, omega, (tau - p.damping * omega - p.stiffness * theta - friction) / p.inertia)


def forgetful(s: Any, angle: float) -> Any:
    """The state after the car was put elsewhere: at rest at this tyre angle; the last command stays."""
    return s._replace(
        pos=angle, vel=0.0, dead_zone=0.0, pid_integral=0.0, pid_error=0.0, buf_len=0.0, clock=0.0, stored=tuple(type(entry)() for entry in s.stored)
    )


class Entry(NamedTuple):
    stamp: A[float, Q("s", about="clock when it was stored")] = 0.0
    torque: Torque = 0.0


class Steering(NamedTuple):
    """A mechanical steering with a bounded store of torques: its state record and its two ways to go on."""

    State: Any
    reference_step: Any
    sane_step: Any


@functools.cache
def of(slots: int) -> Steering:
    ring = Ring(Entry, slots)

    class State(NamedTuple):
        pos: A[float, Q("rad", about="tyre angle before the car's own limit")] = 0.0
        vel: A[float, Q("rad/s")] = 0.0
        dead_zone: A[float, flag("latched")] = 0.0
        pid_integral: A[float, Q("rad.s")] = 0.0
        pid_error: A[float, Q("rad")] = 0.0
        prev_tire_des: A[float, Q("rad")] = 0.0
        buf_len: A[float, Q("-", 0.0, slots, "stored torques")] = 0.0
        clock: A[float, Q("s", 0.0, AROUND)] = 0.0
        head: A[float, Q("-", 0.0, slots - 1, "slot of the next torque")] = 0.0
        stored: A[tuple[Any, ...], ring] = ring.empty()

    @pure
    def back(i: int, n: int) -> int:
        """The slot n pushes before slot i."""
        j = i - n
        return j if j >= 0 else j + slots

    @pure
    def reference_step(p: Params, s: State, theta: float, tire_des: float, v: float, dt: float) -> State:
        """theta is where the tyre is, which the car may have limited since."""
        h = 0.5 * dt
        clock = s.clock + dt if s.clock + dt < AROUND else s.clock + dt - AROUND
        head = int(s.head)
        age = clock - ring.get(s.stored, back(head, int(s.buf_len))).stamp
        free = s.buf_len > 0.0 and (age if age >= 0.0 else age + AROUND) >= p.torque_delay_time
        d = clamp(clamp(tire_des, -p.angle_limit, p.angle_limit) - s.prev_tire_des, -p.rate_limit * dt, p.rate_limit * dt)
        lim = clamp(s.prev_tire_des + d, -p.angle_limit, p.angle_limit)
        c = frozen(p, lim, s.pid_integral, s.pid_error, v, dt)
        k1 = stage(p, c, s.dead_zone, free, theta, s.vel)
        k2 = stage(p, c, s.dead_zone, free, theta + h * k1.d_theta, s.vel + h * k1.d_omega)
        k3 = stage(p, c, s.dead_zone, free, theta + h * k2.d_theta, s.vel + h * k2.d_omega)
        k4 = stage(p, c, s.dead_zone, free, theta + dt * k3.d_theta, s.vel + dt * k3.d_omega)
        w = 1.0 / 6.0
        e = w * (k1.e + 2.0 * (k2.e + k3.e) + k4.e)
        tau = w * (k1.tau + 2.0 * (k2.tau + k3.tau) + k4.tau)
        theta = clamp(theta + w * dt * (k1.d_theta + 2.0 * (k2.d_theta + k3.d_theta) + k4.d_theta), -p.angle_limit, p.angle_limit)
        omega = clamp(s.vel + w * dt * (k1.d_omega + 2.0 * (k2.d_omega + k3.d_omega) + k4.d_omega), -p.rate_limit, p.rate_limit)
        latched = 1.0 if in_dead_zone(p.dead_zone_threshold, omega, tau, s.dead_zone) else 0.0
        stored = ring.put(s.stored, head, Entry(clock, tau))
        # a full store drops its oldest: only a delay that `flaws` refuses gets there
        count = s.buf_len if free else minimum(s.buf_len + 1.0, float(slots))
        after = float(head + 1 if head + 1 < slots else 0)
        return State(theta, omega, latched, s.pid_integral + e * dt, e, tire_des, count, clock, after, stored)

    @pure
    def sane_step(
        p: Params, s: State, theta: float, tire_des: float, v: float, angle_lim: float, rate_lim: float, sampling_time: float, dt: float
    ) -> State:
        """The tyre keeps to angle_lim and rate_lim."""
        head = int(s.head)
        n = int(minimum(entries(p.torque_delay_time, sampling_time), float(slots - 1)))
        lim = s.prev_tire_des + clamp(clamp(tire_des, -angle_lim, angle_lim) - s.prev_tire_des, -rate_lim * dt, rate_lim * dt)
        e = lim - theta
        asked = power_torque(frozen(p, lim, s.pid_integral, s.pid_error, v, dt), e)
        tau = clamp(asked, -p.steering_torque_limit, p.steering_torque_limit)
        integral = s.pid_integral if (asked - tau) * e > 0.0 else s.pid_integral + e * dt
        stored = ring.put(s.stored, head, Entry(0.0, tau))
        acting = ring.get(stored, back(head, n)).torque
        after = float(head + 1 if head + 1 < slots else 0)
        drive = acting - p.stiffness * theta
        resistance = p.friction
        latched = 0.0
        if abs(acting) < p.dead_zone_threshold and (s.dead_zone != 0.0 or sign(acting) != sign(s.vel)):
            # nothing drives the wheel here and the threshold resists: it comes to rest and stays
            drive = 0.0
            resistance = p.friction + p.dead_zone_threshold
            latched = 1.0
        per_I = dt / (p.inertia + dt * p.damping)
        omega = dead_band(p.inertia / (p.inertia + dt * p.damping) * s.vel + per_I * drive, per_I * resistance)
        omega = clamp(omega, -rate_lim, rate_lim)
        free = theta + dt * clamp(0.5 * (s.vel + omega), -rate_lim, rate_lim)
        pos = clamp(free, -angle_lim, angle_lim)
        return State(pos, omega if pos == free else 0.0, latched, integral, e, lim, float(n), 0.0, after, stored)

    return Steering(State, reference_step, sane_step)
