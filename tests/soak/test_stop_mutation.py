"""Every fault that can be put into the stop path is noticed by tests/stop: all mutants of all its files, not a sample.

The mutants are those of the rules of safety (test_safety_mutation.py), and each statement left out, but for a `return` that changes nothing.
Of the gate, the parts that a stop depends on count: permits, opening, closing, the lock, and the checks of the arming before the driver is called.
"""

import ast
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from explained import reason, stale
from mutation import SOURCE, Mutant
from test_mutation import ROOT, noticed
from test_safety_mutation import mutants_of

pytestmark = pytest.mark.soak

TESTS = [
    str(ROOT / "tests" / "stop" / f"test_stop_{name}.py")
    for name in (
        "reasons",
        "doors",
        "worker",
        "functions",
        "gates",
        "answers",
        "arming",
        "decisions",
        "threads",
    )  # what others rest upon first: it is quick
]
FILES = ("door", "arming", "deciding", "making_safe", "stop", "worker", "gate")
SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Return, ast.Raise, ast.Continue, ast.Break)
GATE_FUNCTIONS = (
    "Permit.__init__",
    "Gate.epoch",
    "Gate.close",
    "Gate.open",
    "Gate.__call__",
    "Gate.deliver",
    "Gate._crashed",
    "close_all",
)
GATE_LINES = {  # in other functions of the gate, how their lines begin
    "Gate.__init__": ("self.lock =", "self.holder =", "self.permit =", "self.offered =", "self.closed_by:", "self.out =", "self.fuse:"),
    "Gate.admit": (
        "if self.stopped:",
        'return "stopped"',
        "if not self.permit.epoch:",
        'return "not_armed"',
        "if permit is not self.permit",
        'return "epoch"',
    ),
    "Gate.act": (
        "if not permit.epoch or self.fuse[0]:",
        "self.motions.decline(command)",
        'return "not_armed"',
        "info = self.handle(",
        "if self.fuse[0]:",
        "self.close(self.fuse)",
        'self.out = "the guard',
    ),
}
PATIENCE = 10.0  # times as long as the tests take by themselves: a mutant that needs more hangs, and that is noticed


def functions(file: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a file with their qualified names."""
    for node in ast.parse(file.read_text()).body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef):
                yield f"{node.name}.{inner.name}" if isinstance(node, ast.ClassDef) else inner.name, inner


def endings(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements after which a function ends."""
    last = body[-1]
    yield last
    for name in ("body", "orelse", "handlers"):
        if not isinstance(last, (ast.For, ast.While)) and (inner := getattr(last, name, None)):
            yield from endings(inner)


def omissions(file: Path) -> list[Mutant]:
    """Return the file without one of its statements, for each that stands on one line."""
    text = file.read_text()
    lines = text.splitlines(keepends=True)
    mutants = []
    for _, function in functions(file):
        same = [node for node in endings(function.body) if isinstance(node, ast.Return) and ast.unparse(node) in ("return", "return None")]
        for node in ast.walk(function):
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not isinstance(node, SIMPLE) or node.end_lineno != node.lineno or is_text or node in same:
                continue
            line = lines[node.lineno - 1]
            new = line[: node.col_offset] + "pass" + line[node.end_col_offset :]
            mutants.append(Mutant(file, node.lineno, ast.unparse(node), "pass", "".join([*lines[: node.lineno - 1], new, *lines[node.lineno :]])))
    return mutants


def lines_of_the_stop_path(file: Path) -> set[int]:
    """The lines of a file that belong to the stop path."""
    lines = file.read_text().splitlines()
    if file.stem != "gate":
        return set(range(1, len(lines) + 1))
    chosen = set()
    for name, function in functions(file):
        inside = range(function.lineno, (function.end_lineno or 0) + 1)
        if name in GATE_FUNCTIONS:
            chosen |= set(inside)
        for beginning in GATE_LINES.get(name, ()):
            found = [i for i in inside if lines[i - 1].strip().startswith(beginning)]
            assert found, f"{name}: no line begins with {beginning}"
            chosen |= set(found)
    return chosen


def stop_mutants(file: Path) -> list[Mutant]:
    chosen = lines_of_the_stop_path(file)
    return [mutant for mutant in (*mutants_of(file), *omissions(file)) if mutant.line in chosen]


@pytest.mark.parametrize("name", FILES)
def test_every_fault_in_the_stop_path_is_noticed(name: str, tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "pushrod", ignore=shutil.ignore_patterns("__pycache__"))
    assert sorted(TESTS) == sorted(map(str, (ROOT / "tests" / "stop").glob("test_*.py")))
    started = time.monotonic()
    assert not noticed(tmp_path, TESTS), "the tests fail without any mutant"
    seconds = PATIENCE * (time.monotonic() - started)
    file = SOURCE / "runtime" / f"{name}.py"
    every, left = stop_mutants(file), []
    place = tmp_path / "pushrod" / "runtime" / file.name
    for mutant in every:
        place.write_text(mutant.text)
        if not noticed(tmp_path, TESTS, seconds):
            left.append(mutant)
    known = [mutant for mutant in every if reason(mutant)]
    print(f"{name}: {len(every)} mutants, {len(left)} not noticed, {len(known)} explained, {time.monotonic() - started:.0f} s")
    assert stale(every, {mutant.place for mutant in every}) == [], "explained, but no mutant"
    assert left == known, "\n".join(map(str, [mutant for mutant in left + known if not (mutant in left and mutant in known)]))
