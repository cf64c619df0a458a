"""How soon a guard has disarmed 32 actuators after the process that held them died or hung, and what it costs to have one. Prints Markdown.

python bench/guard.py [--times 100]
"""

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from runtime_rig import Plain, Spread, robot

from faults import FAULTS, LIMIT, many
from pushrod.runtime.runtime import Runtime


def faults(times: int) -> None:
    print(f"{times} times each, limit {1e3 * LIMIT:g} ms, 32 actuators: from the fault to the last disarm function; ms\n")
    print("| fault | median | p99 | max | not counted: machine too busy | target (p99) |\n|---|---|---|---|---|---|")
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            took, busy = many(fault, times, Path(folder))
        spread = Spread.of([round(1e9 * seconds) for seconds in took])
        print(f"| {fault} | {' | '.join(f'{1e-3 * us:.1f}' for us in spread)} | {busy} | {1e3 * LIMIT + 50:g} ms |", flush=True)


async def once(guard: bool) -> float:
    """Until it is entered [s]."""
    began = time.perf_counter()
    async with Runtime(robot(32), {f"m{i}": Plain for i in range(32)}, guard=guard):
        return time.perf_counter() - began


def cost(times: int) -> None:
    print("\n| a runtime with 32 actuators | median | p99 | max |\n|---|---|---|---|")
    for about, guard in (("entered without a guard", False), ("entered with one", True)):
        spread = Spread.of([round(1e9 * asyncio.run(once(guard))) for _ in range(times)])
        print(f"| {about}; ms | {' | '.join(f'{1e-3 * us:.1f}' for us in spread)} |", flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"| processor time of a guard, imports of its drivers among it; ms | {1e3 * (used.ru_utime + used.ru_stime) / times:.0f} | | |")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--times", type=int, default=100)
    times = options.parse_args().times
    with tempfile.TemporaryDirectory() as state:
        os.environ["PUSHROD_STATE"] = state
        cost(min(times, 20))
        print()
        faults(times)


if __name__ == "__main__":
    main()
