"""Every fault that can be put into the rules of safety is noticed by their tests: all mutants of all files, not a sample.

A mutant turns a comparison, an `and`, an `or`, a `not`, + or -, a truth value, a number, a text or the name of a state into another.
"""

import ast
import copy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from explained import reason, stale
from mutation import SOURCE, Mutant
from test_mutation import ROOT, noticed

from pushrod.safety.state import State

pytestmark = pytest.mark.soak

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
STATES = [state.name for state in State]


def changes(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            changed = copy.deepcopy(node)
            changed.ops = [other()]
            yield changed
    elif isinstance(node, ast.BoolOp):
        changed_bool = copy.deepcopy(node)
        changed_bool.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield changed_bool
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        changed_sum = copy.deepcopy(node)
        changed_sum.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield changed_sum
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield ast.Constant(node.value + "x")
    elif isinstance(node, ast.Attribute) and node.attr in STATES:
        changed_state = copy.deepcopy(node)
        changed_state.attr = STATES[(STATES.index(node.attr) + 1) % len(STATES)]
        yield changed_state


def mutants_of(file: Path) -> list[Mutant]:
    text = file.read_text()
    tree = ast.parse(text)
    spoken = {id(n) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # texts that stand alone are comments
    words = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)} | spoken
    lines = text.encode().splitlines(keepends=True)
    found = []
    for node in ast.walk(tree):
        if id(node) in words or not isinstance(node, ast.expr) or node.end_lineno != node.lineno:
            continue
        for changed in changes(node):
            i, line = node.lineno - 1, lines[node.lineno - 1]
            after = ast.unparse(changed)
            new = line[: node.col_offset] + f"({after})".encode() + line[node.end_col_offset :]
            found.append(Mutant(file, node.lineno, ast.unparse(node), after, b"".join([*lines[:i], new, *lines[i + 1 :]]).decode()))
    return found


def test_every_fault_in_the_rules_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "pushrod", ignore=shutil.ignore_patterns("__pycache__"))
    tests = [str(ROOT / "tests" / "safety")]
    assert not noticed(tmp_path, tests), "the tests fail without any mutant"
    every = [mutant for file in sorted((SOURCE / "safety").glob("*.py")) for mutant in mutants_of(file)]
    left = []
    for mutant in every:
        place = tmp_path / "pushrod" / mutant.file.relative_to(SOURCE)
        sound = place.read_text()
        place.write_text(mutant.text)
        if not noticed(tmp_path, tests, 60.0):
            left.append(mutant)
        place.write_text(sound)
    print(f"safety: {len(every)} mutants, {len(left)} not noticed")
    assert len(every) > 100
    assert stale(every, {mutant.place for mutant in every}) == [], "explained, but no mutant"
    assert left == [mutant for mutant in every if reason(mutant)], "\n".join(map(str, left))
