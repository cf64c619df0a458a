"""A scenario of a study, ready to run: the world with room for the longest delay that is drawn, inputs sampled, noise of the study's seed."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.config.yaml_file import Document
from pushrod.core import check
from pushrod.core.model import World
from pushrod.core.record import get, numbers, put
from pushrod.sim.machine import Machine
from pushrod.sim.record_file import record
from pushrod.sim.room import carry, with_room
from pushrod.sim.run import sample
from pushrod.sim.scenario import Scenario
from pushrod.sweep.varying import Target

INITIAL = "initial."


@dataclass(frozen=True)
class Case:
    scenario: Scenario
    world: World
    params: Any
    state: Any
    inputs: Mapping[str, NDArray[np.float64]]
    seed: int

    @property
    def name(self) -> str:
        return self.scenario.name


def targets(scenarios: Iterable[Scenario]) -> dict[str, Target]:
    """All that can vary: parameters by their paths, states at the start as initial.PATH."""
    found: dict[str, Target] = {}
    for scenario in scenarios:
        state = scenario.world.State() if scenario.state is None else scenario.state
        for prefix, value in (("", scenario.params), (INITIAL, state)):
            record: Any = type(value)
            for leaf in numbers(record):
                path, nominal = prefix + leaf.path, float(get(value, leaf.path))
                known = found.get(path)
                found[path] = Target(leaf.meta, nominal if known is None or known.nominal == nominal else None)  # type: ignore[arg-type]
    return found


def case_of(machine: Machine, scenario: Scenario, spans: Mapping[str, tuple[float, float]], seed: int, document: Document) -> Case:
    """With room for all that is drawn; what cannot be at the ends of the spans is noted in the study, by the line that draws it."""
    parameters = {path: span for path, span in spans.items() if not path.startswith(INITIAL)}
    world, _ = with_room(scenario.world, _at(scenario.params, parameters, 1), scenario.dt)
    params, state = carry(world.Params, scenario.params), scenario.state
    if state is not None and world is not scenario.world:
        state = record(world.State, scenario.document.data["initial"], world.State(), ("initial",), scenario.document)
    found = Case(scenario, world, params, state, sample(machine, scenario), noise_seed(seed, scenario))
    _check_ends(found, parameters, document)
    return found


def _at(params: Any, spans: Mapping[str, tuple[float, float]], end: int) -> Any:
    for path, span in spans.items():
        params = put(params, path, span[end])
    return params


def _check_ends(case: Case, spans: Mapping[str, tuple[float, float]], document: Document) -> None:
    """Each parameter at either end by itself, then all of them: what ranges cannot say."""
    dt = case.scenario.dt
    before = set(check.problems(case.params, "", dt))
    told: set[str] = set()
    for path, span in spans.items():
        for x in span:
            new = [text for text in check.problems(put(case.params, path, x), "", dt) if text not in before | told]
            if new:
                told |= set(new)
                document.add(("vary", path), f"reaches {x:g}, where in the scenario {case.name} {new[0]}")
    for end in (0, 1):
        new = [text for text in check.problems(_at(case.params, spans, end), "", dt) if text not in before | told]
        if new and not told:
            document.add(("vary",), f"all at their {'upper' if end else 'lower'} ends, in the scenario {case.name}: {new[0]}")


def noise_seed(seed: int, scenario: Scenario) -> int:
    """Return the seed of the noise in one scenario of a study, below 2^31.

    The name of the scenario is part of it: scenarios that share a seed of their own (most have 0) would otherwise give one sample the same noise in
    all of them, and a sample would pass in all scenarios as often as in one.
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {scenario.seed} {scenario.name}".encode()).digest()[:4], "big") >> 1
