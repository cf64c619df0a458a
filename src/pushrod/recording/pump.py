"""From a live runtime to the process that writes its log, without ever keeping a control loop waiting.

Gates, ticks and the bus put what happens into bounded queues and go on; what finds no room is dropped and counted. One thread takes it from there in
the gaps between control calls (`gaps`), turns it into messages, one small call each, and hands them over.
"""

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from pushrod.log.process import LogProcess
from pushrod.recording.events import WARNING
from pushrod.recording.tap import Pipeline, Ticking, open_ticks, tap_gates
from pushrod.recording.topics import Topics
from pushrod.runtime.gaps import Gaps
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command
from pushrod.runtime.result import Result
from pushrod.runtime.runtime import Runtime

log = logging.getLogger("pushrod.recording")
EVERY = 0.005  # [s] between two looks at the queues: so much is lost where this process dies
LOOK = 4  # messages between two looks at the clock
BATCH = 256  # messages that are handed over at once
MUCH = 4 * 1024 * 1024  # bytes that are handed over before more is taken from the queues
TAKE = 0.05  # [s] for the writer to take some where it has much to do
REST = 5.0  # [s] for what waits at the end
FULL = 8  # a queue that is an eighth full does not wait for gaps any more


class Pump:
    """`failed(why)` is told, once, that nothing is written any more."""

    def __init__(
        self, rt: Runtime, process: LogProcess, topics: Topics, room: int, pipelines: Iterable[Pipeline], failed: Callable[[str], None]
    ) -> None:
        self._rt = rt
        self._process = process
        self._topics = topics
        self._room = room
        self._failed = failed
        self._queue: deque[tuple[Any, ...]] = deque()
        self._drops = itertools.count(1)  # counts safely from several threads
        self._unqueued = 0
        self._told = 0
        self._ending = threading.Event()
        self._taps = ExitStack()
        self._taps.callback(tap_gates(rt, self._command))
        self._bus = rt.bus.subscribe((), (), room, "drop_newest", True, rt.robot.name)
        self._taps.callback(rt.bus.unsubscribe, self._bus)
        if isinstance(rt.machine, Ticking):
            rows, now, put = open_ticks(topics, rt.machine, pipelines), rt.clock.now, self._put
            self._taps.callback(rt.machine.observe(lambda k, u, y: put((now(), rows, u.tobytes() + y.tobytes()))))
        self._thread = threading.Thread(target=self._run, name=f"pushrod recording of {rt.robot.name}", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        return self._unqueued + self._bus.dropped + self._topics.lost + self._process.lost

    def close(self) -> None:
        """What waits is still written, if the writer takes it in time."""
        self._taps.close()
        self._ending.set()
        self._thread.join(4.0 * REST)

    def _command(self, host: Host, command: Command, result: Result, at: float) -> None:
        self._put((at, host, command, result))

    def _put(self, item: tuple[Any, ...]) -> None:
        """From any thread; never waits."""
        if len(self._queue) < self._room:
            self._queue.append(item)
        else:
            self._unqueued = next(self._drops)

    def _take(self, item: tuple[Any, ...]) -> None:
        if len(item) == 4:
            at, host, command, result = item
            self._topics.command(host, command, result, at)
        else:
            at, rows, row = item
            self._topics.row(rows, at, row)

    def _run(self) -> None:
        process = self._process
        try:
            self._until_the_end()
        except BaseException as error:  # SystemExit too: the robot goes on
            log.exception("the recording of %s failed", self._rt.robot.name)
            process.problem = process.problem or f"{type(error).__name__}: {error}"
        if process.problem:
            self._taps.close()
            self._failed(process.problem)

    def _until_the_end(self) -> None:
        gaps, second = Gaps(lambda: self._rt.cadences), time.monotonic() + 1.0
        until = gaps.wait(EVERY)
        while not self._ending.is_set() and not self._process.problem:
            until = gaps.wait(0.0 if self._work(until) else EVERY)
            if time.monotonic() >= second:
                second = time.monotonic() + 1.0
                self._report(gaps)
        self._finish(gaps)

    def _work(self, until: int) -> bool:
        """Take from the queues until this time [ns]; False where they are empty."""
        queue, poll = self._queue, self._bus.poll
        for _ in range(BATCH // LOOK):
            for _ in range(LOOK):
                if queue:
                    self._take(queue.popleft())
                elif (message := poll()) is not None:
                    self._topics.message(message)
                else:
                    self._hand_over()
                    return False
            if self._process.gathered > MUCH or (time.monotonic_ns() >= until and self._waiting() < self._room // FULL):
                break
        self._hand_over()
        return True

    def _hand_over(self) -> None:
        """The queues fill meanwhile, and drop; but nobody else waits."""
        while not self._process.send(TAKE) and not self._process.problem and not self._ending.is_set():
            pass

    def _waiting(self) -> int:
        return len(self._queue) + self._bus.statistics().waiting

    def _report(self, gaps: Gaps) -> None:
        """How the loops keep their time, and what was dropped."""
        for cadence in self._rt.cadences:
            gaps.wait()
            self._topics.loop(self._rt.clock.now(), cadence)
        now, dropped = self._rt.clock.now(), self.dropped
        if dropped > self._told:
            text = f"{dropped - self._told} messages found no room in the queue of the recording, or could not be written, and are not in this log"
            self._topics.events.put(self._topics.ns(now), WARNING, "recording", text)
            self._told = dropped
            self._topics.counts(now, dropped, self._waiting())

    def _finish(self, gaps: Gaps) -> None:
        end = time.monotonic() + REST
        while not self._process.problem and time.monotonic() < end and self._work(time.monotonic_ns() + 10**9):
            pass
        self._unqueued += self._waiting()  # what was not taken in time
        self._report(gaps)
        self._topics.counts(self._rt.clock.now(), self.dropped, 0)
        self._process.close()
