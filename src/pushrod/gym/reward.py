"""What an agent is paid for: a function of the signals, or metrics as studies have them, of the ticks of each action, weighted and added up.

reward={"error": {"signal": "q", "to": "in.goal", "metric": "rms_error", "weight": -1},
        "effort": {"signal": "torque_ach", "metric": "rms", "weight": -0.1}}
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.config.structure import WRONG, read
from pushrod.config.yaml_file import Document
from pushrod.core.errors import InputError
from pushrod.core.model import World
from pushrod.metrics.metric import Measure
from pushrod.sim.expectation import METRICS, compile_entry, folded
from pushrod.sim.tracked import signals_of
from pushrod.sweep.building import expectation
from pushrod.sweep.study_file import MetricEntry

Array = NDArray[Any]
Judge = Callable[[Mapping[str, Array]], Any]  # of the signals by name, each [environment]
PAID = [name for name, metric in METRICS.items() if metric.fold is not None and metric.unit == "y"]  # what any tick has


@dataclass(frozen=True)
class Terms:
    """Metrics, and what a unit of each is worth."""

    measures: tuple[Measure, ...]
    weights: tuple[float, ...]

    def total(self, values: Array) -> Array:
        """Of metrics [metric, environment]: one after the other, so that the number of environments changes no bit."""
        found = np.zeros(values.shape[1])
        for weight, row in zip(self.weights, values, strict=True):
            found += weight * row
        return found


def reward_of(given: Any, world: World) -> Judge | Terms:
    if given is None:
        raise InputError("what is the agent paid for? give reward=..., such as reward=lambda y: -abs(y['q'] - 1.0)")
    if isinstance(given, Mapping) and given:
        return _terms(given, world)
    if not callable(given):
        raise InputError(f"reward = {given!r}; give a function of the signals, or metrics by name")
    judge: Judge = given
    return judge


def _terms(given: Mapping[str, Any], world: World) -> Terms:
    told = Document("reward", "", {}, {})
    told.origin[()] = "reward"
    measures, weights = [], []
    for name, one in given.items():
        at = (str(name),)
        if not isinstance(one, Mapping):
            told.add(at, f"must be a metric such as {{'signal': 'q', 'metric': 'rms', 'weight': -1}}, got {one!r}")
            continue
        weight = one.get("weight", 1.0)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not np.isfinite(weight):
            told.add((*at, "weight"), f"must be a number, got {weight!r}")
        entry = read(MetricEntry, {key: value for key, value in one.items() if key != "weight"}, at, told)
        if entry is WRONG:
            continue
        if entry.metric in METRICS and entry.metric not in PAID:
            told.add((*at, "metric"), f"{entry.metric} is not there in every tick; take one of {', '.join(PAID)}")
        if entry.since > 0.0 or entry.until is not None:
            told.add(at, "is of every action; leave `from` and `until` out")
        made = compile_entry(expectation(entry), signals_of(world), at, told, bounded=False)
        measure = None if made is None else folded(made)
        if measure is not None:
            measures.append(measure)
            weights.append(weight)
    told.raise_problems()
    return Terms(tuple(measures), tuple(weights))
