"""`run`: a program on a clock."""

import asyncio
import time

import pytest

from pushrod.runtime import SteppedClock, run


async def wait(seconds: float) -> float:
    start = asyncio.get_running_loop().time()
    await asyncio.sleep(seconds)
    return asyncio.get_running_loop().time() - start


def test_an_hour_on_the_stepped_clock_takes_no_time() -> None:
    clock, start = SteppedClock(), time.monotonic()
    assert run(wait(3600.0), clock) == pytest.approx(3600.0)
    assert clock.now() == pytest.approx(3600.0)
    assert time.monotonic() - start < 10.0


def test_without_a_clock_time_is_real() -> None:
    start = time.monotonic()
    assert run(wait(0.02)) >= 0.02
    assert time.monotonic() - start >= 0.02


def test_what_the_program_raises_comes_out() -> None:
    async def fails() -> None:
        raise ValueError("as it should")

    with pytest.raises(ValueError, match="as it should"):
        run(fails(), SteppedClock())
