"""A study: one machine many times, its parameters drawn from distributions, a few numbers kept of every run, and what counts as passed.

Sample i is a set of parameters; it runs in every scenario, as run i * scenarios + scenario. Seed, scenario and i alone determine the noise of a run:
it is independent between the scenarios of a sample, and does not depend on which process computes the run.
"""

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pushrod.config import yaml_file
from pushrod.config.yaml_file import Document
from pushrod.metrics import Measure
from pushrod.sim.expectation import Expectation, folded
from pushrod.sim.machine import Machine, locate
from pushrod.sweep.case import Case
from pushrod.sweep.correlated import Correlated
from pushrod.sweep.files import Packed, digest_of, files_of, from_files
from pushrod.sweep.study_attained import Attained
from pushrod.sweep.varied import Varied, names_of

FOLDER = Path(__file__).parent / "studies"


@dataclass(frozen=True)
class Criterion:
    """A metric within bounds, in one scenario (by its number) or in all."""

    metric: str
    low: float
    high: float
    unit: str
    scenario: int | None = None


@dataclass(frozen=True)
class Study:
    name: str
    about: str
    machine: Machine
    cases: tuple[Case, ...]
    vary: tuple[Varied | Correlated, ...]
    design: str
    runs: int  # samples
    seed: int
    chunk: int  # samples
    metrics: dict[str, Expectation]
    criteria: tuple[Criterion, ...]
    dtype: str
    document: Document
    packed: Mapping[str, Packed] = field(repr=False)  # all that it is made of, as it was when it was read
    notes: tuple[str, ...] = ()
    attained: Attained | None = None

    @property
    def names(self) -> list[str]:
        """The paths of all that varies."""
        return names_of(self.vary)

    @property
    def n(self) -> int:
        """Runs in all."""
        return self.runs * len(self.cases)

    @property
    def rows(self) -> int:
        """Samples of a base point of a Saltelli design; 1 in all other designs."""
        return len(self.vary) + 2 if self.design == "saltelli" else 1

    @property
    def chunks(self) -> int:
        return math.ceil(self.runs / self.chunk)

    def span(self, k: int) -> tuple[int, int]:
        """The samples of chunk k: first, and one beyond the last."""
        return k * self.chunk, min((k + 1) * self.chunk, self.runs)

    @functools.cached_property
    def measures(self) -> dict[str, Measure]:
        found = {name: folded(e) for name, e in self.metrics.items()}
        return {name: measure for name, measure in found.items() if measure is not None}

    @property
    def units(self) -> dict[str, str]:
        """Of every varied parameter and every metric."""
        found = {path: unit for item in self.vary for path, unit in zip(item.paths, item.units, strict=True)}
        return found | {name: e.unit for name, e in self.metrics.items()}

    @functools.cached_property
    def files(self) -> dict[str, str]:
        """All that the study is made of, by name, in a form that can be loaded elsewhere."""
        return files_of(self.packed)

    @functools.cached_property
    def digest(self) -> str:
        """Of everything that decides a number: equal digests, equal results."""
        return digest_of(self.packed)

    def __reduce__(self) -> tuple[object, ...]:
        return from_files, (self.files, self.chunk)

    def cut(self, chunk: int) -> "Study":
        """The same study in chunks of so many samples: its numbers are the same."""
        return replace(self, chunk=max(1, min(chunk, self.runs)))


def shipped() -> dict[str, Path]:
    """The studies that come with the package, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.yaml"))}


def load(
    name: str | Path,
    overrides: Iterable[str] = (),
    runs: int | None = None,
    seed: int | None = None,
    dtype: str | None = None,
    *,
    trust: bool = False,
) -> Study:
    """A study by shipped name or file. `overrides` are texts "path=value" put over parameters of its machine; the others go over its own keys.

    `trust`: import the Python file of a world that its machine file names.
    """
    from pushrod.sweep.building import build

    return build(yaml_file.load(locate(str(name), shipped(), "study")), overrides, runs, seed, dtype, trust=trust)
