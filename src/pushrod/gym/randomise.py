"""Domain randomisation: a pool of samples, of which each episode takes one, by a hash of its environment's seed and its number."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled import rows
from pushrod.core.errors import InputError
from pushrod.core.model import Tick
from pushrod.core.noise import hash32
from pushrod.sim.machine import Machine
from pushrod.sim.scenario import Scenario

Array = NDArray[Any]
DRAW = 1_000_003  # the channel of the hash: no world has so many of its own


@dataclass(frozen=True)
class Pool:
    """Samples of the parameters that differ between episodes, by path."""

    size: int = 0
    params: Mapping[str, Array] = field(default_factory=dict)

    def take(self, seed: Array, episode: Array) -> Array:
        """The number of the sample for each."""
        if not self.size:
            return np.zeros(len(seed), np.int64)
        at: Any = Tick(episode, 0.0, seed, 0)  # type: ignore[arg-type]
        return np.asarray(hash32(at, DRAW) % self.size)


NOTHING = Pool()


def pool_of(randomise: Any, machine: Machine, scenario: Scenario) -> Pool:
    """The pool of a mapping: path -> values, the same number of each, which are all checked here."""
    if not isinstance(randomise, Mapping):
        raise InputError(f"randomise = {randomise!r}; give parameters by path with their values, or a study")
    world = scenario.world
    varied = rows.checked_vary(world.Params, randomise, f"{world.name}.Params")
    size = rows.count(varied, {}, None)
    rows.check_varied(scenario.params, varied, world.name, scenario.dt)
    return Pool(size, varied)
