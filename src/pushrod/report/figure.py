"""All figures of a report as plain data: what `pushrod report --json` prints, and what the page shows."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from pushrod.log.table import Channel
from pushrod.report.findings import Findings
from pushrod.report.ledger import Ledger
from pushrod.report.pipeline import Axis
from pushrod.report.tracking import Following

VERSIONS = ("pushrod", "numba", "numpy", "python")
OF_RESPONSE = ("error_rms", "error_max", "delay", "rise_time", "overshoot", "settling_time", "saturation_time")


def figures(found: Findings) -> dict[str, Any]:
    log, about = found.log, found.log.about
    return {
        "log": str(log.table.file),
        "format": log.table.format,
        "machine": about.get("machine"),
        "robot": about.get("robot"),
        "scenario": about.get("scenario"),
        "world": about.get("world"),
        "kind": about.get("kind"),
        "started": about.get("started"),
        "duration": log.duration,
        "dt": log.dt,
        "ticks": len(log.t) or None,
        "seed": about.get("seed"),
        "versions": {name: about[name] for name in VERSIONS if name in about},
        "overrides": overrides(about),
        "torn": log.table.torn,
        "dropped": found.dropped,
        "verdict": None if log.verdict is None else msgspec.to_builtins(log.verdict),
        "responses": [response(one) for one in found.followings],
        "faults": {name: [list(span) for span in when] for name, when in found.faults.items()},
        "not_armed": [list(span) for span in found.not_armed],
        "mishaps": [one._asdict() for one in found.mishaps],
        "pipeline": [_axis(axis) for axis in found.axes],
        "way": None if found.way is None else {"view": found.way.view, "length": found.way.length},
        "commands": _commands(found.ledger),
        "loops": [loop._asdict() | {"bins": {f"{edge:g}": n for edge, n in loop.bins}} for loop in found.loops],
        "parameters": {p.path: {"value": p.value, "unit": p.unit, "origin": p.origin} for p in found.parameters},
        "parameter_changes": [vars(change) for change in found.changes],
        "signals": {name: statistics(channel) for name, channel in log.listed.items()},
        "notes": list(log.notes),
    }


def overrides(about: Mapping[str, str]) -> list[str]:
    """What was said on the command line, in its order."""
    return [about[key] for key in sorted(about, key=lambda key: (len(key), key)) if key.startswith("override ")]


def response(one: Following) -> dict[str, Any]:
    told = one.response._asdict()
    return {"request": one.pair.request, "achieved": one.pair.achieved, "unit": one.unit} | {key: finite(told[key]) for key in OF_RESPONSE}


@np.errstate(all="ignore")
def statistics(channel: Channel) -> dict[str, Any]:
    """Of what is finite; None where nothing is."""
    y = channel.values[np.isfinite(channel.values)]
    made: dict[str, Any] = {"unit": channel.unit, "samples": len(channel)}
    if not len(y):
        return made | dict.fromkeys(("min", "max", "mean", "rms", "last"))
    rms = float(np.sqrt(np.mean(y * y)))
    return made | {"min": float(y.min()), "max": float(y.max()), "mean": float(y.mean()), "rms": finite(rms), "last": float(y[-1])}


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _axis(axis: Axis) -> dict[str, Any]:
    losses = {loss.cause: {"total": loss.total, "most": loss.most} for loss in axis.losses}
    return {"axis": axis.name, "unit": axis.unit, "asked": axis.asked, "lost": axis.lost, "losses": losses}


def _commands(found: Ledger) -> list[dict[str, Any]]:
    return [{"actuator": one.actuator, "source": one.source, **one.results, "reasons": dict(one.reasons)} for one in found.senders]
