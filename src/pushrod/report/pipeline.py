"""What each stage of a command pipeline made of a request, axis by axis, and where how much of it was lost.

req -> cmd -> alloc -> ach. The pipeline tells its losses itself, by cause; over a run they are added up as the integral of their size [unit s].
"""

import math
import re
from typing import NamedTuple

import numpy as np

from pushrod.pipeline.names import STAGES
from pushrod.report.logged import Logged
from pushrod.report.standing import OF_WORLD
from pushrod.sim.tracked import TAKEN

MEANINGFUL = 10.0  # times the request
CAUSES = ("shaping", "envelope", "allocation", "fault", "clamp", "dead_band", "slew")


class Loss(NamedTuple):
    cause: str
    signal: str
    total: float  # integral of |loss|
    most: float


class Axis(NamedTuple):
    """`stages` by name of the stage; `asked` is the integral of |request|."""

    name: str
    unit: str
    stages: dict[str, str]
    asked: float
    losses: tuple[Loss, ...]

    @property
    def lost(self) -> float:
        return sum(loss.total for loss in self.losses)

    def share(self, total: float) -> float | None:
        """Of what was asked for; None where that was next to nothing, and a share of it would say nothing either."""
        return total / self.asked if total <= MEANINGFUL * self.asked else None


def axes(log: Logged) -> tuple[Axis, ...]:
    """Those on which anything was ever asked or given."""
    stages: dict[str, dict[str, str]] = {}
    losses: dict[str, dict[str, str]] = {}
    for name in log.columns if any(map(_stage, log.columns)) else log.channels:
        if (found := _stage(name)) is not None:
            stages.setdefault(found[0], {}).setdefault(found[1], name)
        elif (found := _loss(name)) is not None:
            losses.setdefault(found[0], {}).setdefault(found[1], name)
    made = (_axis(log, name, by_stage, losses.get(name, {})) for name, by_stage in stages.items() if {"req", "ach"} <= by_stage.keys())
    return tuple(axis for axis in made if any(np.any(log.channels[name].values != 0.0) for name in axis.stages.values()))


def _axis(log: Logged, name: str, stages: dict[str, str], losses: dict[str, str]) -> Axis:
    ordered = {stage: stages[stage] for stage in STAGES if stage in stages}
    found = tuple(
        Loss(cause, losses[cause], _integral(log, losses[cause]), float(np.nanmax(np.abs(log.channels[losses[cause]].values), initial=0.0)))
        for cause in (*CAUSES, *(losses.keys() - set(CAUSES)))
        if cause in losses
    )
    return Axis(name, log.unit(stages["req"]), ordered, _integral(log, stages["req"]), tuple(loss for loss in found if loss.most > TAKEN))


def _integral(log: Logged, name: str) -> float:
    channel = log.channels[name]
    tick = log.dt if channel.source in OF_WORLD else 1.0 / (channel.rate or math.inf)
    return float(np.nansum(np.abs(channel.values)) * tick)


def _stage(name: str) -> tuple[str, str] | None:
    """Two motors: cmd.u_s_cmd is the stage cmd of axis s. Many effectors: pipe.cmd.a0 is that of a0."""
    if m := re.fullmatch(rf"(?:\w+\.)*u_(\w+)_({'|'.join(STAGES)})", name):
        return m[1], m[2]
    if m := re.fullmatch(rf"(?:\w+\.)*({'|'.join(STAGES)})\.(a\d+)", name):
        return m[2], m[1]
    return None


def _loss(name: str) -> tuple[str, str] | None:
    if m := re.fullmatch(r"(?:\w+\.)*loss_(\w+)\.(\w+)", name):
        return m[1], m[2]
    if m := re.fullmatch(r"(?:\w+\.)*loss\.(\w+)\.(a\d+)", name):
        return m[2], m[1]
    return None
