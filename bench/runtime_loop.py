"""How late a 1 kHz loop is: the runtime's own, a plain asyncio timer, and a bare spin, which shows the gaps of the machine itself."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable
from time import monotonic_ns as now
from typing import Any

from runtime_rig import Plain, Spread, live, robot

PERIOD = 1_000_000  # [ns]
MESSAGES = 5000  # a second, under load


def bare_spin(seconds: float) -> tuple[Spread, int]:
    """Never sleeps: late only where the machine took the core away."""
    late, missed, k = [], 0, 1
    start = now()
    while k * PERIOD < seconds * 1e9:
        deadline = start + k * PERIOD
        while (t := now()) < deadline:
            pass
        late.append(t - deadline)
        following = (now() - start) // PERIOD + 1
        missed += following - k - 1
        k = following
    return Spread.of(late), missed


async def asyncio_timer(seconds: float, tick: Callable[[int], None]) -> tuple[Spread, int]:
    """`call_at` the next deadline, absolute; missed periods skipped, as the runtime's loop does."""
    loop, late, missed = asyncio.get_running_loop(), [], 0
    done = loop.create_future()
    start = now()
    end = start + int(seconds * 1e9)

    def fire(k: int) -> None:
        nonlocal missed
        late.append(now() - start - k * PERIOD)
        tick(k)
        following = (now() - start) // PERIOD + 1
        missed += following - k - 1
        if now() < end:
            at(following)
        else:
            done.set_result(None)

    def at(k: int) -> None:
        loop.call_at((start + k * PERIOD) * 1e-9, fire, k)

    at(1)
    await done
    return Spread.of(late), missed


async def loop(rt: Any, seconds: float, tick: Callable[[int], None]) -> tuple[Spread, int]:
    cadence = rt.loop(hz=1e9 / PERIOD)(tick)
    await asyncio.sleep(seconds)
    cadence.stop()
    timing = cadence.timing()
    return Spread(timing.p50 * 1e6, timing.p99 * 1e6, timing.worst * 1e6), timing.missed


@contextlib.asynccontextmanager
async def nothing(rt: Any) -> AsyncIterator[None]:
    yield


@contextlib.asynccontextmanager
async def traffic(rt: Any) -> AsyncIterator[None]:
    """So many messages a second to an observer, both on the loop thread."""
    watch = rt.bus.subscribe(("actuator",))
    view, seen, start = rt["m1"].publish, 0, time.monotonic()

    async def publish() -> None:
        sent = 0
        while True:
            while sent < (time.monotonic() - start) * MESSAGES:
                view.set_position(1e-6 * sent)
                sent += 1
            await asyncio.sleep(1e-3)

    async def observe() -> None:
        nonlocal seen
        while True:
            await watch.get()
            seen += 1

    tasks = [asyncio.create_task(publish()), asyncio.create_task(observe())]
    try:
        yield
    finally:
        rate = seen / (time.monotonic() - start)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        rt.bus.unsubscribe(watch)
        assert rate > 0.9 * MESSAGES, f"{rate:.0f} messages/s, meant to be {MESSAGES}"


@contextlib.asynccontextmanager
async def busy_thread(rt: Any) -> AsyncIterator[None]:
    stop = False

    def work() -> None:
        x = 0
        while not stop:
            x += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop = True
        thread.join()


def loops(seconds: float) -> None:
    async def body(rt: Any) -> None:
        direct = rt["m0"].direct

        def tick(k: int) -> None:
            direct.set_position(1e-6 * k)

        for about, load, target in LOADS:
            spread, missed = bare_spin(seconds)
            print(f"| a bare spin, no load | {spread} | {missed} | |", flush=True)
            async with load(rt):
                spread, missed = await loop(rt, seconds, tick)
            print(f"| the runtime's loop, {about} | {spread} | {missed} | {target} |", flush=True)
            async with load(rt):
                spread, missed = await asyncio_timer(seconds, tick)
            print(f"| an asyncio timer, {about} | {spread} | {missed} | |", flush=True)

    live(robot(2), {"m0": Plain, "m1": Plain}, body)


LOADS = (
    ("no load", nothing, "250 us"),
    (f"{MESSAGES} messages/s", traffic, ""),
    ("a busy Python thread", busy_thread, ""),
)
