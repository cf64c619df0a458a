"""The formats of reference files. A format joins by its module, with `claims(path)` and `replay(path)`, and its row here."""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from pushrod.core import input_file
from pushrod.core.errors import VerifyError
from pushrod.sim.verify import actuator_driver, allocation, lookup, pipeline, signals, vehicle
from pushrod.sim.verify.verdict import Verdict

FORMATS: dict[str, ModuleType] = {
    "vehicle": vehicle,
    "lookup": lookup,
    "signals": signals,
    "actuator_driver": actuator_driver,
    "allocation": allocation,
    "pipeline": pipeline,
}

UNREADABLE = "unreadable"


class Reference(NamedTuple):
    """A file and the format that claims it."""

    file: Path
    format: str


def claimed(file: Path) -> str | None:
    """The name of the format that claims a file."""
    try:
        return next((name for name, module in FORMATS.items() if module.claims(file)), None)
    except RecursionError:  # JSON nested beyond all measure
        return None


def replay(reference: Reference) -> Verdict:
    """What came of one reference; VerifyError where it does not hold what its format says, whatever it holds instead."""
    if reference.format == UNREADABLE:
        raise VerifyError(f"{reference.file}: {_flaw(reference.file)}")
    try:
        verdict: Verdict = FORMATS[reference.format].replay(reference.file)
    except VerifyError as error:
        text = str(error)
        raise VerifyError(text if str(reference.file.parent) in text else f"{reference.file}: {text}") from error
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError, csv.Error) as error:
        raise VerifyError(f"{reference.file}: is not what a {reference.format} reference looks like: {type(error).__name__}: {error}") from error
    return verdict


def find(paths: Iterable[Path]) -> list[Reference]:
    """Every reference file that is named or lies in a named folder, each once. VerifyError says which names lead to nothing."""
    found: dict[Path, Reference] = {}
    wrong: list[str] = []
    for path in paths:
        if path.is_dir():
            inside = list(_inside(path))
            if not inside:
                wrong.append(f"{path}: no file in this folder is in a known format ({', '.join(FORMATS)})")
        else:
            named = _named(path)
            inside = [] if named is None else [named]
            if named is None:
                wrong.append(f"{path}: {_why_not(path)}")
        found |= {reference.file.resolve(): reference for reference in inside}
    if wrong:
        raise VerifyError("\n".join(wrong))
    return list(found.values())


def _inside(folder: Path) -> Iterator[Reference]:
    for file in sorted(folder.rglob("*")):
        name = _format(file) if file.is_file() else None
        if name is not None:
            yield Reference(file, name)


def _format(file: Path) -> str | None:
    """As `claimed`, but a JSON file that cannot be read is not passed over: nobody can say that it is no reference."""
    name = claimed(file)
    return UNREADABLE if name is None and file.suffix == ".json" and _flaw(file) else name


def _flaw(file: Path) -> str:
    """Why a file is no JSON; "" if it is."""
    try:
        json.loads(input_file.read_bytes(file))
    except (OSError, ValueError, RecursionError) as error:
        return f"cannot be read as JSON: {error}"
    return ""


def _named(file: Path) -> Reference | None:
    """A file by its own name, or by that of its data: run.csv.gz stands for run.json, expected.csv for the signal cases beside it,
    cases.csv for params.json."""
    stem = file.name.removesuffix(".gz").removesuffix(".csv")
    beside = sorted(file.parent.glob("*.json")) if file.name == signals.EXPECTED else []
    for candidate in (file, file.with_name(f"{stem}.json"), pipeline.params_of(file), *(cases for cases in beside if claimed(cases) == "signals")):
        name = _format(candidate) if candidate.is_file() else None
        if name is not None:
            return Reference(candidate, name)
    return None


def _why_not(file: Path) -> str:
    if not file.exists():
        return "there is no such file or folder"
    if file.name.endswith((".csv", ".csv.gz")):
        stem = file.name.removesuffix(".gz").removesuffix(".csv")
        wanted = "the list of signal cases, cases.json," if file.name == signals.EXPECTED else f"{stem}.json"
        return f"is in no known format by itself; it is read with {wanted} beside it, which is not there or describes no reference"
    return f"is in no known format ({', '.join(FORMATS)})"
