"""Where another process finds a disarm function: by the name of its module, with the file beside it where the name alone might not do.

A function in the script that was started (`__main__`) has no module name elsewhere. It can be found all the same where the script may be
imported: where it starts its work under `if __name__ == "__main__":`, as multiprocessing asks for too.
"""

import ast
import functools
import os
import sys
from typing import Any, NamedTuple

from pushrod.core.errors import InputError
from pushrod.guard.holding import MAIN
from pushrod.guard.wire import pack

ELSEWHERE = "put it into a module of its own"


class Place(NamedTuple):
    module: str
    function: str
    file: str = ""


def place(path: str) -> Place:
    """Of "module:function", as the guard is told it. InputError says why another process could not find it."""
    module, _, function = path.partition(":")
    if module != "__main__":
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        return Place(module, function, os.path.abspath(file) if file.endswith(".py") else "")
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return Place(spec.name, function)
    file = getattr(main, "__file__", None)
    if not file or not os.path.exists(file):
        raise InputError(f"its disarm function {path!r} was typed in and is in no file, so that the guard process cannot import it: {ELSEWHERE}")
    if not _may_be_imported(file):
        what = f"its disarm function {path!r} is in {os.path.basename(file)}, which the guard process cannot import without running the program again"
        raise InputError(f'{what}: start the program under `if __name__ == "__main__":`, or {ELSEWHERE}')
    return Place(MAIN, function, os.path.abspath(file))


def plain_flaw(options: dict[str, Any]) -> str:
    """Which option cannot go to another process; "" where all can."""
    for name, value in options.items():
        try:
            pack((value,))
        except ValueError:
            return (
                f"its option {name} = {value!r:.60} is no plain data, so that the guard process cannot be told it: use numbers, texts, lists, dicts"
            )
    return ""


@functools.cache
def _may_be_imported(file: str) -> bool:
    """It asks whether it is the main program, so it knows that it might not be."""
    with open(file, "rb") as source:
        tree = ast.parse(source.read())
    return any(isinstance(node, ast.If) and any(isinstance(x, ast.Name) and x.id == "__name__" for x in ast.walk(node.test)) for node in tree.body)
