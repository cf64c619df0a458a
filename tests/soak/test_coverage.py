"""The tests of the equations run every line of them, and nearly every branch, in plain Python; tests/stop runs all of the stop path."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bare import environment
from mutation import SOURCE
from test_stop_mutation import FILES, lines_of_the_stop_path

pytestmark = pytest.mark.soak

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "signals", "models", "plants", "metrics", "motion", "safety", "vehicles", "pipeline")
TESTS = [f"tests/{package}" for package in PACKAGES] + ["tests/contract/test_models.py", "--ignore-glob=*compiled*"]
# what is left are guards that only float32 can reach: PRBS, for one
LINES = {"safety": 100.0}  # [%], of each package; 99 % of the others
BRANCHES = {"safety": 100.0}  # 98 % of the others


def counted(folder: Path, packages: tuple[str, ...] = PACKAGES, tests: list[str] = TESTS) -> dict[str, dict[str, Any]]:
    """What coverage.py counts in a run of the tests, by file of the package."""
    coverage = [sys.executable, "-m", "coverage"]
    source = ",".join(f"pushrod.{package}" for package in packages)
    env = environment() | {"COVERAGE_FILE": str(folder / "data")}
    run = subprocess.run(
        [*coverage, "run", "--branch", f"--source={source}", "-m", "pytest", "-p", "no:cacheprovider", "-x", "-m", "not soak", *tests],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    subprocess.run([*coverage, "json", "-q", "-o", str(folder / "report.json")], cwd=ROOT, env=env, check=True)
    report = json.loads((folder / "report.json").read_text())["files"]
    return {name.partition("pushrod/")[2]: file for name, file in report.items()}


def share(files: dict[str, dict[str, Any]], covered: str, of: str) -> float:
    part, whole = (sum(file["summary"][key] for file in files.values()) for key in (covered, of))
    return 100.0 * part / whole if whole else 100.0


def test_lines_and_branches(tmp_path: Path) -> None:
    files = counted(tmp_path)
    short = []
    for package in PACKAGES:
        own = {name: file for name, file in files.items() if name.startswith(f"{package}/")}
        assert len(own) == len(list((ROOT / "src" / "pushrod" / package).rglob("*.py"))), f"a file of {package} was not looked at"
        lines, branches = share(own, "covered_lines", "num_statements"), share(own, "covered_branches", "num_branches")
        print(f"{package:10} {lines:6.2f} % of lines, {branches:6.2f} % of branches")
        if lines < LINES.get(package, 99.0) or branches < BRANCHES.get(package, 98.0):
            missed = {name: (file["missing_lines"], file["missing_branches"]) for name, file in own.items()}
            short += [f"{name}: lines {gone}, branches {untaken}" for name, (gone, untaken) in missed.items() if gone or untaken]
    assert not short, "\n".join(short)


def test_lines_and_branches_of_the_stop_path(tmp_path: Path) -> None:
    """The search in tests/interleaving loads the modules with points inserted, which coverage.py does not count: tests/stop alone must be enough."""
    files = counted(tmp_path, ("runtime",), ["tests/stop"])
    short = []
    for name in FILES:
        file, chosen = files[f"runtime/{name}.py"], lines_of_the_stop_path(SOURCE / "runtime" / f"{name}.py")
        lines = [line for line in file["missing_lines"] if line in chosen]
        branches = [branch for branch in file["missing_branches"] if branch[0] in chosen]
        print(f"{name:12} {len(chosen & set(file['executed_lines']))} lines run, {len(lines)} not, {len(branches)} branches not")
        if lines or branches:
            short.append(f"{name}: lines {lines}, branches {branches}")
    assert not short, "\n".join(short)
