"""A command as its card says it: what was asked, with four digits and units."""

from math import isfinite
from typing import Any

from pushrod.dash.control import KNOBS
from pushrod.net.told import ActuatorTold
from pushrod.net.wire import Foreign
from pushrod.robot.joint import units
from pushrod.runtime.payload import Hold, Stop, Trajectory

HINTS = {"duration": "s"}  # beside what the joint says


def payload_words(payload: Any, told: ActuatorTold) -> str:
    """position 0.5 rad; accel 0.25, steer -0.1 rad; stop, slowing down."""
    if isinstance(payload, Stop):
        return "stop, slowing down" if payload.mode == "decelerate" else "stop at once"
    if isinstance(payload, Hold):
        return "hold"
    if isinstance(payload, Trajectory):
        return _trajectory(payload, told)
    if isinstance(payload, Foreign):
        parts = [_part(name, value, "") for name, value in payload.data.items() if name != "type"] if isinstance(payload.data, dict) else []
        return " ".join((payload.kind, ", ".join(parts))).strip()
    kind = type(payload).__name__
    given = {name: getattr(payload, name) for name in payload.__struct_fields__}
    if kind in KNOBS:
        knobs = KNOBS[kind][1](told)
        words = [f"{k.field} {k.words[int(given[k.field])]}" if k.words else _part(k.field, given[k.field], k.unit) for k in knobs]
        return ", ".join(words)
    si = units(told.kind or "revolute") | HINTS
    return ", ".join(_part(name, value, si.get(name, "")) for name, value in given.items() if value is not None)


def _part(name: str, value: Any, unit: str) -> str:
    return f"{name} {number(value)}" + (f" {unit}" if unit not in ("", "-") else "")


def number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value + 0.0:.4g}" if isfinite(value) else str(value)


def _trajectory(payload: Trajectory, told: ActuatorTold) -> str:
    points = payload.waypoints
    unit = units(told.kind or "revolute")["position"]
    again = {"forever": ", for ever", 1: ""}.get(payload.repeat, f", {payload.repeat} times")
    if not points:
        return "trajectory without a point"
    n = "1 point" if len(points) == 1 else f"{len(points)} points"
    return f"trajectory of {n} to {number(points[-1].position)} {unit} in {number(points[-1].time)} s{again}"
