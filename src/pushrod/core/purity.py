"""`@pure` marks a function whose numbers are the same in plain Python, compiled and on a GPU; `offences` says why one is not.

Pure code uses + - * /, comparisons, sqrt, sin, cos, tan, exp, log, atan2, floor. It never uses `**`, `hypot`, the built-in min and max,
float `%`, `_replace`, a clock or a generator, and it never reads a delay line after `put` gave a new one, nor gives back a line it made itself.
"""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

FORBIDDEN_CALLS = {
    "min": "use core.scalar.minimum",
    "max": "use core.scalar.maximum",
    "hypot": "use math.sqrt(x * x + y * y)",
    "pow": "multiply instead",
    "sum": "write the terms out",
    "round": "use float(math.floor(x + 0.5))",
    "_replace": "build the record again",
    "print": "a step says nothing",
}
FORBIDDEN_NODES: dict[type[ast.AST], str] = {
    ast.Raise: "a step never raises",
    ast.Try: "a step never catches",
    ast.Global: "a step has no globals",
    ast.Nonlocal: "a step has no outer variables to change",
    ast.Assert: "a step never raises",
    ast.Yield: "a step is not a generator",
    ast.Await: "a step is not a coroutine",
    ast.With: "a step has no context",
    ast.ListComp: "a step never allocates",
    ast.List: "a step never allocates",
    ast.Dict: "a step never allocates",
    ast.Lambda: "name the function and mark it @pure",
}


def pure(function: F) -> F:
    """Mark a function as pure. Nothing else happens here."""
    function.pure = True  # type: ignore[attr-defined]
    return function


def is_pure(function: object) -> bool:
    return getattr(function, "pure", False) is True


@functools.cache
def parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    """The syntax tree of a function, line numbers as in its file."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    assert isinstance(tree, ast.FunctionDef)
    return tree


def offences(function: Callable[..., Any]) -> list[str]:
    """What makes the source of a function impure, one `file:line: why` each."""
    tree = parsed(function)
    file = function.__code__.co_filename
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        why = _why(node)
        if why:
            found.append((getattr(node, "lineno", tree.lineno), why))
    found += _stale_lines(tree) + _escaping_lines(tree)
    return [f"{file}:{line}: {why}" for line, why in sorted(found)]


def _why(node: ast.AST) -> str:
    for kind, why in FORBIDDEN_NODES.items():
        if isinstance(node, kind):
            return why
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Pow):
        return "** differs between plain and compiled code: multiply instead"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for a, b in ((node.left, node.right), (node.right, node.left)):
            if isinstance(a, ast.Attribute) and a.attr == "k" and isinstance(b, ast.Attribute) and b.attr == "dt":
                return "an integer times a float32 is a float64: write float(at.k) * at.dt"
    if isinstance(node, ast.Call):
        name = _last_name(node.func)
        if name in FORBIDDEN_CALLS:
            return f"{name}() is not pure here: {FORBIDDEN_CALLS[name]}"
    return ""


def _stale_lines(tree: ast.FunctionDef) -> list[tuple[int, str]]:
    """Reads of a line after `put` took it: compiled code has already overwritten it."""
    taken: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "put" and node.args:
            taken.setdefault(ast.unparse(node.args[0]), node.end_lineno or node.lineno)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            text = ast.unparse(node)
            if node.lineno > taken.get(text, node.lineno) and not _assigned_between(tree, text, taken[text], node.lineno):
                found.append((node.lineno, f"{text} is read after put() replaced it: use the line that put() gave"))
    return found


def _escaping_lines(tree: ast.FunctionDef) -> list[tuple[int, str]]:
    """Lines made here by `empty()` that are given back: compiled, they lie in the frame of this function."""

    def makes(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        name = _last_name(node.func)
        return name == "empty" or (name == "put" and bool(node.args) and makes(node.args[0]))

    made = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and makes(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def given(node: ast.AST) -> set[str]:
        """Names whose value is in the value of an expression; a call of a function reads them, a record keeps them."""
        if isinstance(node, ast.Name):
            return {node.id}
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            return set().union(*map(given, node.args)) if name == "put" or name[:1].isupper() else set()
        return set().union(*map(given, ast.iter_child_nodes(node)))

    return [
        (node.lineno, f"{name} was made here by empty() and ends with this function: do not give it back")
        for node in ast.walk(tree)
        if isinstance(node, ast.Return) and node.value is not None
        for name in sorted(given(node.value) & made)
    ]


def _last_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _assigned_between(tree: ast.FunctionDef, text: str, first: int, last: int) -> bool:
    return any(
        isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store) and first <= node.lineno <= last and ast.unparse(node) == text
        for node in ast.walk(tree)
    )
