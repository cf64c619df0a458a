"""One run of a study again, alone: its row, or the whole of it as a machine and a scenario of their own, for a log, a report or a replay."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.config import yaml_file
from pushrod.config.yaml_file import Document
from pushrod.core.errors import InputError
from pushrod.sim import machine as machines
from pushrod.sim import scenario as scenarios
from pushrod.sim.machine import Machine
from pushrod.sim.run import Result, simulate
from pushrod.sim.scenario import Scenario
from pushrod.sweep import parts
from pushrod.sweep.case import INITIAL
from pushrod.sweep.chunk import run_samples
from pushrod.sweep.draw import draw
from pushrod.sweep.files import text_of
from pushrod.sweep.saltelli import instance
from pushrod.sweep.study import Study

FAULTS = "faults."


@dataclass(frozen=True)
class One:
    """A run of a study: what was drawn for it, and the machine and scenario that make it."""

    index: int
    sample: int
    values: dict[str, float]
    machine: Machine
    scenario: Scenario

    def simulate(self) -> Result:
        return simulate(self.machine, self.scenario)


def place(study: Study, index: int) -> tuple[int, int]:
    """Sample and scenario of a run."""
    if isinstance(index, bool) or not 0 <= index < study.n:
        raise InputError(f"run {index}; the study {study.name} has the runs 0 to {study.n - 1}")
    return divmod(index, len(study.cases))


def row(study: Study, index: int, device: str = "cpu") -> dict[str, Any]:
    """The row of a run, computed alone: the same bits as among all others on the same kind of device."""
    sample, scenario = place(study, index)
    chunk = run_samples(study, sample, sample + 1, device=device, threads=1)
    found = {name: column[scenario].item() for name, column in chunk.columns.items()}
    return found | {"scenario": study.cases[scenario].name}


class Kept(NamedTuple):
    """A run as it is in the results: which device computed it, and by how much its metrics differ from those of now, by name."""

    device: str
    differs: dict[str, float]


def kept(folder: Path, study: Study, index: int, now: Mapping[str, Any]) -> Kept | None:
    """The same run in the results; None where it is not there yet, StudyError where its part is spoilt."""
    sample, _ = place(study, index)
    k = sample // study.chunk
    file = parts.part_file(folder, k)
    if not file.exists():
        return None
    frame, about = parts.read_part(file, study, k)
    was = frame.row(index - study.span(k)[0] * len(study.cases), named=True)
    differs = {name: abs(was[name] - now[name]) for name in study.metrics if was[name] != now[name] and not (isnan(was[name]) and isnan(now[name]))}
    return Kept(str(about["device"]), differs)


def one(study: Study, index: int) -> One:
    """The run as a machine and a scenario whose files say all of it: what was drawn, and which noise."""
    sample, number = place(study, index)
    case = study.cases[number]
    values = {path: float(column[0]) for path, column in draw(study, sample, sample + 1).items()}
    machine = machines.build(_machine(study, values, case.scenario), trust=True)  # the study has loaded this code already
    scenario = scenarios.build(_scenario(values, case.scenario, case.seed, instance(study, sample)), machine, study.document.data.get("duration"))
    return One(index, sample, values, machine, scenario)


def _machine(study: Study, values: Mapping[str, float], scenario: Scenario) -> Document:
    document = _copy(study.machine.document)
    for path, value in values.items():
        if not path.startswith(INITIAL) and _fault(path, scenario) is None:
            document.override(("parameters", *path.split(".")), value, "")
    return _copy(document)


def _scenario(values: Mapping[str, float], scenario: Scenario, seed: int, number: int) -> Document:
    document = _copy(scenario.document)
    document.data |= {"seed": seed, "instance": number}
    for path, value in values.items():
        if path.startswith(INITIAL):
            document.override(tuple(path.split(".")), value, "")
        elif (at := _fault(path, scenario)) is not None:
            document.data["faults"][at[0]][at[1]] = value
    return _copy(document)


def _fault(path: str, scenario: Scenario) -> tuple[int, str] | None:
    """The entry of the scenario that sets this parameter, and by which key: it goes over what the machine says."""
    if not path.startswith(FAULTS):
        return None
    _, channel, key = path.split(".", 2)
    entries = scenario.document.data.get("faults") or []
    return next(((i, key) for i, entry in enumerate(entries) if entry.get("channel") == channel), None)


def _copy(document: Document) -> Document:
    """What a document says now, as a file of its own at the same place."""
    return yaml_file.parse(text_of(document.data), document.file)
