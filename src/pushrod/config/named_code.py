"""Code that a file refers to.

Reading a file never loads code. A file may name a world in a Python file or a driver by its import path; either is loaded only where it is part of
Pushrod, or where the caller passes `trust=True` (on the command line `--trust`), because importing a module executes it.
"""

from collections.abc import Iterable
from keyword import iskeyword
from pathlib import Path
from typing import NamedTuple

PACKAGE = "pushrod"
NOT_IMPORTED = "cannot be imported"  # in the problem of code that was found and could not be loaded


class NamedCode(NamedTuple):
    """A reference to code outside Pushrod: `where` is file, line and path of the reference, `file` the Python file, None where it is unknown."""

    what: str  # world or driver
    code: str
    where: str
    file: Path | None

    def __str__(self) -> str:
        return f"{self.where}: {self.code}" + (f" ({self.file})" if self.file is not None else "")


def is_own(module: str) -> bool:
    """Return whether a module is part of Pushrod. `__main__` modules are programs: importing one is not free of effects."""
    parts = module.split(".")
    return parts[0] == PACKAGE and "__main__" not in parts


def path_problem(path: str) -> str:
    """Return what keeps a text from being an import path, without importing anything; "" where it is one."""
    module, colon, name = path.partition(":")
    words = [*module.split("."), name]
    if colon and all(word.isidentifier() and not iskeyword(word) for word in words):
        return ""
    return f"{path!r} is no import path: write 'package.module:Class'"


def file_of(module: str, folders: Iterable[Path]) -> Path | None:
    """Return the file of a module beside other files, without importing anything; None where there is none, as of an installed package."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for folder in folders:
        for file in (folder.joinpath(*parts).with_suffix(".py"), folder.joinpath(*parts) / "__init__.py"):
            if file.is_file():
                return file
    return None


def refusal(what: str, code: str, file: Path | None) -> str:
    """Return the problem with code that was not loaded."""
    place = "" if file is None else f" ({file})"
    return f"the {what} {code!r} is code outside Pushrod{place} and was not loaded. Read that code, then re-run with --trust (in Python: trust=True)"
