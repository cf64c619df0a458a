"""How late a sleep ends at 1 kHz: as any process, with real-time priority, and with cores kept awake, too (as `serve --realtime` has it).
Prints Markdown.

python bench/waking.py [--seconds 10]
"""

import argparse
import os
import time
from time import monotonic_ns as now

from pushrod.runtime.real_time import PRIORITY, keep_awake

PERIOD = 1_000_000  # [ns]
SHARES = (0.5, 0.99, 0.999)


def late(seconds: float) -> str:
    """How much longer than asked for, us."""
    late, start = [], now()
    for k in range(1, round(seconds * 1e9 / PERIOD)):
        due = start + k * PERIOD
        if (wait := due - now()) > 0:
            time.sleep(wait * 1e-9)
            late.append(now() - due)
    late.sort()
    return " | ".join(f"{1e-3 * late[int(share * len(late))]:.1f}" for share in SHARES)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=10.0)
    seconds = ask.parse_args().seconds
    print("A sleep ends so much too late, us\n\n| | p50 | p99 | p99.9 |\n|---|---|---|---|")
    print(f"| as any process | {late(seconds)} |", flush=True)
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    print(f"| real-time priority | {late(seconds)} |", flush=True)
    if keep_awake():
        print(f"| and cores kept awake | {late(seconds)} |", flush=True)


if __name__ == "__main__":
    main()
