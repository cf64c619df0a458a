"""What a stranger copies first: every example runs, and those of the runtime print what they are there to show."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

# texts that must appear in this order; the runtime's examples run on the stepped clock, so they always print the same
PRINTS = {
    "hello_servo": ("base/shoulder/servo refused Position: not armed", "2.0", "1.5", "EndMotion(position=1.5, reason='completed'"),
    "own_driver": ("frame/lift/motor refused Effort: unsupported (it accepts Position, Stop)", "at 0.20 m, its motor at 121 rad", "torque is off"),
    # critically damped: x = 0.6 - 0.4 (1 + 5 t) exp(-5 t), seen a tick late
    "control_loop": ("0.3 s: 0.378 m", "0.6 s: 0.521 m", "1.5 s: 0.598 m", "ticks=751, missed=0"),
    "trajectory": ("0.00 s: begins, should be at 0.2 rad by 3.0 s", "0.50 s: +0.80 rad", "1.00 s: -0.40 rad", "3.00 s: completed at 0.20 rad"),
    "two_commanders": (
        "person:  base/pan/motor refused Velocity: lease (leased by planner)",
        "planner: base/pan/motor refused Velocity: lease (leased by person)",
        "0 s: None -> planner",
        "0 s: planner -> person",
    ),
    "parameters": ("1.0", "2.094", "old=1.0, new=2.094", "shoulder.speed: must be at most 3.0 rad/s, got 99.0", "value=2.094", "'persisted'"),
    "arm": ("accepted", "clamped", "0.838 s: shoulder_motor completed at 1.39", "elbow_motor completed at 2.6", "carries 8.1", "let go, it swings"),
    "boat_live": (
        "autopilot: asks +2.94, gets +1.00, 1.73 m/s, integral +0.00",
        "sticks: left +0.10, right +0.30",
        "silence: left +0.00, timeout",
        "act.sw.u_LR_max = 1.5 lies above hw.u_LR_max = 1",
        "act.sw.u_s_min = 2 lies above sw.u_s_max = 1",
        "act.slew.up is still 2.0",
        "abort pilot may not end an abort",
        "13.01 s: MANUAL (none)",
        "13.51 s: NONE (timeout)",
    ),
    "two_robots": ("a bus each: left sees left, right sees right", "a shared bus: left sees left, who asks the bus sees left and right"),
}
SHORT = {"hello_servo": 15, "own_driver": 40}  # lines of code


@pytest.mark.parametrize("name", sorted(file.stem for file in EXAMPLES.glob("*.py")))
def test_an_example_runs_and_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    at = 0
    for text in PRINTS.get(name, ()):
        at = done.stdout.find(text, at)
        assert at >= 0, f"{text!r} is missing, or out of order, in:\n{done.stdout}"
        at += len(text)


@pytest.mark.parametrize(("name", "most"), SHORT.items())
def test_the_first_examples_are_short(name: str, most: int) -> None:
    assert lines_of_code((EXAMPLES / f"{name}.py").read_text()) <= most


def lines_of_code(text: str) -> int:
    """Lines that are neither empty, nor a comment, nor part of a docstring."""
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.end_lineno is not None:
            told |= set(range(node.lineno, node.end_lineno + 1))
    return sum(bool(line.strip()) and not line.strip().startswith("#") and i not in told for i, line in enumerate(text.splitlines(), 1))
