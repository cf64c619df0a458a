"""Run a program of coroutines on a clock: `run(main())` in real time, `run(main(), clock)` with the clock of its runtimes."""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from pushrod.runtime.clock import Clock, WallClock
from pushrod.runtime.signals import handle_signals

T = TypeVar("T")
ENDING = ("SIGTERM", "SIGHUP")  # what a service manager, a container or a closed terminal sends


def run(main: Coroutine[Any, Any, T], clock: Clock | None = None) -> T:
    """As asyncio.run, on this clock. A Runtime on a stepped clock must be run with that clock, or its time would never move.

    Under a SteppedClock sleeps and timeouts take no real time, and a run gives the same result every time. SIGTERM and SIGHUP end the program as
    Ctrl-C does: its runtimes are left, and so disarmed, before it exits.
    """
    caught: list[int] = []

    async def whole() -> T:
        task = asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            caught.append(number)
            task.cancel()

        if threading.current_thread() is threading.main_thread():
            with suppress(NotImplementedError):  # Windows
                handle_signals([getattr(signal, name) for name in ENDING if hasattr(signal, name)], end)
        return await main

    with asyncio.Runner(loop_factory=(clock or WallClock()).loop_factory) as runner:
        try:
            return runner.run(whole())
        except asyncio.CancelledError:
            if caught:
                raise SystemExit(128 + caught[0]) from None
            raise
