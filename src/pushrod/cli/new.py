"""`pushrod new`: write a commented template of a model, machine, driver or study; all but the study with tests that pass."""

import contextlib
import importlib.util
import keyword
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated as A
from typing import Any

import typer

from pushrod.cli.new_study import study_text
from pushrod.cli.output import answer, say
from pushrod.cli.trust import Trust, trust_words
from pushrod.core import input_file

TEMPLATES = Path(__file__).parent / "template"


class Kind(StrEnum):
    model = "model"
    machine = "machine"
    driver = "driver"
    study = "study"


FILES = {
    Kind.model: {"{}.py": "model.py.txt", "test_{}.py": "test_model.py.txt"},
    Kind.driver: {"{}.py": "driver.py.txt", "{}.yaml": "driver.yaml.txt", "try_{}.py": "try_driver.py.txt", "test_{}.py": "test_driver.py.txt"},
}
TRY = {
    Kind.model: ("pytest {2}.py",),
    Kind.machine: ("pytest {2}.py", "pushrod run {0}.yaml{3}"),
    Kind.driver: ("pytest {2}.py", "python {1}.py", "pushrod check {0}.yaml --trust", "pushrod serve {0}.yaml --trust"),
    Kind.study: ("pushrod sweep {0}.yaml --runs 1000{3}",),
}
FILL_IN = {Kind.driver: "{0}.py: Motor and disarm, which are simulated (see FILL IN there)"}


def new(
    kind: A[Kind, typer.Argument(help="Kind of template.")],
    name: A[str, typer.Argument(help="Name, such as my_valve.")],
    dir_: A[Path, typer.Option("--dir", help="Folder to write to.")] = Path(),
    like: A[str, typer.Option(metavar="MACHINE", help="The machine to start from, for a machine or a study.")] = "car",
    fitted: A[Path | None, typer.Option("--from", metavar="FIT", help="For a study: a fit whose uncertainty varies (`pushrod fit`).")] = None,
    trust: Trust = False,
) -> None:
    """Write a commented template of a model, machine, driver or study; all but the study with tests that pass.

    Exit codes: 0 written; 2 wrong input, nothing was written.
    """
    from pushrod.core.errors import InputError

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"{name!r} cannot name a {kind.value}: use lower case letters, digits and _, with a letter first, such as my_valve")
    if kind in FILES and (why := _not_importable(name, dir_)):
        raise InputError(f"{name!r} cannot name a {kind.value}: {why}. Choose another name, such as my_{name}")
    if fitted is not None and kind is not Kind.study:
        raise InputError(f"--from {fitted}: a {kind.value} has no uncertainty to vary; use it with a study, or start --like {fitted}")
    like = like if fitted is None else str(fitted)
    again = _trust(like, trust) if kind in (Kind.machine, Kind.study) else ""
    written = _write(dir_, _files(kind, name, like, trust, dir_, fitted is not None))
    tries = [text.format(dir_ / name, dir_ / f"try_{name}", dir_ / f"test_{name}", again) for text in TRY[kind]]
    answer(kind=kind.value, name=name, written=written, **{"try": tries})
    for file in written:
        say(f"wrote {file}")
    if kind in FILL_IN:
        say(f"fill in: {FILL_IN[kind].format(dir_ / name)}")
    say("try:")
    for text in tries:
        say(f"  {text}")


def _trust(like: str, trust: bool) -> str:
    """Return the option that the new machine or study needs because the one it starts from refers to code; "" where it does not."""
    from pushrod.sim import machine as machines

    return "".join(f" {word}" for word in trust_words(machines.load(like, trust=trust)))


def _files(kind: Kind, name: str, like: str, trust: bool, folder: Path, fitted: bool) -> dict[str, str]:
    if kind is Kind.machine:
        return _machine(name, like, trust)
    if kind is Kind.study:
        return {f"{name}.yaml": study_text(name, like, _fill("study.yaml.txt", name), trust, folder, fitted)}
    return {file.format(name): _fill(template, name) for file, template in FILES[kind].items()}


def _not_importable(name: str, folder: Path) -> str:
    """Return why `import name` would not import the new file; "" where it would."""
    if keyword.iskeyword(name):
        return "it is a keyword of Python"
    if name in sys.stdlib_module_names:
        return "it is a module of Python's standard library"
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or Path(spec.origin).resolve().parent == folder.resolve():
        return ""  # a folder without __init__.py gives way to a file of its name
    return f"it is an importable module ({spec.origin})"


def _write(folder: Path, files: dict[str, str]) -> list[Path]:
    """Write all of the files or none; a map that is there already, as it would be written, is fine."""
    from pushrod.core.errors import InputError

    made: list[Path] = []
    try:
        there = {name: folder / name for name in files if (folder / name).exists()}
        same = {name for name, file in there.items() if name.endswith(".csv") and input_file.read_text(file) == files[name]}
        taken = [str(file) for name, file in there.items() if name not in same]
        if taken:
            raise InputError(f"{', '.join(taken)}: already exists; nothing was written. Choose another name or another --dir")
        for name in files.keys() - same:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        for name in (name for name in files if name not in same):
            made.append(folder / name)
            made[-1].write_text(files[name], encoding="utf-8")
    except OSError as e:
        for file in made:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)
        raise InputError(f"{e.filename or folder}: cannot be written: {e.strerror or e}; nothing was written. Choose another --dir") from e
    return made


def _fill(template: str, name: str, trust: str = "") -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    words = {
        "NAME": name,
        "CONSTANT": name.upper(),
        "CLASS": "".join(part.capitalize() for part in name.removesuffix("_driver").split("_")) + "Driver",
        "TITLE": name.replace("_", " ").capitalize(),
        "FILE": f"test_{name}.py",
        "TRUST": trust,
    }
    return re.sub(r"@([A-Z]+)@", lambda m: words[m[1]], text)


def _machine(name: str, like: str, trust: bool) -> dict[str, str]:
    """The files of an existing machine and its scenario under a new name, with every other parameter listed, and the maps they use."""
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios

    what = machines.load(like, trust=trust)
    how = scenarios.load(None, what)
    head = _renamed(_without_head(what.document.text), {"machine": name, "scenario": f"{name}_default.yaml"})
    orders = _renamed(_without_head(how.document.text), {"scenario": f"{name}_default", "machine": f"{name}.yaml"})
    files = {
        f"{name}.yaml": f"{_fill('machine.yaml.txt', name)}{head.rstrip()}\n\n{_other_parameters(what)}",
        f"{name}_default.yaml": f"{_fill('scenario.yaml.txt', name)}{orders}",
        f"test_{name}.py": _fill("test_machine.py.txt", name, ", trust=True" if trust_words(what) else ""),
    }
    for document in (what.document, how.document):
        files |= {file: input_file.read_text(document.folder / file) for file in _files_in(document.data)}
    return files


def _renamed(text: str, values: dict[str, str]) -> str:
    """The YAML text with these top-level keys set; a key that is not there is added at the top."""
    for key, value in values.items():
        text, n = re.subn(rf"(?m)^{key}:[^\n#]*?(\s*#.*)?$", rf"{key}: {value}\1", text, count=1)
        text = text if n else f"{key}: {value}\n{text}"
    return text


def _without_head(text: str) -> str:
    """A file without the comment it begins with: that speaks of what it was copied from."""
    return re.sub(r"\A(?:[ \t]*(?:#[^\n]*)?\n)+", "", text)


def _files_in(data: Any) -> list[str]:
    """Every CSV file that is named somewhere in the data."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return [file for part in data for file in _files_in(part)]
    return [data] if isinstance(data, str) and data.endswith(".csv") else []


def _other_parameters(machine: Any) -> str:
    """Every parameter with its value, unit, range and meaning, as comments."""
    from pushrod.config.quantity_schema import span
    from pushrod.core.quantity import Choice
    from pushrod.core.record import get, numbers

    lines = ["# Every parameter of this world with its value, for moving up into `parameters` (a.b: 1 is written as a: {b: 1}):"]
    for leaf in numbers(machine.world.Params):
        value = get(machine.params, leaf.path)
        meta = leaf.meta
        if isinstance(meta, Choice):
            lines.append(f"#   {leaf.path}: {meta.names[int(value)]}  # {' | '.join(meta.names)} {meta.about}".rstrip())
        else:
            lines.append(f"#   {leaf.path}: {value:g}  # [{meta.unit}{span(meta)}] {meta.about}".rstrip())  # type: ignore[union-attr]
    return "\n".join(lines) + "\n"
