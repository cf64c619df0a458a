"""What a command costs through the whole gate, how well a loop keeps its time, how soon a disarmed robot is safe. Prints Markdown.

python bench/runtime.py [--commands 100000] [--seconds 5] [--disarms 300]

Every figure stands beside a yardstick of the same run, because what else the machine does weighs on both.
"""

import argparse
import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from time import perf_counter_ns as now
from typing import Any

from runtime_disarm import disarms
from runtime_loop import loops
from runtime_rig import Plain, Spread, ThreadOwned, live, robot

WARM = 2000  # calls before the first that counts


def calls(f: Callable[[float], Any], n: int) -> Spread:
    """Each call timed by itself."""
    ns = []
    for k in range(n + WARM):
        x = 1e-6 * k
        started = now()
        f(x)
        ns.append(now() - started)
    return Spread.of(ns[WARM:])


async def awaits(f: Callable[[float], Awaitable[Any]], n: int) -> Spread:
    ns = []
    for k in range(n + WARM):
        x = 1e-6 * k
        started = now()
        await f(x)
        ns.append(now() - started)
    return Spread.of(ns[WARM:])


def there_and_back(n: int) -> Spread:
    """The yardstick of threads: an object handed to another thread by a bare queue, and back by another."""
    there: queue.SimpleQueue[float | None] = queue.SimpleQueue()
    back: queue.SimpleQueue[float] = queue.SimpleQueue()

    def echo() -> None:
        while (x := there.get()) is not None:
            back.put(x)

    def hand_over(x: float) -> None:
        there.put(x)
        back.get()

    thread = threading.Thread(target=echo)
    thread.start()
    try:
        return calls(hand_over, n)
    finally:
        there.put(None)
        thread.join()


async def received(send: Callable[[float], Any], get: Callable[[], Awaitable[Any]], n: int, elsewhere: bool = False) -> Spread:
    """From before `send` until a task that waits on the loop thread has what was sent; sent from that thread too, or from another."""
    ns: list[int] = []
    started = 0
    free = threading.Event()

    async def observe() -> None:
        for _ in range(n + WARM):
            await get()
            ns.append(now() - started)
            free.set()

    async def publish_here() -> None:
        nonlocal started
        for k in range(n + WARM):
            await asyncio.sleep(0)  # the observer waits again
            started = now()
            send(1e-6 * k)
            await asyncio.sleep(0)

    def publish_there() -> None:
        nonlocal started
        for k in range(n + WARM):
            started = now()
            send(1e-6 * k)
            free.wait()
            free.clear()

    async with asyncio.TaskGroup() as group:
        group.create_task(observe())
        if elsewhere:
            group.create_task(asyncio.to_thread(publish_there))
        else:
            group.create_task(publish_here())
    return Spread.of(ns[WARM:])


def future_hand_over() -> tuple[Callable[[float], None], Callable[[], Awaitable[float]]]:
    """The yardstick of the loop thread: a bare asyncio queue."""
    box: asyncio.Queue[float] = asyncio.Queue()
    return box.put_nowait, box.get


def commands(n: int) -> None:
    row("a bare Python call", calls(lambda x: None, n))

    async def plain(rt: Any) -> None:
        servo = rt["m0"]
        row("`direct`", calls(lambda x: servo.direct.set_position(x, 0.5), n), "4 us")

        async def sync(x: float) -> None:
            await servo.sync.set_position(x, 0.5)

        row("`sync`, plain driver", await awaits(sync, n), "8 us")
        row("a bare asyncio queue, received on the loop thread", await received(*future_hand_over(), n))
        watch = rt.bus.subscribe(("actuator",))

        def publish(x: float) -> None:
            servo.publish.set_position(x, 0.5)

        row("`publish`, received on the loop thread", await received(publish, watch.get, n), "30 us")
        row("`publish` from another thread, received on the loop thread", await received(publish, watch.get, n, elsewhere=True))

    live(robot(), {"m0": Plain}, plain)

    async def thread_owned(rt: Any) -> None:
        row("a bare queue to another thread and back", there_and_back(n))
        row("`sync`, thread-owned driver", await awaits(lambda x: rt["m0"].sync.set_position(x, 0.5), n), "250 us")

    live(robot(), {"m0": ThreadOwned}, thread_owned)


def row(what: str, spread: Spread, target: str = "") -> None:
    print(f"| {what} | {spread} | {target} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--commands", type=int, default=100_000)
    options.add_argument("--seconds", type=float, default=5.0, help="for each loop")
    options.add_argument("--disarms", type=int, default=300)
    args = options.parse_args()
    print(f"{args.commands} commands through the whole gate; us\n\n| what | median | p99 | max | target (median) |\n|---|---|---|---|---|")
    commands(args.commands)
    print(f"\n1 kHz, {args.seconds:g} s each: how late; us\n\n| what | median | p99 | max | missed | target (p99) |\n|---|---|---|---|---|---|")
    loops(args.seconds)
    print(f"\n{args.disarms} disarms of 32 actuators, one hanging, one raising: until the other 30 are safe; ms\n")
    print("| what | median | p99 | max | target (max) |\n|---|---|---|---|---|")
    disarms(args.disarms)


if __name__ == "__main__":
    main()
