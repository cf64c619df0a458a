"""A ladder of models, simplest first: each rung adds an effect to what stands below it, or is of another kind. Rungs are data.

A recording is told once, by the names a ladder knows (`Log`); each rung says where in its own world these go. So one recording serves worlds of
different kinds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushrod.core.errors import InputError
from pushrod.core.model import World
from pushrod.core.names import find
from pushrod.core.record import numbers
from pushrod.identify.column import Recorded
from pushrod.identify.experiment import Trial, trial

Range = tuple[float, float] | None


@dataclass(frozen=True)
class Kind:
    """A world that rungs share, and where in it the names of a ladder go: known facts to parameters, the start to states."""

    world: World
    facts: Mapping[str, str] = field(default_factory=dict)
    start: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rung:
    """`free` parameters with their ranges; `fixed` ones, over the defaults of the world, that leave out what a rung does not have."""

    name: str
    about: str
    kind: Kind
    free: Mapping[str, Range]
    fixed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Ladder:
    """`inputs` and `outputs` are the names by which a recording is told; an input that a world does not have is left out there."""

    name: str
    about: str
    inputs: Mapping[str, str]
    outputs: tuple[str, ...]
    rungs: tuple[Rung, ...]

    def rung(self, name: str) -> Rung:
        return find({one.name: one for one in self.rungs}, name, f"rung of the ladder {self.name}")


@dataclass(frozen=True)
class Log:
    """A recording: its columns by the names of the ladder ("goal": "goal_position [deg]"), and what is known of it alone.

    `start` are values at its begin; an output of the same name gives its first measured value where nothing is said. `conditions` is what else is
    known of it, such as the kind of its trajectory: recordings that have one in common, or a fact, are left out together when models are compared.
    """

    recorded: Recorded
    columns: Mapping[str, str]
    facts: Mapping[str, float] = field(default_factory=dict)
    start: Mapping[str, float] = field(default_factory=dict)
    name: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, str]:
        """Facts and conditions, as words."""
        return {**self.conditions, **{name: f"{value:.6g}" for name, value in self.facts.items()}}


def prepared(ladder: Ladder, kind: Kind, log: Log, **how: Any) -> Trial:
    """The recording for one world of the ladder. `how` goes to `trial`: dt, hold, begin, end, missing."""
    known = {**dict.fromkeys(ladder.inputs), **dict.fromkeys(ladder.outputs)}
    for name in log.columns:
        find(known, name, f"column of the ladder {ladder.name}")
    every = {fact: path for rung in ladder.rungs for fact, path in rung.kind.facts.items()}
    for name in log.facts:
        find(every, name, f"fact that the ladder {ladder.name} knows")
    missing = [name for name in ladder.outputs if name not in log.columns]
    if missing:
        raise InputError(f"{log.name or 'the log'}: the ladder {ladder.name} compares {', '.join(missing)}: say which column that is")
    channels = {leaf.path for leaf in numbers(kind.world.In)}
    told = {name: log.start.get(name, name) for name in kind.start if name in log.start or name in ladder.outputs}
    start: dict[str, Any] = {path: value for name, value in told.items() for path in kind.start[name]}
    return trial(
        kind.world,
        log.recorded,
        inputs={name: log.columns[name] for name in ladder.inputs if name in channels and name in log.columns},
        outputs={name: log.columns[name] for name in ladder.outputs},
        constants={kind.facts[fact]: value for fact, value in log.facts.items() if fact in kind.facts},
        start=start,
        name=log.name,
        **how,
    )
