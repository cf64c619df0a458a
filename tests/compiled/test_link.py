"""What does not link says why, with file and line; what links is cached under its own text."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lag_world
import pytest

from pushrod.compiled.entry import Plan, text
from pushrod.compiled.link import Linker
from pushrod.core.errors import PurityError
from pushrod.core.purity import pure
from pushrod.core.ring import Ring

RING = Ring(lag_world.Sent, 4)
NAMES = ["a", "b"]


def unmarked(x: float) -> float:
    return x


@pure
def calls_unmarked(x: float) -> float:
    return unmarked(x)


@pure
def power(x: float) -> float:
    return x**2


@pure
def builtin_max(x: float) -> float:
    return max(x, 0.0)


@pure
def raising(x: float) -> float:
    if x < 0.0:
        raise ValueError
    return x


@pure
def reads_a_list(x: float) -> float:
    return x + float(len(NAMES))


@pure
def uses_hypot(x: float) -> float:
    return math.hypot(x, x)


@pure
def stale_line(line: Any) -> Any:
    new = RING.put(line, 0, lag_world.Sent(1.0))
    return RING.get(line, 0), new


@pure
def tick_times_dt(at: Any) -> float:
    return at.k * at.dt


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (calls_unmarked, "unmarked is called by .*calls_unmarked.* not marked @pure"),
        (power, r"test_link.py:\d+: \*\* differs"),
        (builtin_max, "use core.scalar.maximum"),
        (raising, "a step never raises"),
        (reads_a_list, r"\['a', 'b'\] cannot be used in a pure step"),
        (uses_hypot, "use math.sqrt"),
        (stale_line, "line is read after put"),
        (tick_times_dt, r"write float\(at.k\) \* at.dt"),
    ],
)
def test_an_impure_function_is_refused(fn: Callable[..., Any], says: str) -> None:
    with pytest.raises(PurityError, match=says):
        Linker("float").function(fn)


def test_the_text_holds_every_equation_itself_and_does_not_change() -> None:
    once = text(Plan(lag_world.LAG_WORLD, outputs=("y",)))
    text.cache_clear()
    assert text(Plan(lag_world.LAG_WORLD, outputs=("y",))) == once
    ours = [line for line in once.splitlines() if "import" in line and "pushrod" in line]
    assert ours == ["from pushrod.compiled.callee import Callee"]  # how numba compiles it, nothing of what it computes
    assert "pushrod" not in text(Plan(lag_world.LAG_WORLD, "cuda", outputs=("y",))).replace("# pushrod", "")


def test_float32_text_has_no_bare_float_literal() -> None:
    once = text(Plan(lag_world.LAG_WORLD, dtype="float32", outputs=("y",)))
    body = once[once.index("def lag_world_step") :]
    assert "np.float32(1.0)" in body
    assert "- 1.0" not in body


def test_a_second_process_takes_the_compiled_code_from_disk(tmp_path: Path) -> None:
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); import numba\n"
        "from lag_world import LAG_WORLD\nfrom pushrod.compiled.rollout import rollout\n"
        "a = time.process_time(); rollout(LAG_WORLD, None, None, steps=10, dt=1e-3); print(time.process_time() - a)"
    )

    def seconds() -> float:
        command = [sys.executable, "-c", program, str(Path(__file__).parent)]
        done = subprocess.run(command, env={"PUSHROD_CACHE": str(tmp_path), "PATH": ""}, capture_output=True, text=True, check=True)
        return float(done.stdout)

    cold = seconds()
    assert min(seconds() for _ in range(3)) < 0.5 * cold
    (linked,) = tmp_path.glob("lag_world_*.py")
    (code,) = tmp_path.glob("lag_world_*.code")
    for torn in (code, linked):
        torn.write_bytes(torn.read_bytes()[: torn.stat().st_size // 2])
    seconds()  # truncated files are replaced
