"""A command as its card says it: what was asked, with four digits and units."""

from math import isfinite
from typing import Any

from pushrod.dash.control import KNOBS
from pushrod.dash.unit import Units
from pushrod.net.told import ActuatorTold
from pushrod.net.wire import Foreign
from pushrod.robot.joint import units as joint_units
from pushrod.runtime.payload import Hold, Stop, Trajectory

HINTS = {"duration": "s"}  # beside what the joint says


def payload_words(payload: Any, told: ActuatorTold, units: Units) -> str:
    """position 28.6 deg; accel 0.25, steer -5.7 deg; stop, slowing down."""
    if isinstance(payload, Stop):
        return "stop, slowing down" if payload.mode == "decelerate" else "stop at once"
    if isinstance(payload, Hold):
        return "hold"
    if isinstance(payload, Trajectory):
        return _trajectory(payload, told, units)
    if isinstance(payload, Foreign):
        parts = [_part(name, value, "", units) for name, value in payload.data.items() if name != "type"] if isinstance(payload.data, dict) else []
        return " ".join((payload.kind, ", ".join(parts))).strip()
    kind = type(payload).__name__
    given = {name: getattr(payload, name) for name in payload.__struct_fields__}
    if kind in KNOBS:
        knobs = KNOBS[kind][1](told)
        words = [f"{k.field} {k.words[int(given[k.field])]}" if k.words else _part(k.field, given[k.field], k.unit, units) for k in knobs]
        return ", ".join(words)
    si = joint_units(told.kind or "revolute") | HINTS
    return ", ".join(_part(name, value, si.get(name, ""), units) for name, value in given.items() if value is not None)


def _part(name: str, value: Any, unit: str, units: Units) -> str:
    return f"{name} {_amount(value, unit, units)}"


def _amount(value: Any, unit: str, units: Units) -> str:
    scale = units.of(unit)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = number(scale.factor * value if is_number else value)
    return shown + (f" {scale.unit}" if scale.unit not in ("", "-") else "")


def number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{float(f'{value:.4g}') + 0.0:.4g}" if isfinite(value) else str(value)


def _trajectory(payload: Trajectory, told: ActuatorTold, units: Units) -> str:
    points = payload.waypoints
    unit = joint_units(told.kind or "revolute")["position"]
    again = {"forever": ", for ever", 1: ""}.get(payload.repeat, f", {payload.repeat} times")
    if not points:
        return "trajectory without a point"
    n = "1 point" if len(points) == 1 else f"{len(points)} points"
    return f"trajectory of {n} to {_amount(points[-1].position, unit, units)} in {number(points[-1].time)} s{again}"
