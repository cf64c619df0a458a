"""From request to achieved, axis by axis: what each stage left of what was asked, and which stage took most.

Of a command pipeline by its own records, whether it runs as a node or within the world; of other machines by the names of their outputs:
steer_req, steer_cmd, steer_ach, steer_meas are the stages of `steer`.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from pushrod.dash.output import actual_output
from pushrod.dash.unit import Scale
from pushrod.dash.watch import Watch
from pushrod.pipeline.names import AXES, axis_name
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Allocated, Diagnostics, EscOutput, Loss, MixerFeedback

STAGES = ("req", "cmd", "alloc", "ach", "meas")
WORDS = {"req": "requested", "cmd": "commanded", "alloc": "allocated", "ach": "achieved", "meas": "measured"}
STAGE = re.compile(r"^(?P<head>.*?)_(?P<stage>req|cmd|ach|meas)(?P<tail>_[a-z0-9]+)?$")
LOSSES = Loss._fields
SLIGHT = 5e-4  # what is shown as 0.000
SHARE = 0.01  # of the largest stage: what is less is no loss worth a word


class Axis(NamedTuple):
    """`stages` and `losses` by name, in their order."""

    name: str
    unit: str
    stages: dict[str, float]
    losses: Mapping[str, float] = MappingProxyType({})

    def taken(self, scale: Scale) -> str:
        """Which stage took most, in words; "" where none did by as much as is shown."""
        if self.losses:
            worst = max(self.losses, key=lambda name: abs(self.losses[name]))
            loss = self.losses[worst]
            return f"{worst.replace('_', ' ')} takes {loss:+.3f}" if abs(loss) >= SLIGHT else ""
        values = list(self.stages.items())
        lost = {f"{WORDS[a]} to {WORDS[b]}": y - x for (a, x), (b, y) in pairwise(values) if b != "meas"}
        worst = max(lost, key=lambda name: abs(lost[name]), default="")
        least = SHARE * max(map(abs, self.stages.values()), default=0.0)
        is_seen = bool(worst) and abs(scale.number(lost[worst])) > 0.0 and abs(lost[worst]) >= least
        return f"{worst}: {scale.factor * lost[worst]:+.{scale.digits}f}" if is_seen else ""


class Effector(NamedTuple):
    """`u` is the command to it, `actual` its measured output; None where the robot does not measure it."""

    name: str
    u: float
    saturated: bool
    actual: float | None = None


def axes(watch: Watch) -> list[Axis]:
    return _of_two(watch.records) or _of_n(watch) or _by_names(watch)


def effectors(watch: Watch) -> list[Effector]:
    esc, fb = watch.records.get(EscOutput), watch.records.get(MixerFeedback)
    if esc is not None and fb is not None:
        rows = (("left", esc.u_L, fb.sat_L), ("right", esc.u_R, fb.sat_R))
        return [Effector(name, u, saturated != 0.0, actual_output(watch, name)) for name, u, saturated in rows]
    now = watch.now
    names = [name.removeprefix("pipe.u.") for name in now if name.startswith("pipe.u.")]
    used = [name for name in names if f"{name}_fault" in now] or names  # a pipeline has places for more than a machine has
    return [Effector(name, now[f"pipe.u.{name}"], now.get(f"pipe.sat.{name}", 0.0) != 0.0, actual_output(watch, name)) for name in used]


def signal_unit(watch: Watch, channel: str) -> str:
    """Return the SI unit of the signal that a fault of this channel changes; "-" for a share or where the world has no such quantity."""
    units = {axis.name: axis.unit for axis in _by_names(watch)}
    return units.get(channel, units.get(f"{channel}.torque", "-"))


def _of_two(records: dict[type, Any]) -> list[Axis]:
    if not {ActuatorReq, ActuatorCmd, Allocated, MixerFeedback, Diagnostics} <= records.keys():
        return []
    req, cmd, alloc, fb, diag = (records[kind] for kind in (ActuatorReq, ActuatorCmd, Allocated, MixerFeedback, Diagnostics))
    found = []
    for axis in AXES:
        stages = {stage: getattr(record, f"u_{axis}_{stage}") for stage, record in (("req", req), ("cmd", cmd), ("alloc", alloc), ("ach", fb))}
        found.append(Axis(axis_name(axis), "-", stages, getattr(diag, f"loss_{axis}")._asdict()))
    return found


def _of_n(watch: Watch) -> list[Axis]:
    """The axes that the machine file compares; all of them where it compares none."""
    now, world = watch.now, watch.world
    names = [name.removeprefix("pipe.cmd.") for name in now if name.startswith("pipe.cmd.")]
    compared = {achieved.removeprefix("pipe.ach.") for _, achieved in world.pairs} if world is not None else set()
    names = [name for name in names if name in compared] or names
    found = []
    place = world.world if world is not None else ""
    for axis in names:
        stages = {"req": now.get(f"req.{axis}", 0.0)} | {stage: now[f"pipe.{stage}.{axis}"] for stage in ("cmd", "alloc", "ach")}
        found.append(Axis(axis_name(axis, place), "-", stages, {loss: now[f"pipe.loss.{loss}.{axis}"] for loss in LOSSES}))
    return found


def _by_names(watch: Watch) -> list[Axis]:
    if watch.world is None:
        return []
    units = dict(zip(watch.world.names, watch.world.units, strict=True))
    found: dict[str, dict[str, float]] = {}
    for name, value in watch.now.items():
        parts = STAGE.match(name)
        if parts:
            found.setdefault(f"{parts['head']}{parts['tail'] or ''}", {})[parts["stage"]] = value
    made = []
    for name, stages in found.items():
        if name in watch.now and "req" in stages:
            stages = {**stages, "ach": watch.now[name]}
        ordered = {stage: stages[stage] for stage in STAGES if stage in stages}
        if "req" in ordered and len(ordered) > 1:
            unit = next(units[full] for full in units if (parts := STAGE.match(full)) and f"{parts['head']}{parts['tail'] or ''}" == name)
            made.append(Axis(name, unit, ordered))
    return made
