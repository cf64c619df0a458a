"""Domain randomisation: a pool of samples, of which each episode takes one, by a hash of its environment's seed and its number."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled import rows
from pushrod.config.yaml_file import Document
from pushrod.core.errors import InputError
from pushrod.core.model import Tick
from pushrod.core.noise import hash32
from pushrod.sim.machine import Machine
from pushrod.sim.scenario import Scenario
from pushrod.sweep.case import INITIAL, Case, case_of
from pushrod.sweep.draw import draw
from pushrod.sweep.study import Study, load

Array = NDArray[Any]
DRAW = 1_000_003  # the channel of the hash: no world has so many of its own
MOST = 65_536  # samples of a study that are taken


@dataclass(frozen=True)
class Pool:
    """Samples of what differs between episodes: parameters and states at the start, by path."""

    size: int = 0
    params: Mapping[str, Array] = field(default_factory=dict)
    states: Mapping[str, Array] = field(default_factory=dict)

    def take(self, seed: Array, episode: Array) -> Array:
        """The number of the sample for each."""
        if not self.size:
            return np.zeros(len(seed), np.int64)
        at: Any = Tick(episode, 0.0, seed, 0)  # type: ignore[arg-type]
        return np.asarray(hash32(at, DRAW) % self.size)


def randomised(randomise: Any, machine: Machine, scenario: Scenario, trust: bool = False) -> tuple[Case, Pool]:
    """The scenario with room for all that is drawn, and the pool, every value of it checked. Values are given by path, or by a study."""
    drawn = {} if randomise is None else dict(randomise) if isinstance(randomise, Mapping) else _of_study(randomise, scenario, trust)
    told = Document("randomise", "", {}, {})
    told.origin[()] = "randomise"
    world = scenario.world
    params = rows.checked_vary(world.Params, {path: x for path, x in drawn.items() if not path.startswith(INITIAL)}, f"{world.name}.Params")
    states = {path.removeprefix(INITIAL): x for path, x in drawn.items() if path.startswith(INITIAL)}
    states = rows.checked_vary(world.State, states, f"{world.name}.State")
    size = rows.count({**params, **states}, {}, None) if drawn else 0
    case = case_of(machine, scenario, {path: (float(x.min()), float(x.max())) for path, x in params.items()}, 0, told)
    told.raise_problems()
    return case, Pool(size, params, states)


def _of_study(given: Any, scenario: Scenario, trust: bool) -> dict[str, Array]:
    if not isinstance(given, Study | str | Path):
        raise InputError(f"randomise = {given!r}; give parameters by path with their values, or a study")
    study = given if isinstance(given, Study) else load(given, trust=trust)
    if study.machine.world.name != scenario.world.name:
        raise InputError(f"randomise: the study {study.name} is of the world {study.machine.world.name}, this machine has {scenario.world.name}")
    return draw(study, 0, min(study.runs, MOST))
