"""Faults that are active now, by channel: injected ones, and those that an actuator reports of itself."""

from typing import Any

from pushrod.dash.stages import signal_unit
from pushrod.dash.unit import Units
from pushrod.dash.watch import Watch
from pushrod.live.world_node import FAULT
from pushrod.models.fault import KINDS


def injected(watch: Watch) -> dict[str, dict[str, Any]]:
    """The fields of every channel that can fail."""
    made: dict[str, dict[str, Any]] = {}
    for entry in watch.parameters:
        group, _, rest = entry["path"].partition(".")
        channel, _, field = rest.rpartition(".")
        if group == FAULT and channel:
            made.setdefault(channel, {})[field] = entry["value"]
    return made


def is_scheduled(fields: dict[str, Any], t: float) -> bool:
    return bool(fields.get("kind", KINDS[0]) != KINDS[0] and t < fields.get("at", 0.0))


def faults(watch: Watch, units: Units) -> dict[str, str]:
    """Return the active faults by channel: "stuck", "loss, 50% left", "bias +5.7 deg", "reports 50% health"."""
    found: dict[str, str] = {}
    for channel, fields in injected(watch).items():
        kind = fields.get("kind", KINDS[0])
        if kind != KINDS[0] and fields.get("at", 0.0) <= watch.world_time < fields.get("until", 1e9):
            found[channel] = _words(kind, fields, signal_unit(watch, channel), units)
    for name, state in watch.thrusters.items():
        if state.health is not None and state.health < 1.0 and name not in found:
            found[name] = f"reports {state.health:.0%} health"
    return found


def is_announced(watch: Watch, channel: str) -> bool:
    """Whether a pipeline is informed of the fault: the channel reports a health below 1."""
    fields = injected(watch).get(channel)
    if fields is None or fields.get("kind", KINDS[0]) == KINDS[0]:
        return True  # it is known only because the actuator reports it
    return bool(fields.get("announced")) and fields["kind"] in ("loss", "stuck")


def _words(kind: str, fields: dict[str, Any], unit: str, units: Units) -> str:
    if kind == "loss":
        return f"loss, {fields['effectiveness']:.0%} left"
    if kind == "bias":
        scale = units.of(unit)
        bias = float(f"{scale.factor * fields['bias']:.4g}")
        return f"bias {bias:+g} {scale.unit}".removesuffix(" -")
    if kind == "delay":
        return f"delay +{fields['extra_delay']:g} s"
    return str(kind)
