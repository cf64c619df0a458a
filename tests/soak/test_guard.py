"""A hundred times each: a process with 32 armed actuators is killed, stopped, blocked, stuck, ended; how long until the last of them was disarmed."""

from pathlib import Path

import pytest

from faults import FAULTS, LIMIT, many

pytestmark = pytest.mark.soak

TIMES = 100
BEYOND = 0.05  # [s] past the limit, for 99 of 100


@pytest.mark.parametrize("fault", FAULTS)
def test_all_are_disarmed_within_the_limit_and_a_little(fault: str, tmp_path: Path) -> None:
    took, busy = many(fault, TIMES, tmp_path)
    p50, p99 = took[TIMES // 2], took[TIMES * 99 // 100 - 1]
    shown = ", ".join(f"{name} {1e3 * seconds:.1f} ms" for name, seconds in (("p50", p50), ("p99", p99), ("max", took[-1])))
    print(f"{fault}, limit {1e3 * LIMIT:g} ms, until the last of 32 was disarmed: {shown}; not counted, the machine was too busy: {busy}")
    assert p99 < LIMIT + BEYOND
