"""The guard of a runtime: what it holds, what must make progress, what follows when it acts or dies, and the records it left.

The event loop counts as alive while it turns, and while commands of its own thread act: a program that keeps the loop to itself but goes on
commanding is not stuck. What counts for a control loop is in `guard/judge.py`.
"""

import asyncio
import itertools
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from typing import Any

from pushrod.guard.judge import ARMED, SAFE, TURNS
from pushrod.guard.process import Actuator, Guarded, Progress
from pushrod.guard.record import Record, acknowledge, waiting
from pushrod.guard.settings import Guard
from pushrod.runtime.cadence import Cadence
from pushrod.runtime.gaps import Gaps
from pushrod.runtime.host import Host

log = logging.getLogger("pushrod.guard")
START = 20.0  # [s] for a guard to have imported every disarm function
ANSWER = 1.0  # [s] for one that is ready
SWITCHED_OFF = "without a guard, as asked: nothing disarms it should this process die or hang"
STEPPED = "no guard on a stepped clock: nothing real moves"


class Guarding:
    """`settings` None: no guard, `off` says why. `disarm(why)` and `fault(why)` are those of arming; `report(path, error)` tells observers."""

    def __init__(
        self,
        robot: str,
        hosts: Sequence[Host],
        settings: Guard | None,
        off: str,
        disarm: Callable[[str], Any],
        fault: Callable[[str], Any],
        report: Callable[[tuple[str, ...], str], None],
    ) -> None:
        self._robot = robot
        self._hosts = hosts
        self._settings = settings if hosts else None
        self._state = settings.state if settings is not None else None  # the folder of its records
        self.off = off
        self._disarm = disarm
        self._fault = fault
        self._report = report
        self._guard: Guarded | None = None
        self._trouble = ""  # that kept it from being started
        self._keys = itertools.count(1)
        self._loops: dict[int, Cadence] = {}
        self._blocking = {next(self._keys): host for host in hosts if host.slot is not None}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0  # of the event loop
        self._turns = 0
        self._turning = False
        self._level = SAFE
        self._changing = threading.Lock()

    def __str__(self) -> str:
        if self._settings is None:
            return self.off
        guard = self._guard
        if guard is None or guard.over:
            return f"not there: {self._trouble or (guard.over if guard is not None else 'the runtime is not running')}"
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
        """Look this closely from now on; gives what keeps the guard from it."""
        if self._settings is None:
            return []
        with self._changing:
            if level == ARMED:
                return self._begin(self._settings)
            self._level = level
            if self._guard is not None:
                self._guard.watch(level)
            return []

    def add(self, cadence: Cadence) -> None:
        """A loop that must go on until it is stopped."""
        self._loops[next(self._keys)] = cadence

    def refresh(self) -> None:
        """Options may have changed."""
        with self._changing:
            if self._guard is not None and not self._guard.over:
                self._guard.hold(self._actuators())

    def missing(self) -> list[str]:
        """What it did before and nobody has acknowledged."""
        if self.off == STEPPED:
            return []
        with suppress(OSError):  # a folder that is only read; what is harmless keeps nobody from arming
            for record in acknowledge(self._robot, self._state, harmless=True):
                log.warning("%s; nothing is left to look at", record)
        where = f" --state {self._state}" if self._state is not None else ""
        how = f"look at the robot, then run on {socket.gethostname()}, which drives it: pushrod acknowledge {self._robot!r}{where}"
        records = [record for record in waiting(self._robot, self._state) if not record.harmless]
        return [f"{record}; {how} (in its own program: rt.acknowledge())" for record in records]

    def acknowledge(self) -> list[Record]:
        return acknowledge(self._robot, self._state)

    def close(self) -> None:
        self._settings = None
        self._level = SAFE
        if self._guard is not None:
            self._guard.close()
            self._guard = None
            self._lay_fuse(b"\0")

    def _start(self, settings: Guard) -> None:
        self._trouble = ""
        try:
            gaps = Gaps(lambda: list(self._loops.values()))
            guard = Guarded(self._robot, settings, self._progress, self._acted, self._died, gaps.planned)
        except OSError as error:
            self._trouble = f"the guard process could not be started: {error}"
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
            return [self._trouble]
        guard.hold(self._actuators())  # who was left out at the start is known by now
        self._level = ARMED
        try:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._turn_on)
            problems = guard.watch(ARMED).result(patience)
        except RuntimeError:
            problems = ["the event loop of this runtime is closed"]
        except Late:
            problems = [f"the guard process (pid {guard.pid}) is not ready: it is still importing disarm functions, or was stopped"]
        if problems:
            self._level = SAFE
            guard.watch(SAFE)
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
        self._report(("guard",), why)
        self._fault(why)

    def _died(self, why: str) -> None:
        if self._level != SAFE:
            self._report(("guard",), f"{why}: disarmed")
            self._disarm(f"{why}: nobody would disarm in an emergency")


def disarm_options(host: Host) -> dict[str, Any]:
    """With robot and path, so that a disarm function knows which of several equal actuators is meant."""
    return {**host.part.whole_options, "robot": host.robot, "path": list(host.path)}
