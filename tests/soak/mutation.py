"""Small faults put into the pure functions of a file, one at a time.

A mutant swaps + and -, * and /, < and <=, > and >=, minimum and maximum; flips the sign of a constant or halves 0.5; drops an abs; or turns a
condition round. The rest of the file keeps its text and its lines.
"""

import ast
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pushrod"
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
NAMES = {"minimum": "maximum", "maximum": "minimum"}


class Mutant(NamedTuple):
    file: Path
    line: int
    before: str
    after: str
    text: str  # of the whole file
    at_the_edge: bool = False  # < for <=: where two branches meet it is the same

    @property
    def place(self) -> str:
        """The file, below the root of the package."""
        return str(self.file.relative_to(SOURCE))

    @property
    def source(self) -> str:
        """The line as it stands in the sound file."""
        return self.file.read_text().splitlines()[self.line - 1].strip()

    @property
    def changed(self) -> str:
        """That line with the fault in it."""
        return self.text.splitlines()[self.line - 1].strip()

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.before} -> {self.after}"


def mutants(file: Path) -> list[Mutant]:
    """Every mutant of the functions marked @pure in a file."""
    text = file.read_text()
    found = []
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef) and any(isinstance(d, ast.Name) and d.id == "pure" for d in function.decorator_list):
            for statement in function.body:
                for node in ast.walk(statement):
                    found += [_mutant(file, text, node, changed) for changed in _changes(node)]
    return found


def _changes(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield _with(node, op=SWAPS[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            if type(op) in SWAPS:
                yield _with(node, ops=[*node.ops[:i], SWAPS[type(op)](), *node.ops[i + 1 :]])
    elif isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value != 0.0:
        yield ast.UnaryOp(ast.USub(), node)
        if node.value == 0.5:
            yield ast.Constant(0.25)
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "abs":
        yield node.args[0]
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield ast.UnaryOp(ast.Not(), node.test)


def _with(node: ast.expr, **changes: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _mutant(file: Path, text: str, node: ast.AST, changed: ast.expr) -> Mutant:
    spot = node.test if isinstance(node, ast.If | ast.While | ast.IfExp) else node
    assert isinstance(spot, ast.expr)
    assert spot.end_lineno is not None
    assert spot.end_col_offset is not None
    lines = text.encode().splitlines(keepends=True)
    first, last = spot.lineno - 1, spot.end_lineno - 1
    after = ast.unparse(changed)
    new = lines[first][: spot.col_offset] + f"({after})".encode() + b"\\\n" * (last - first) + lines[last][spot.end_col_offset :]
    text = b"".join([*lines[:first], new, *lines[last + 1 :]]).decode()
    return Mutant(file, spot.lineno, ast.unparse(spot), after, text, isinstance(changed, ast.Compare))
