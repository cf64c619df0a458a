"""Record a runtime: `with Recording(rt, "runs"): async with rt: ...` writes one MCAP file, by another process; no control loop ever waits for it.

Every gate, the bus and a simulated machine put what happens into bounded queues; one thread takes it from there in the gaps between control calls and
hands it to the process that writes. What finds no room is dropped, counted and told in the log. Where the log fails (a full disk, a folder that
cannot be written, a writer that was killed) that is told once, and the robot goes on; `required`: it cannot be armed then.

Under the stepped clock everything is kept in memory, in the order of the run, and written at its end: equal runs give equal files.
"""

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pushrod.core.errors import InputError, LogError
from pushrod.core.model import World
from pushrod.core.record import numbers
from pushrod.log.folder import free_name, prepare
from pushrod.log.process import LogProcess
from pushrod.log.writer import Attachment, write
from pushrod.recording.about import about_live
from pushrod.recording.events import WARNING
from pushrod.recording.pace import Pace
from pushrod.recording.tape import Tape
from pushrod.recording.topics import Topics
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.gate import Observer
from pushrod.runtime.host import Host
from pushrod.runtime.message import Command
from pushrod.runtime.result import Result
from pushrod.runtime.runtime import Runtime

log = logging.getLogger("pushrod.recording")
ROOM = 65536  # messages that may wait, on the bus and of gates and ticks each
EVERY = 0.005  # [s] between two looks at the queues: that much is lost where this process dies
LOOK = 32  # messages between two looks at the clock
BATCH = 256  # messages that are handed over at once
READY = 5.0  # [s] for the writer to be there
TAKE = 0.05  # [s] for the writer to take some where it has much to do
REST = 10.0  # [s] for what waits at the end


@runtime_checkable
class Ticking(Protocol):
    """A simulated machine whose ticks can be seen."""

    world: World
    dt: float

    def observe(self, observer: Callable[[int, Any, Any], object]) -> Callable[[], None]: ...


class Recording:
    """`file` is where the log is, `problem` why there is none (any more); `written` and `dropped` count messages.

    about         more for its metadata: which machine, which scenario
    attachments   files that belong to it
    required      the robot cannot be armed while there is no log
    room          messages that may wait, on the bus and of gates and ticks each
    pipelines     topics of pipelines in a simulated world: (topic, record, the output that each of its numbers is)
    """

    def __init__(
        self,
        rt: Runtime,
        folder: str | Path = "runs",
        *,
        about: Mapping[str, str] | None = None,
        attachments: Iterable[Attachment] = (),
        required: bool = False,
        room: int = ROOM,
        pipelines: Iterable[tuple[str, Any, Mapping[str, str]]] = (),
    ) -> None:
        if room < 1:
            raise InputError(f"room = {room!r}: a queue holds at least 1 message")
        self._rt = rt
        self._folder = Path(folder)
        self._about = dict(about or {})
        self._attachments = list(attachments)
        self._required = required
        self._room = room
        self._pipelines = tuple(pipelines)
        self.file: Path | None = None
        self.problem = ""
        self._live = not isinstance(rt.clock, SteppedClock)
        self._queue: deque[tuple[Any, ...]] = deque()
        self._drops = itertools.count(1)
        self._dropped = 0
        self._told_dropped = 0
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._process: LogProcess | None = None
        self._tape = Tape()
        self._topics: Topics | None = None
        self._untap: list[Callable[[], object]] = []

    @property
    def written(self) -> int:
        """Messages handed over; at the end, those in the file."""
        done = None if self._process is None else self._process.written
        return done if done is not None else 0 if self._topics is None else self._topics.written

    @property
    def dropped(self) -> int:
        return self._dropped + (self._bus.dropped if self._topics is not None else 0)

    @property
    def pid(self) -> int | None:
        """Of the process that writes."""
        return None if self._process is None else self._process.pid

    def __enter__(self) -> "Recording":
        if any(host.gate.observer is not None for host in self._rt.hosts.values()):
            raise InputError(f"{self._rt.robot.name} is recorded already: leave that recording first")
        if self._required:
            self._rt.checks.append(self._missing)
            self._untap.append(lambda: self._rt.checks.remove(self._missing))
        try:
            prepare(self._folder)
            self._open()
        except (LogError, OSError) as error:
            self._fail(str(error))
            return self
        if self._process is not None and self._process.problem:
            self._fail(self._process.problem)
            return self
        self._tap()
        if self._live:
            self._thread = threading.Thread(target=self._pump, name=f"pushrod recording of {self._rt.robot.name}", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for untap in self._untap:
            untap()
        self._untap.clear()
        if self._thread is not None:
            self._ending.set()
            self._thread.join(REST + READY)
        elif not self._live and self._topics is not None:
            self._write_tape()

    def flush(self) -> None:
        """What happened so far is to be on the disk soon."""
        self._put((None, "flush"))

    def _open(self) -> None:
        robot = self._rt.robot.name
        about = about_live(self._rt, self._about)
        if not self._live:
            self.file = free_name(self._folder, "-".join(filter(None, (robot, self._about.get("scenario", "")))))
            self._topics = Topics(self._tape, self._rt.hosts.values(), 0)
            return
        wall, mono = time.time_ns(), time.monotonic_ns()
        self.file = free_name(self._folder, f"{robot}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(wall * 1e-9))}")
        self._process = process = LogProcess(self.file, {"pushrod": about}, self._attachments, wall)
        self._topics = Topics(process, self._rt.hosts.values(), wall - mono)
        end = time.monotonic() + READY
        process.send(READY)
        while not process.ready and not process.problem:
            process.send(0.0)
            if time.monotonic() > end:
                process.problem = f"the writer (pid {process.pid}) was not there within {READY:g} s"
            time.sleep(0.002)

    def _tap(self) -> None:
        rt, bus = self._rt, self._rt.bus
        notify = None if self._live else self._inline
        self._bus = subscription = bus.subscribe((), (), self._room, "drop_newest", True, rt.robot.name, notify)
        self._untap.append(lambda: bus.unsubscribe(subscription))
        self._inline() if notify else None
        for host in rt.hosts.values():
            host.gate.observer = self._observer(host)
            self._untap.append(lambda host=host: setattr(host.gate, "observer", None))  # type: ignore[misc]
        if isinstance(rt.machine, Ticking):
            self._untap.append(rt.machine.observe(self._ticks(rt.machine)))

    def _observer(self, host: Host) -> Observer:
        def seen(command: Command, result: Result, at: float) -> None:
            self._put((at, host, command, result))

        return seen

    def _ticks(self, machine: Ticking) -> Callable[[int, Any, Any], None]:
        assert self._topics is not None
        told = {leaf.path: i for i, leaf in enumerate(numbers(machine.world.In))}
        given = {leaf.path: len(told) + i for i, leaf in enumerate(numbers(machine.world.Out))}
        before = -round(machine.dt * 1e9)
        parts = [("/in", machine.world.In, told, before), ("/out", machine.world.Out, given, 0)]
        parts += [(name, record, {path: given[at] for path, at in paths.items()}, 0) for name, record, paths in self._pipelines]
        rows, now = self._topics.rows(parts), self._rt.clock.now

        def seen(k: int, u: Any, y: Any) -> None:
            self._put((now(), rows, u.tobytes() + y.tobytes()))

        return seen

    def _put(self, item: tuple[Any, ...]) -> None:
        """From any thread; never waits."""
        if not self._live:
            self._take(item)
        elif len(self._queue) < self._room:
            self._queue.append(item)
        else:
            self._dropped = next(self._drops)

    def _take(self, item: tuple[Any, ...]) -> None:
        assert self._topics is not None
        if len(item) == 4:
            at, host, command, result = item
            self._topics.command(host, command, result, at)
        elif len(item) == 3:
            at, rows, row = item
            self._topics.row(rows, at, row)
        elif self._process is not None:
            self._process.flush()

    def _inline(self) -> None:
        assert self._topics is not None
        while (message := self._bus.poll()) is not None:
            self._topics.message(message)

    def _pump(self) -> None:
        assert self._process is not None
        pace, second = Pace(lambda: self._rt.cadences), time.monotonic() + 1.0
        try:
            while not self._ending.wait(EVERY) and not self._process.problem:
                while self._work(pace.wait()) and not self._process.problem:
                    pass
                if time.monotonic() >= second:
                    second += 1.0
                    pace.wait()
                    self._report()
            self._finish()
        except Exception as error:  # whatever it is: the robot goes on
            log.exception("the recording of %s failed", self._rt.robot.name)
            self._process.problem = self._process.problem or f"{type(error).__name__}: {error}"
        if self._process.problem:
            self._fail(self._process.problem)

    def _work(self, until: int) -> bool:
        """Take from the queues until this time [ns]; False where they are empty."""
        assert self._process is not None
        assert self._topics is not None
        queue, poll, taken = self._queue, self._bus.poll, 0
        while taken < BATCH:
            for _ in range(LOOK):
                if queue:
                    self._take(queue.popleft())
                elif (message := poll()) is not None:
                    self._topics.message(message)
                else:
                    self._hand_over()
                    return False
            taken += LOOK
            if time.monotonic_ns() >= until and self._waiting() < self._room // 8:
                break
        self._hand_over()
        return True

    def _hand_over(self) -> None:
        """The queues fill meanwhile, and drop; but nobody else waits."""
        assert self._process is not None
        while not self._process.send(TAKE) and not self._process.problem and not self._ending.is_set():
            pass

    def _waiting(self) -> int:
        return max(len(self._queue), self._bus.statistics().waiting)

    def _report(self) -> None:
        """Once a second: how the loops keep their time, and what was dropped."""
        assert self._topics is not None
        now = self._rt.clock.now()
        for cadence in self._rt.cadences:
            self._topics.loop(now, cadence)
        if (dropped := self.dropped) > self._told_dropped:
            text = f"{dropped - self._told_dropped} messages found no room and are not in this log"
            self._topics.events.put(self._topics.ns(now), WARNING, "recording", text)
            self._told_dropped = dropped
            self._topics.counts(now, dropped, self._waiting())

    def _finish(self) -> None:
        assert self._process is not None
        assert self._topics is not None
        end = time.monotonic() + REST
        while not self._process.problem and self._work(time.monotonic_ns() + 10**9) and time.monotonic() < end:
            pass
        self._dropped += self._waiting()  # what was not taken in time
        self._report()
        self._topics.counts(self._rt.clock.now(), self.dropped, 0)
        self._process.close()

    def _write_tape(self) -> None:
        assert self._topics is not None
        assert self.file is not None
        now = self._rt.clock.now()
        for cadence in self._rt.cadences:
            self._topics.loop(now, cadence)
        self._topics.counts(now, 0, 0)
        try:
            write(self.file, (), {"pushrod": about_live(self._rt, self._about)}, self._attachments, self._tape.said)
        except LogError as error:
            self._fail(str(error))

    def _missing(self) -> list[str]:
        return [f"its log cannot be written: {self.problem}"] if self.problem else []

    def _fail(self, why: str) -> None:
        """Told once."""
        if self.problem:
            return
        self.problem = why
        for untap in self._untap[1:] if self._required else self._untap:
            untap()
        del self._untap[1 if self._required else 0 :]
        log.error("%s is not recorded: %s", self._rt.robot.name, why)
        self._rt.report_error(("recording",), f"the log {self.file or self._folder} is not written: {why}")
