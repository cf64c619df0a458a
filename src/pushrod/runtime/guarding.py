"""The guard of a runtime: what it holds, what must make progress, what follows when it acts or dies, and the records that are left.

The event loop counts as alive while it turns, and while commands of its own thread act: a program that keeps the loop to itself but goes on
commanding is not stuck. What counts for a control loop is in `guard/judge.py`.

Before a robot with real motors is armed, a marker is on the disk; it is removed once the robot is disarmed and safe. A marker of a process that has
ended requires acknowledgement, as anything the guard did.
"""

import asyncio
import itertools
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from pushrod.core.running import started
from pushrod.guard import record_file
from pushrod.guard.judge import ARMED, SAFE, TURNS
from pushrod.guard.process import Actuator, Guarded, Progress
from pushrod.guard.record import Record, acknowledge, armed_by, not_proven_safe, note_safe, waiting
from pushrod.guard.settings import Guard, record_folder
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.gaps import Gaps
from pushrod.runtime.gate import INTACT
from pushrod.runtime.host import Host

log = logging.getLogger("pushrod.guard")
START = 20.0  # [s] for a guard to have imported every disarm function
ANSWER = 1.0  # [s] for one that is ready
SETTLED = 0.2  # [s] that a change of a parameter waits for it
SWITCHED_OFF = "guard disabled: actuators stay powered if this process dies or hangs"
STEPPED = "no guard on a stepped clock: nothing real moves"


class Unrecorded(NamedTuple):
    """The loss of a guard while the robot was armed, until its record is on the disk."""

    why: str
    file: str = ""
    record: Mapping[str, Any] = MappingProxyType({})


class Guarding:
    """`settings` None: no guard, `off` says why.

    fault(why)          begins to disarm all, to stay in error; returns at once
    settled()           waits for that, and returns what could not be made safe, by path
    report(path, error) publishes an error, on the report thread; so does notify(call)
    """

    def __init__(
        self,
        robot: str,
        hosts: Sequence[Host],
        settings: Guard | None,
        off: str,
        fault: Callable[[str], Any],
        settled: Callable[[], Mapping[str, str]],
        report: Callable[[tuple[str, ...], str], None],
        notify: Callable[[Callable[[], object]], None],
    ) -> None:
        self._robot = robot
        self._hosts = hosts
        self._settings = settings if hosts else None
        self._state = settings.state if settings is not None else None  # the folder of its records
        self.off = off
        self._fault = fault
        self._settled = settled
        self._report = report
        self._notify = notify
        self._guard: Guarded | None = None
        self._problem = ""  # that kept it from being started
        self._keys = itertools.count(1)
        self._loops: dict[int, Cadence] = {}
        self._blocking = {next(self._keys): host for host in hosts if host.slot is not None}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0  # of the event loop
        self._turns = 0
        self._turning = False
        self._level = SAFE
        self._changing = threading.Lock()
        self._marking = threading.Lock()
        self._marked = False
        self._unproven = False  # acknowledged records do not prove it safe
        self._unrecorded: Unrecorded | None = None  # what happened without a record of it
        self._recording = threading.Lock()

    def __str__(self) -> str:
        if self._settings is None:
            return self.off
        guard = self._guard
        if guard is None or guard.over:
            return f"not there: {self._problem or (guard.over if guard is not None else 'the runtime is not running')}"
        return f"{'watching' if self._level == ARMED else 'ready'}, pid {guard.pid}, limit {self._settings.limit:g} s"

    def open(self) -> None:
        """Start it; what it holds is imported there while drivers are started here."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        if self._settings is not None:
            self._start(self._settings)

    async def ready(self) -> None:
        """Until it has imported all disarm functions; what it could not do is told by `arm`."""
        if self._guard is not None:
            await asyncio.wait([asyncio.wrap_future(self._guard.watch(SAFE))], timeout=START)

    def watch(self, level: int) -> list[str]:
        """Set how closely the guard looks from now on. ARMED waits for its answer, and returns what is in the way; all else returns at once."""
        if level != ARMED:
            self._level = level
            guard = self._guard
            if guard is not None:
                guard.watch(level)
            if level == SAFE and self._marked:
                self._notify(self._unmark)
            if level == SAFE and self._unproven:
                self._notify(self._note_safe)
            return []
        with self._changing:
            before, self._level = self._level, ARMED
            problems = self._mark() or (self._begin(self._settings) if self._settings is not None else [])
            if problems and before != ARMED and self._level == ARMED:  # else a stop has lowered it meanwhile
                self.watch(before)
        return problems

    def add(self, cadence: Cadence) -> None:
        """A loop that must go on until it is stopped."""
        self._loops[next(self._keys)] = cadence

    def refresh(self) -> None:
        """Options may have changed."""
        with self._changing:
            if self._guard is not None and not self._guard.over:
                self._guard.hold(self._actuators())
                self._guard.settle(SETTLED)  # a value that was set is the one the guard disarms with

    def missing(self) -> list[str]:
        """Return what happened before and is unacknowledged."""
        if self.off == STEPPED:
            return []
        with suppress(OSError):  # a folder that is only read; what is harmless prevents no arming
            for record in acknowledge(self._robot, self._state, harmless=True):
                log.warning("%s; nothing is left to look at", record)
        self._write_record()  # the folder may be writable again
        where = f" --state {self._state}" if self._state is not None else ""
        how = f"inspect the robot, then run on {socket.gethostname()}: pushrod acknowledge {self._robot!r}{where}"
        records = [record for record in waiting(self._robot, self._state) if not record.harmless]
        missing = [f"{record}; {how} (from Python: rt.acknowledge())" for record in records]
        missing += [f"{record}; disarm it there" for record in self._armed_elsewhere()]
        lost = self._unrecorded
        if lost is not None:
            missing.append(f"{lost.why}, and no record of it can be written to {self._folder}. Make the folder writable, arm again, and acknowledge")
        return missing

    def not_proven_safe(self) -> str:
        """Return why motors may still be powered since the robot was armed last; "" where its records prove that it was made safe."""
        if self.off == STEPPED or not self._real():
            return ""
        with suppress(OSError):
            why = not_proven_safe(self._robot, self._state)
            self._unproven = bool(why)
            return why
        return ""

    def armed_elsewhere(self) -> bool:
        """Whether another process that runs has this robot armed."""
        return self.off != STEPPED and bool(self._armed_elsewhere())

    def _armed_elsewhere(self) -> list[Record]:
        return [record for record in armed_by(self._robot, self._state) if record.process != os.getpid()]

    def note_end(self, failures: Mapping[str, str]) -> None:
        """Write into the marker what could not be made safe at the end."""
        if failures and self._marked:
            with suppress(OSError), self._marking:
                self._write_marker("left without being proven safe: " + "; ".join(f"{name}: {why}" for name, why in failures.items()))

    def acknowledge(self) -> list[Record]:
        self._unrecorded = None
        records = acknowledge(self._robot, self._state)
        self._unproven = self._unproven or any(not record.is_safe for record in records)
        return records

    def _note_safe(self) -> None:
        """Every disarm function has succeeded, so the robot is safe whatever its records hold, unless it was armed again meanwhile."""
        if self._level == SAFE:
            self._unproven = False
            with suppress(OSError):
                note_safe(self._robot, self._state)

    def close(self) -> None:
        self._settings = None
        self._level = SAFE
        if self._guard is not None:
            self._guard.close()
            self._guard = None
            self._lay_fuse(INTACT)

    def disown(self) -> None:
        """In a forked child: the guard is the parent's."""
        self._settings = None
        self._marked = False
        if self._guard is not None:
            self._guard.disown()
            self._guard = None

    def _mark(self) -> list[str]:
        """Write the marker of this arming; return what prevents it. A robot whose motors are all simulated in this process needs none."""
        if self.off == STEPPED or not self._real():
            return []
        try:
            with self._marking:
                os.makedirs(self._folder, exist_ok=True)
                self._write_marker("")
                self._marked = True
            others = self._armed_elsewhere()  # looked at after the own marker is there: of two processes at least one sees the other
            if others:
                self._unmark_now()
                return [f"{record}; disarm it there" for record in others]
        except OSError as error:
            with suppress(OSError):  # nothing was armed, so nothing is left behind
                os.unlink(f"{record_file.marker(self._folder, os.getpid())}{record_file.NEW}")
            where = f"{self._folder}: {error.strerror or error}"
            return [f"no marker of the arming can be written to {where}; name another folder: PUSHROD_STATE, or Guard(state=...)"]
        return []

    def _write_marker(self, why: str) -> None:
        about = {"robot": self._robot, "process": os.getpid(), "started": started(os.getpid()), "time": time.time(), "why": why}
        actuators = {name: {"disarm": host.part.driver.disarm, "result": "unknown"} for name, host in self._real().items()}
        record_file.write(record_file.marker(self._folder, os.getpid()), {**about, "state": "armed", "actuators": actuators})

    def _unmark(self) -> None:
        """Remove the marker: the robot is disarmed and safe, unless it was armed again meanwhile."""
        with self._marking:
            if self._level == SAFE and self._marked and self._unrecorded is None:
                self._unmark_now()

    def _unmark_now(self) -> None:
        self._marked = False
        with suppress(OSError):
            os.unlink(record_file.marker(self._folder, os.getpid()))

    @property
    def _folder(self) -> str:
        return str(record_folder(self._robot, self._state))

    def _real(self) -> dict[str, Host]:
        return {host.name: host for host in self._hosts if not (host.part.skipped or host.part.driver.in_process)}

    def _start(self, settings: Guard) -> None:
        self._problem = ""
        try:
            gaps = Gaps(lambda: list(self._loops.values()))
            guard = Guarded(self._robot, settings, self._progress, self._acted, self._died, gaps.planned)
        except OSError as error:
            self._problem = f"the guard process could not be started: {error}"
            return
        self._guard = guard
        guard.hold(self._actuators())
        self._lay_fuse(memoryview(guard.fuse))

    def _begin(self, settings: Guard) -> list[str]:
        guard, patience = self._guard, ANSWER
        if guard is None or guard.over:
            if guard is not None:
                guard.close()
            self._start(settings)
            guard, patience = self._guard, START
        if guard is None:
            return [self._problem]
        guard.hold(self._actuators())  # which were left out at the start is known by now
        try:
            assert self._loop is not None
            answer = guard.watch(ARMED)
            self._loop.call_soon_threadsafe(self._turn_on)
            problems = answer.result(patience)
        except RuntimeError:
            problems = ["the event loop of this runtime is closed"]
        except Late:
            problems = [f"the guard process (pid {guard.pid}) is not ready: it is still importing disarm functions, or was stopped"]
        return problems

    def _actuators(self) -> dict[str, Actuator]:
        """One that asked to be left out has no hardware to make safe."""
        parts = {host.name: (host, host.part) for host in self._hosts if not host.part.skipped}
        return {
            name: Actuator("", {}) if part.driver.in_process else Actuator(part.driver.disarm, disarm_options(host))
            for name, (host, part) in parts.items()
        }

    def _lay_fuse(self, fuse: Sequence[int]) -> None:
        for host in self._hosts:
            host.gate.fuse = fuse

    def _turn_on(self) -> None:
        if not self._turning:
            self._turning = True
            self._turn()

    def _turn(self) -> None:
        self._turns += 1
        self._turning = self._level == ARMED and self._settings is not None
        if self._turning and self._loop is not None and self._settings is not None:
            self._loop.call_later(self._settings.beat, self._turn)

    def _progress(self) -> Iterator[Progress]:
        commands = sum(host.gate.acted for host in self._hosts if host.gate.actor == self._thread)
        yield Progress(0, "the event loop", TURNS, 2 * (self._turns + commands))
        for key, cadence in list(self._loops.items()):
            if cadence.stopping:
                del self._loops[key]
            else:
                yield Progress(key, f"the loop {cadence.name}", cadence.period, cadence.progress)
        for key, host in self._blocking.items():  # one that waits for a command, is out or is being set up is not missed
            progress = host.slot.progress if host.slot is not None else 0
            if progress % 2 and host.gate.epoch and not host.part.stopped and self._settings is not None:
                yield Progress(key, f"the driver of {host.name}", 0.5 * self._settings.call, progress)

    def _acted(self, why: str) -> None:
        self._fault(why)
        self._report(("guard",), why)

    def _died(self, why: str) -> None:
        if self._level == SAFE:
            return
        self._unrecorded = Unrecorded(why)  # until its record is written, the marker stays
        self._fault(f"{why}: nothing would disarm the robot if this process failed")
        self._report(("guard",), f"{why}: disarmed")
        self._record(why)

    def _record(self, why: str) -> None:
        """Write down that the guard was lost while the robot was armed: what this process did about it, in the guard's place."""
        began, wall = time.monotonic(), time.time()
        failures = self._settled()
        actuators = {
            host.name: {
                "disarm": "" if host.part.driver.in_process else host.part.driver.disarm,
                "result": "in the process" if host.part.driver.in_process else "failed" if host.name in failures else "ok",
                "detail": failures.get(host.name, ""),
            }
            for host in self._hosts
            if not host.part.skipped
        }
        about = {"robot": self._robot, "process": os.getpid(), "guard": 0, "seconds": round(time.monotonic() - began, 6), "time": wall}
        file = record_file.new_file(self._folder, wall, os.getpid())
        self._unrecorded = Unrecorded(why, file, {**about, "why": why, "state": "done", "actuators": actuators})
        if problem := self._write_record():
            log.error("no record could be written that %s: %s", why, problem)

    def _write_record(self) -> str:
        """Write what is not recorded yet; return what prevents it. Until then the marker of the arming stays, and arming is refused."""
        with self._recording:
            lost = self._unrecorded
            if lost is None or not lost.record:
                return ""
            try:
                os.makedirs(self._folder, exist_ok=True)
                record_file.write(lost.file, lost.record)
            except OSError as error:
                with suppress(OSError):
                    os.unlink(f"{lost.file}{record_file.NEW}")
                return error.strerror or str(error)
            self._unrecorded = None
        self._unmark()
        return ""


def disarm_options(host: Host) -> dict[str, Any]:
    """With robot and path, so that a disarm function knows which of several equal actuators is meant."""
    return {**host.part.whole_options, "robot": host.robot, "path": list(host.path)}
