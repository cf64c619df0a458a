"""A drive as the simulators of rigid bodies know one: gains, limits, inertia and friction at the joint.

    armature dw/dt = F + tau - stiffness q - damping w - friction sign(w)
    F = clamp(kp (goal - q) - kd w, lo, hi)        position
    F = clamp(gain u, lo, hi)                      effort, u after a lag

goal, u  after the delay [s].  SI, all at the joint: a gear ratio is in the numbers already. The back-EMF of a motor is damping: it brakes at full
voltage, too, which is why it does not belong inside the limits. What has no place in these equations is told in `left_out`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pushrod.core.errors import InputError
from pushrod.sim.machine import Machine


@dataclass(frozen=True)
class Drive:
    command: str  # position or effort
    armature: float  # kg.m2, or kg of what slides
    damping: float
    friction: float
    lo: float = -math.inf  # of the effort [N.m or N]
    hi: float = math.inf
    kp: float = 0.0  # N.m/rad or N/m
    kd: float = 0.0
    gain: float = 1.0  # effort for each unit of the command
    stiffness: float = 0.0  # of a spring that is at rest at 0
    delay: float = 0.0
    lag: float = 0.0
    ratio: float = 1.0  # turns of the motor for one of the joint: already in the other numbers
    slides: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def effort(self) -> float:
        return min(abs(self.lo), abs(self.hi))

    @property
    def velocity(self) -> float:
        """At which it settles under its full effort, without load."""
        return max(self.effort - self.friction, 0.0) / self.damping if self.damping > 0.0 else math.inf


def servo(p: Any, delay: float = 0.0) -> Drive:
    """Of `models/servo`: with L = 0 the torque at duty d is K (d V - K w) / R."""
    K, motor, drag = p.ratio * p.motor.k, p.motor, p.drag
    stall = K * p.d_max * motor.v_max / (motor.R + p.R_s * p.d_max * p.d_max)
    left = _said(
        (motor.L > 0.0, f"the inductance of the motor (time constant {motor.L / motor.R * 1e3:.2g} ms)"),
        (p.R_s > 0.0, "the supply that sags with the current; in the limit of the effort it is taken at full duty"),
        (K * motor.i_max < stall, "that back-EMF does not brake while the current limit holds"),
        (p.heat > 0.0, "the winding that gets hot"),
        (drag.s > 0.0 or drag.mu_s > 0.0, "friction that is higher at rest (Stribeck)"),
        (max(drag.mu, drag.mu_q, drag.mu_m, drag.mu_e) > 0.0, f"friction that grows with the load ({drag.mu:g} of it, and what else there is)"),
        (drag.skew_c != 0.0 or drag.skew_b != 0.0, "friction that differs by direction: the mean is taken"),
        (p.play > 0.0, "the play of the gear"),
        (p.period > 2e-3, f"that the firmware runs every {p.period * 1e3:g} ms only"),
    )
    most = min(stall, K * motor.i_max)
    return Drive(
        "position",
        armature=p.J,
        damping=drag.b + K * K / motor.R,
        friction=drag.c,
        lo=-most,
        hi=most,
        kp=K * motor.v_max * p.kp / motor.R,
        kd=K * motor.v_max * p.kd / motor.R,
        delay=delay,
        ratio=p.ratio,
        left_out=left,
    )


def servo_bench(p: Any) -> Drive:
    found = servo(p.drive, p.bus.delay)
    return replace(found, left_out=(*found.left_out, *_said((p.load.m > 0.0, "the weight on the arm: put it into a body of your own"))))


def torque_servo(p: Any) -> Drive:
    """Of the world `servo`: delay, rate limit, lag, limit, joint."""
    left = _said((True, f"the rate limit of the torque ({p.ramp.rise:g} N.m/s)"), (p.noise > 0.0, "the noise on the request"))
    body = p.body
    return Drive("effort", body.J, body.b, body.c, p.limit.lo, p.limit.hi, delay=p.bus.delay, lag=p.lag.T, left_out=left)


def joint(p: Any) -> Drive:
    return Drive("effort", p.J, p.b, p.c)


def linear_axis(p: Any) -> Drive:
    """Inside its loops a position drive with kp kv gain and kv gain, open an effort drive of `gain` newtons a volt."""
    body = p.body
    left = _said(
        (body.skew_v != 0.0 or body.skew_c != 0.0, "friction that differs by direction: the mean is taken"),
        (body.drop != 0.0, "friction that is other at low speed"),
        (body.offset != 0.0, f"the constant force of {body.offset:g} N"),
        (p.loop.closed != 0.0, "that the controller filters its speed and runs once a tick"),
    )
    found = Drive("effort", body.M, body.Fv, body.Fc, gain=p.gain, stiffness=body.k, delay=p.amplifier.delay, slides=True, left_out=left)
    if p.loop.closed == 0.0:
        return found
    most, kd = p.gain * p.loop.u_max, p.gain * p.loop.kv
    return replace(found, command="position", gain=1.0, lo=-most, hi=most, kp=p.loop.kp * kd, kd=kd)


DRIVES: dict[str, Callable[[Any], Drive]] = {
    "model:servo": servo,
    "servo_bench": servo_bench,
    "servo": torque_servo,
    "plant:joint": joint,
    "linear_axis": linear_axis,
}


def drive_of(machine: Machine) -> Drive:
    world = str(machine.document.data["world"])
    if world not in DRIVES:
        raise InputError(f"{machine.name} is a {world}, which is no drive of one joint; these can be exported: {', '.join(DRIVES)}")
    return DRIVES[world](machine.params)


def _said(*cases: tuple[bool, str]) -> tuple[str, ...]:
    return tuple(text for holds, text in cases if holds)
