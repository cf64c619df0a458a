"""From `estop()` until every gate is closed, and until the last of 32 disarm functions has been entered. Prints Markdown.

python bench/stop.py [--stops 300]

Beside each figure stands a yardstick of the same run: 32 threads, each woken by a bare queue to note the time.
"""

import argparse
import asyncio
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from runtime_rig import PATIENT, Plain, Spread, robot

from pushrod.runtime import arming
from pushrod.runtime.arming import NotSafeError
from pushrod.runtime.runtime import Runtime

N = 32
ENTERED: dict[str, int] = {}  # [ns] when each disarm function was entered last
RATE = 5000.0  # [1/s] of commands


def note(options: dict[str, Any]) -> None:
    ENTERED[options["path"][-1]] = time.perf_counter_ns()


class Noting(Plain):
    disarm = "stop:note"


def bare_wake(n: int) -> Spread:
    """Wake as many threads by bare queues, until the last has noted the time."""
    boxes: list[queue.SimpleQueue[bool]] = [queue.SimpleQueue() for _ in range(N)]
    noted: queue.SimpleQueue[int] = queue.SimpleQueue()

    def work(box: queue.SimpleQueue[bool]) -> None:
        while box.get():
            noted.put(time.perf_counter_ns())

    threads = [threading.Thread(target=work, args=(box,)) for box in boxes]
    for thread in threads:
        thread.start()
    ns = []
    for _ in range(n):
        time.sleep(0.002)
        began = time.perf_counter_ns()
        for box in boxes:
            box.put(True)
        ns.append(max(noted.get() for _ in boxes) - began)
    for box in boxes:
        box.put(False)
    return Spread.of(ns)


class Measured:
    """One e-stop after the other on an armed robot, which is reset and armed in between."""

    def __init__(self, rt: Runtime) -> None:
        self.rt = rt
        self.began = 0
        self.closed_at = 0
        self.closed: list[int] = []
        self.entered: list[int] = []
        revoke_all = arming.revoke_all  # the first thing that a stop does

        def noting(gates: Any) -> None:
            revoke_all(gates)
            self.closed_at = self.closed_at or time.perf_counter_ns()

        arming.revoke_all = noting

    def estop(self) -> None:
        self.began = time.perf_counter_ns()
        self.rt.estop("bench")

    def once(self, stop: Callable[[], Any]) -> None:
        """`stop` calls `estop`, on whatever way."""
        ENTERED.clear()
        self.closed_at = 0
        stop()
        self.closed.append(self.closed_at - self.began)
        self.entered.append(max(ENTERED.values()) - self.began)
        assert len(ENTERED) == N
        self.rt.reset()

    def row(self, name: str) -> None:
        print(f"| {name} | {Spread.of(self.closed)} | {Spread.of(self.entered)} |", flush=True)


def plain(measured: Measured) -> Callable[[], Any]:
    return measured.estop


def raising(measured: Measured) -> Callable[[], Any]:
    def raises() -> None:
        raise OSError("an observer failed")

    measured.rt.bus.subscribe((), notify=raises)
    return measured.estop


def full(measured: Measured) -> Callable[[], Any]:
    measured.rt.bus.subscribe((), size=1)
    return measured.estop


def commanded(measured: Measured) -> Callable[[], Any]:
    handles = [measured.rt[f"m{i}"].direct for i in range(N)]

    @measured.rt.loop(hz=RATE / 5)
    def control(k: int) -> None:
        for i in range(5):
            handles[(5 * k + i) % N].set_position(0.1)

    return measured.estop


def signalled(measured: Measured) -> Callable[[], Any]:
    signal.signal(signal.SIGUSR1, lambda number, frame: measured.estop())
    return lambda: signal.raise_signal(signal.SIGUSR1)


CASES: dict[str, Callable[[Measured], Callable[[], Any]]] = {
    "idle": plain,
    "an observer that raises": raising,
    "a full queue": full,
    f"{RATE:g} commands/s": commanded,
    "from a signal handler": signalled,
}


async def measure(name: str, prepare: Callable[[Measured], Callable[[], Any]], n: int) -> None:
    async with Runtime(robot(N), {f"m{i}": Noting for i in range(N)}, guard=PATIENT) as rt:
        measured = Measured(rt)
        stop = prepare(measured)
        for _ in range(n):
            answer = rt.arm()
            assert answer.ok, answer
            await asyncio.sleep(0.005)
            measured.once(stop)
        measured.row(name)


async def with_stopped_guard(n: int) -> None:
    """The guard is stopped just before the e-stop, and goes on after it."""
    async with Runtime(robot(N), {f"m{i}": Noting for i in range(N)}, guard=PATIENT) as rt:
        measured = Measured(rt)
        for _ in range(n):
            assert rt.arm().ok
            await asyncio.sleep(0.005)
            pid = rt._guarding._guard.pid  # type: ignore[union-attr]
            os.kill(pid, signal.SIGSTOP)
            measured.once(measured.estop)
            os.kill(pid, signal.SIGCONT)
            await asyncio.sleep(0.01)
        measured.row("a stopped guard")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stops", type=int, default=300)
    n = parser.parse_args().stops
    print(
        "| case | gates closed p50 | p99 | worst [us] | last of 32 disarm functions entered p50 | p99 | worst [us] |\n|---|---|---|---|---|---|---|"
    )
    print(f"| 32 threads woken by bare queues | | | | {bare_wake(n)} |")
    with suppress(NotSafeError):
        for name, prepare in CASES.items():
            asyncio.run(measure(name, prepare, n))
        asyncio.run(with_stopped_guard(n))
    print(f"| 32 threads woken by bare queues, again | | | | {bare_wake(n)} |")


if __name__ == "__main__":
    import stop  # under its own name, so that the disarm functions are those of this module

    stop.main()
