"""A later version of the reference's driver, in float32, only to read its reference runs: they record another choice and do not bind.

The driver releases torque and does not move the body: of all commands due, the last wins and is held; the body takes the held torque for a whole
step. Commands are clamped per axis and then scaled to a largest magnitude when sent. A change of the delay moves the due times.

    w += 1/I (tau - w x (I w)) h
    phi' = p + (q sin phi + r cos phi) tan theta     theta' = q cos phi - r sin phi     psi' = (q sin phi + r cos phi) / cos theta
"""

import math
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pushrod.core.errors import VerifyError
from pushrod.sim.rigid_body import ReferenceBody, wrapped
from pushrod.sim.verify.verdict import Tally, Verdict

F = np.float32
Row = dict[str, str]
NOT_BINDING = "does not bind"


class Caps:
    """Largest torque per axis and largest magnitude [N.m], applied in this order."""

    def __init__(self) -> None:
        self.axis = [F(math.inf)] * 3
        self.magnitude = F(math.inf)

    def set(self, op: str, x: list[float]) -> bool:
        if op == "capaxis":
            self.axis = [F(v) for v in x]
        elif op == "capmag":
            self.magnitude = F(x[0])
        else:
            return False
        return True

    def applied(self, torque: Any) -> list[np.float32]:
        tau = [min(max(F(v), -most), most) for v, most in zip(torque, self.axis, strict=True)]
        size = np.sqrt(tau[0] * tau[0] + tau[1] * tau[1] + tau[2] * tau[2])
        return [v * (self.magnitude / size) for v in tau] if size > self.magnitude else tau


def walk(ops: list[list[Any]], rows: list[Row], do: Callable[[str, list[float]], None], compare: Callable[[Row, str], None]) -> None:
    """Do every operation in order and compare with the row of it, where there is one."""
    by_op = {int(row["op_index"]): row for row in rows}
    beyond = [k for k in by_op if not 0 <= k < len(ops)]
    if beyond:
        raise VerifyError(f"op_index {beyond[0]} is not in the list of {len(ops)} operations")
    for k, (op, *x) in enumerate(ops):
        do(op, x)
        if k in by_op:
            compare(by_op[k], f"op_index {k} ({op})")


class Bench:
    """Body, angles and driver of that version, worked by operations."""

    def __init__(self) -> None:
        self.body = ReferenceBody()
        self.angles = [F(0.0)] * 3
        self.queue: deque[tuple[list[np.float32], np.float32]] = deque()
        self.clock = self.delay = self.applied_at = F(0.0)
        self.torque = [F(0.0)] * 3
        self.caps = Caps()

    def do(self, op: str, x: list[float]) -> None:
        if op == "inertia":
            self.body = ReferenceBody(x, self.body.omega)
        elif op == "omega":
            self.body = ReferenceBody(self.body.inertia, x)
        elif op == "rpy":
            self.angles = [F(v) for v in x]
        elif op in ("delay", "setdelay"):
            self.delay = F(x[0])
        elif op == "send":
            self.queue.append((self.caps.applied(x), self.clock))
        elif op == "step":
            self.release(F(x[0]))
        elif op == "reset":
            self.queue.clear()
            self.clock = F(0.0)
        elif op == "rbstep":
            self.move(F(x[0]), self.torque)
        elif op == "rbtorque":
            self.move(F(x[0]), x[1:])
        elif op != "satcheck" and not self.caps.set(op, x):
            raise VerifyError(f"there is no operation {op!r}")

    def release(self, dt: np.float32) -> None:
        self.clock = self.clock + dt
        while self.queue and self.queue[0][1] + self.delay <= self.clock + F(1e-6):
            self.torque, sent = self.queue.popleft()
            self.applied_at = sent + self.delay

    def move(self, h: np.float32, torque: Any) -> None:
        self.body.update(float(h), torque)
        p, q, r = map(F, self.body.omega)
        phi, theta, psi = self.angles
        s, c = np.sin(phi), np.cos(phi)
        level = np.cos(theta)
        if abs(level) < F(1e-6):
            level = F(1e-6) if level >= F(0.0) else F(-1e-6)
        tan = np.sin(theta) / level
        turned = (phi + (p + (q * s + r * c) * tan) * h, theta + (q * c - r * s) * h, psi + (q * s + r * c) / level * h)
        self.angles = [wrapped(angle) for angle in turned]


def replay_ops(path: Path, run: dict[str, Any], rows: list[Row]) -> Verdict:
    bench = Bench()
    tally = Tally(absolute=1e-6, relative=1e-8)
    bind_angles = not run.get("angles_ill_conditioned", False)

    def compare(row: Row, where: str) -> None:
        tally.equal("queued", len(bench.queue), int(row["queued"]), where)
        values: dict[str, Any] = {"clock": bench.clock, "t_applied": bench.applied_at}
        values |= dict(zip(("wx", "wy", "wz", "tx", "ty", "tz"), (*bench.body.omega, *bench.torque), strict=True))
        if bind_angles:
            values |= dict(zip(("roll", "pitch", "yaw"), bench.angles, strict=True))
        for column, value in values.items():
            tally.compare(column, float(value), float(row[column]), where)

    walk(run["ops"], rows, bench.do, compare)
    return _verdict(path, tally, len(rows))


class Pid:
    """One axis of its controller: filtered derivative, leaking integral, output within +-1000 N.m."""

    MOST = F(1000.0)

    def __init__(self, run: dict[str, Any]) -> None:
        self.kp, self.ki, self.kd, self.alpha, tau = (F(run[name]) for name in ("kp", "ki", "kd", "alpha", "tau"))
        self.dt = F(run["dt"])
        self.leak = self.dt / max(tau, F(10.0) * self.dt)
        self.on_rate = bool(run["rate_feedback"])
        self.integral = self.derivative = self.error = F(0.0)

    def torque(self, error: np.float32, w: np.float32) -> np.float32:
        slope = (error - self.error) / self.dt
        self.error = error
        self.derivative = self.alpha * self.derivative + (F(1.0) - self.alpha) * slope
        damping = -self.kd * w if self.on_rate else self.kd * self.derivative
        raised = self.integral + self.dt * error
        self.integral = self.limited(raised / (F(1.0) + self.leak), F(100.0))
        asked = self.kp * error + self.ki * self.integral + damping
        given = self.limited(asked, self.MOST)
        if given != asked and self.ki != F(0.0):
            back = (given - self.kp * error - damping) / self.ki
            self.integral = self.limited((raised + self.leak * back) / (F(1.0) + self.leak), F(100.0))
            given = self.limited(self.kp * error + self.ki * self.integral + damping, self.MOST)
        return given

    @staticmethod
    def limited(x: np.float32, most: np.float32) -> np.float32:
        return min(max(x, -most), most)


def replay_closed_loop(path: Path, run: dict[str, Any], rows: list[Row]) -> Verdict:
    """Sense, control, send, release, move; row k is the state after step k."""
    if run.get("noise"):
        return Verdict(str(path), 0, "-", 0.0, "-", True, f"{NOT_BINDING}; not replayed: its noise cannot be made again", binds=False)
    bench = Bench()
    for op, x in (("inertia", run["I"]), ("omega", run["w"]), ("rpy", run["att"]), ("delay", [run["delay"]])):
        bench.do(op, x)
    bench.do("capaxis", run["cap"])
    bench.do("capmag", [run["mag"]])
    pids = [Pid(run) for _ in range(3)]
    tally = Tally(absolute=1e-6, relative=1e-8)
    by_k = {int(row["k"]): row for row in rows}
    for k in range(max(by_k) + 1):
        target = [s[1:] for s in run["setpoints_t_roll_pitch_yaw"] if s[0] <= bench.clock][-1]
        cmd = [pid.torque(wrapped(F(goal) - angle), F(w)) for pid, goal, angle, w in zip(pids, target, bench.angles, bench.body.omega, strict=True)]
        bench.do("send", [float(x) for x in cmd])
        bench.do("step", [run["dt"]])
        bench.do("rbstep", [run["dt"]])
        if k in by_k:
            columns = ("wx", "wy", "wz", "roll", "pitch", "yaw")
            tally.equal("queued", len(bench.queue), int(by_k[k]["queued"]), f"k = {k}")
            for column, value in zip(columns, (*bench.body.omega, *map(float, bench.angles)), strict=True):
                tally.compare(column, value, float(by_k[k][column]), f"k = {k}")
    return _verdict(path, tally, len(rows))


def _verdict(path: Path, tally: Tally, n: int) -> Verdict:
    tally.rows = n
    return tally.verdict(str(path), NOT_BINDING)._replace(binds=False)
