"""`pushrod new`: a commented starting point for a model or a machine, with a test that it passes."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated as A
from typing import Any

import typer

TEMPLATES = Path(__file__).parent / "template"


class Kind(StrEnum):
    model = "model"
    machine = "machine"


def new(
    kind: A[Kind, typer.Argument(help="What to start.")],
    name: A[str, typer.Argument(help="Its name, such as my_valve.")],
    dir_: A[Path, typer.Option("--dir", help="Folder to write to.")] = Path(),
    like: A[str, typer.Option(help="For a machine: the machine to start from.")] = "car",
) -> None:
    """Write a commented starting point, and a test that it passes."""
    from pushrod.core.errors import InputError

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"{name!r} cannot name a file that Python imports; use lower case letters, digits and _, such as my_valve")
    files = _model(name) if kind is Kind.model else _machine(name, like)
    taken = [str(dir_ / file) for file in files if (dir_ / file).exists()]
    if taken:
        raise InputError(f"{', '.join(taken)}: there already; nothing was written. Choose another name or another --dir")
    for file, text in files.items():
        (dir_ / file).parent.mkdir(parents=True, exist_ok=True)
        (dir_ / file).write_text(text, encoding="utf-8")
        typer.echo(f"wrote {dir_ / file}")
    typer.echo(f"try: pytest {dir_ / f'test_{name}.py'}" + (f"; pushrod run {dir_ / f'{name}.yaml'}" if kind is Kind.machine else ""))


def _fill(template: str, name: str) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    words = {"NAME": name, "CONSTANT": name.upper(), "TITLE": name.replace("_", " ").capitalize(), "FILE": f"test_{name}.py"}
    return re.sub(r"@([A-Z]+)@", lambda m: words[m[1]], text)


def _model(name: str) -> dict[str, str]:
    return {f"{name}.py": _fill("model.py.txt", name), f"test_{name}.py": _fill("test_model.py.txt", name)}


def _machine(name: str, like: str) -> dict[str, str]:
    """The files of an existing machine and its scenario under a new name, with every other parameter listed, and the maps they use."""
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios

    what = machines.load(like)
    how = scenarios.load(None, what)
    head = _renamed(what.document.text, {"machine": name, "scenario": f"{name}_default.yaml"})
    files = {
        f"{name}.yaml": f"{head.rstrip()}\n\n{_other_parameters(what)}",
        f"{name}_default.yaml": _renamed(how.document.text, {"scenario": f"{name}_default", "machine": f"{name}.yaml"}),
        f"test_{name}.py": _fill("test_machine.py.txt", name),
    }
    for document in (what.document, how.document):
        files |= {file: (document.folder / file).read_text(encoding="utf-8") for file in _files_in(document.data)}
    return files


def _renamed(text: str, values: dict[str, str]) -> str:
    """The YAML text with these top-level keys set; a key that is not there is added at the top."""
    for key, value in values.items():
        text, n = re.subn(rf"(?m)^{key}:[^\n#]*?(\s*#.*)?$", rf"{key}: {value}\1", text, count=1)
        text = text if n else f"{key}: {value}\n{text}"
    return text


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
