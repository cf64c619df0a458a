"""The formats of reference files. A format joins by its module, with `claims(path)` and `replay(path)`, and its row here."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from pushrod.core.errors import VerifyError
from pushrod.sim.verify import actuator_driver, lookup, signals, vehicle
from pushrod.sim.verify.verdict import Verdict

FORMATS: dict[str, ModuleType] = {
    "vehicle": vehicle,
    "lookup": lookup,
    "signals": signals,
    "actuator_driver": actuator_driver,
}


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
                wrong.append(f"{path}: " + ("is in no known format" if path.exists() else "there is no such file or folder"))
        found |= {reference.file.resolve(): reference for reference in inside}
    if wrong:
        raise VerifyError("\n".join(wrong))
    return list(found.values())


def _inside(folder: Path) -> Iterator[Reference]:
    for file in sorted(folder.rglob("*")):
        name = claimed(file) if file.is_file() else None
        if name is not None:
            yield Reference(file, name)


def _named(file: Path) -> Reference | None:
    """A file by its own name, or by that of its data file: run.csv.gz stands for run.json."""
    stem = file.name.removesuffix(".gz").removesuffix(".csv")
    for candidate in (file, file.with_name(f"{stem}.json")):
        name = claimed(candidate) if candidate.is_file() else None
        if name is not None:
            return Reference(candidate, name)
    return None
