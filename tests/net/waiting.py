"""Wait for what another process or thread brings about."""

import asyncio
import time
from collections.abc import Callable
from typing import Any


def until(true: Callable[[], Any], timeout: float = 5.0) -> float:
    """How long it took to become true [s]."""
    start = time.monotonic()
    while not true():
        if time.monotonic() > start + timeout:
            raise AssertionError(f"not so within {timeout} s")
        time.sleep(1e-3)
    return time.monotonic() - start


async def soon(true: Callable[[], Any], timeout: float = 5.0) -> float:
    start = time.monotonic()
    while not true():
        if time.monotonic() > start + timeout:
            raise AssertionError(f"not so within {timeout} s")
        await asyncio.sleep(1e-3)
    return time.monotonic() - start
