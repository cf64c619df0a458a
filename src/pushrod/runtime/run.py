"""Run a program of coroutines on a clock: `run(main())` in real time, `run(main(), clock)` with the clock of its runtimes."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from pushrod.runtime.clock import Clock, WallClock

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T], clock: Clock | None = None) -> T:
    """As asyncio.run, on this clock. A Runtime on a stepped clock must be run with that clock, or its time would never move.

    Under a SteppedClock sleeps and timeouts take no real time, and a run gives the same result every time.
    """
    with asyncio.Runner(loop_factory=(clock or WallClock()).loop_factory) as runner:
        return runner.run(main)
