"""Replay the delayed torque driver: a JSON file with the run, a CSV file of the same name with the state after its operations.

variant          driver                                               tolerance
event            float32, due times move with the delay               1e-7, queue length and limit checks equal
retain           float32, due times fixed when sent                   1e-7, queue length and limit checks equal
ideal            the default: torque switched at its exact due time   1e-6
zoh, closed_loop_zoh  a later version of the reference that is no part of the product; replayed by `hold_variant`, not binding
"""

import csv
import json
import math
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pushrod.core import input_file
from pushrod.core.errors import PushrodError, VerifyError
from pushrod.plants import rigid_body
from pushrod.sim.actuator_driver import ActuatorDriver, CoarseStepWarning
from pushrod.sim.actuator_timing import EARLY
from pushrod.sim.rigid_body import ReferenceBody, RigidBody
from pushrod.sim.verify import hold_variant
from pushrod.sim.verify.verdict import Tally, Verdict

Row = dict[str, str]

# the CSV files hold nine digits, which is coarser than 1e-7 for numbers beyond 20
PRINTED = 1e-8


def claims(path: Path) -> bool:
    """Is this a run of the delayed torque driver?"""
    if path.suffix != ".json":
        return False
    try:
        run = json.loads(input_file.read_text(path))
    except (OSError, ValueError):
        return False
    return isinstance(run, dict) and run.get("variant") in REPLAYS and ("ops" in run or "sends" in run or "setpoints_t_roll_pitch_yaw" in run)


def replay(path: Path) -> Verdict:
    """What came of one run; VerifyError where the files cannot be understood."""
    try:
        run = json.loads(input_file.read_text(path))
        with input_file.open_text(path.with_suffix(".csv"), newline="") as file:
            rows: list[Row] = list(csv.DictReader(file))
    except (OSError, ValueError) as error:
        raise VerifyError(f"{path}: cannot be read with the .csv file beside it: {error}") from error
    if not rows:
        raise VerifyError(f"{path.with_suffix('.csv')}: holds no rows to compare with")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoarseStepWarning)
            return REPLAYS[run["variant"]](path, run, rows)
    except (KeyError, IndexError, TypeError, ValueError, PushrodError) as error:
        raise VerifyError(f"{path}: not a run of the delayed torque driver as expected: {type(error).__name__}: {error}") from error


class _Bench:
    """The reference's body and driver, worked by operations."""

    def __init__(self, timing: str) -> None:
        self.body = ReferenceBody()
        self.driver = ActuatorDriver(self.body, 0.0, timing=timing)
        self.caps = hold_variant.Caps()
        self.sat = -1

    def do(self, op: str, x: list[float]) -> None:
        driver, body = self.driver, self.body
        self.sat = -1
        if op in ("inertia", "omega", "rpy"):
            start = {"inertia": body.inertia, "omega": body.omega, "rpy": body.angles, op: x}
            self.body = driver.body = ReferenceBody(start["inertia"], start["omega"], start["rpy"])
        elif op in ("delay", "setdelay"):
            driver.delay = x[0]
        elif op == "send":
            driver.send_command(map(float, self.caps.applied(x)))
        elif op == "step":
            driver.update(x[0])
        elif op == "reset":
            driver.reset()
        elif op == "satcheck":
            self.sat = int(driver.has_commands_exceeding_limit(x[0]))
        elif op == "rbstep":
            body.update(x[0], driver.torque)
        elif op == "rbtorque":
            body.update(x[0], x[1:])
        elif not self.caps.set(op, x):
            raise VerifyError(f"there is no operation {op!r}")


def _ops(timing: str) -> Callable[[Path, dict[str, Any], list[Row]], Verdict]:
    def replay_ops(path: Path, run: dict[str, Any], rows: list[Row]) -> Verdict:
        bench = _Bench(timing)
        tally = Tally(absolute=1e-7, relative=PRINTED)

        def compare(row: Row, where: str) -> None:
            tally.equal("queued", bench.driver.buffered_command_count, int(row["queued"]), where)
            if bench.sat >= 0 or "sat" in row:
                tally.equal("sat", bench.sat, int(row["sat"]), where)
            values = (bench.driver.time, *bench.body.angles, *bench.body.omega, bench.body.last_dt)
            _compare(tally, ("clock", "th_x", "th_y", "th_z", "wx", "wy", "wz", "last_body_dt"), values, row, where)

        hold_variant.walk(run["ops"], rows, bench.do, compare)
        tally.rows = len(rows)
        return tally.verdict(str(path), f"timing {timing}, float32")

    return replay_ops


class _Watched:
    """A body that remembers the torque that moved it last, for longer than rounding."""

    def __init__(self, body: RigidBody) -> None:
        self.body = body
        self.torque: tuple[float, ...] = (0.0, 0.0, 0.0)

    def update(self, dt: float, torque: Iterable[float]) -> None:
        tau = tuple(torque)
        self.body.update(dt, tau)
        if dt > EARLY:
            self.torque = tau


def _ideal(path: Path, run: dict[str, Any], rows: list[Row]) -> Verdict:
    body = RigidBody(rigid_body.Params(*run["inertia"]), run["omega0"])
    watched = _Watched(body)
    driver = ActuatorDriver(watched, run["delay"])
    tally = Tally(absolute=1e-6, relative=0.0)
    sends = sorted(run["sends"], key=lambda send: float(send[0]))
    t = 0.0
    for row in rows:
        until = float(row["t"])
        while sends and sends[0][0] < until:
            at, torque = sends.pop(0)
            driver.update(max(at - t, 0.0))
            driver.send_command(torque)
            t = max(at, t)
        driver.update(max(until - t, 0.0))
        t = until
        where = f"t = {until:g} s"
        _compare(tally, ("wx", "wy", "wz", "qw", "qx", "qy", "qz"), (*body.omega, *body.attitude), row, where)
        # the torque just before the sample; where it switches at the sample itself rounding decides which side the file shows
        golden = [float(row[column]) for column in ("tx", "ty", "tz")]
        _compare(tally, ("tx", "ty", "tz"), min((watched.torque, driver.torque), key=lambda tau: math.dist(tau, golden)), row, where)
    tally.rows = len(rows)
    return tally.verdict(str(path), "timing exact, float64")


def _compare(tally: Tally, columns: tuple[str, ...], values: Iterable[float], row: Row, where: str) -> None:
    for column, value in zip(columns, values, strict=True):
        tally.compare(column, value, float(row[column]), where)


REPLAYS: dict[str, Callable[[Path, dict[str, Any], list[Row]], Verdict]] = {
    "event": _ops("event_recompute"),
    "retain": _ops("event"),
    "ideal": _ideal,
    "zoh": hold_variant.replay_ops,
    "closed_loop_zoh": hold_variant.replay_closed_loop,
}
