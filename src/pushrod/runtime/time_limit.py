"""Wait for something, but not for ever: a wait that was too long says what it waited for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pushrod.core.errors import InputError
from pushrod.robot.parameter import real


@asynccontextmanager
async def time_limit(seconds: float | None, what: str, advice: str) -> AsyncIterator[None]:
    """TimeoutError says what did not happen, within how many seconds, and what to do; None: no limit. One that comes from inside passes as it is."""
    seconds = real(seconds)
    if seconds is not None and (type(seconds) is not float or not seconds >= 0.0):
        raise InputError(f"timeout must be a number of seconds, not negative, or None for no limit, got {seconds!r}")
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if limit.expired():
            raise TimeoutError(f"{what} within {seconds:g} s; {advice}") from error
        raise
