"""How soon a robot is safe: 32 actuators, of which the disarm function of one hangs (or its driver, in a call) and that of another raises."""

import logging
import queue
import threading
import time
from contextlib import suppress
from typing import Any

from runtime_rig import Plain, Spread, live, robot

from pushrod.runtime.arming import NotSafeError

N = 32
LIMIT = 0.03  # [s] after which disarm() gives up on the one that hangs
SAFE: dict[str, float] = {}  # when each was made safe last
INSIDE = threading.Event()
GO_ON = threading.Event()


def note(options: dict[str, Any]) -> None:
    SAFE[options["path"][-1]] = time.perf_counter()


def hang(options: dict[str, Any]) -> None:
    GO_ON.wait()


def fail(options: dict[str, Any]) -> None:
    raise OSError("no answer from the bus")


class Noting(Plain):
    disarm = "runtime_disarm:note"


class Hanging(Plain):
    disarm = "runtime_disarm:hang"

    def handle_command(self, payload: Any, command: Any) -> None:
        INSIDE.set()
        GO_ON.wait()


class Failing(Plain):
    disarm = "runtime_disarm:fail"


def bare_wake(n: int) -> Spread:
    """The yardstick: as many threads as there are healthy actuators, each woken by a bare queue to note the time."""
    boxes: list[queue.SimpleQueue[bool]] = [queue.SimpleQueue() for _ in range(N - 2)]
    told: queue.SimpleQueue[float] = queue.SimpleQueue()

    def work(box: queue.SimpleQueue[bool]) -> None:
        while box.get():
            told.put(time.perf_counter())

    threads = [threading.Thread(target=work, args=(box,)) for box in boxes]
    for thread in threads:
        thread.start()
    ns = []
    for _ in range(n):
        started = time.perf_counter()
        for box in boxes:
            box.put(True)
        ns.append(round((max(told.get() for _ in boxes) - started) * 1e9))
    for box in boxes:
        box.put(False)
    for thread in threads:
        thread.join()
    return Spread.of(ns)


def row(what: str, spread: Spread, target: str = "") -> None:
    print(f"| {what} | {' | '.join(f'{1e-3 * x:.2f}' for x in spread)} | {target} |", flush=True)


def disarms(n: int) -> None:
    drivers: dict[str, Any] = {"m0": Hanging, "m1": Failing, **{f"m{i}": Noting for i in range(2, N)}}

    async def body(rt: Any) -> None:
        def once(in_a_call: bool = False) -> int:
            GO_ON.clear()
            INSIDE.clear()
            SAFE.clear()
            if in_a_call:
                threading.Thread(target=rt["m0"].direct.set_position, args=(0.0,)).start()
                INSIDE.wait()
            started = time.perf_counter()
            answer = rt.disarm(limit=LIMIT)
            took = max(SAFE.values()) - started
            assert len(SAFE) == N - 2, SAFE
            assert sorted(answer.failures) == ["base/j0/m0", "base/j1/m1"], answer
            GO_ON.set()
            rt.force_disarm()
            assert rt.arm().ok
            return round(took * 1e9)

        def report(what: str, in_a_call: bool = False) -> None:
            row(what, Spread.of([once(in_a_call) for _ in range(n)]), "10 ms")

        row(f"{N - 2} threads woken by bare queues", bare_wake(n))
        report("nothing else going on")
        report("the one that hangs does so in a call too", in_a_call=True)
        views = [rt[f"m{i}"].direct for i in range(2, N)]

        @rt.loop(hz=1000)
        def control(k: int) -> None:
            for view in views:
                view.set_position(1e-6 * k)

        report("a 1 kHz loop commanding all 30")
        control.stop()
        GO_ON.set()

    logging.getLogger("pushrod.runtime").setLevel(logging.CRITICAL)  # that two of them fail is what this is about
    with suppress(NotSafeError):
        live(robot(N), drivers, body)
