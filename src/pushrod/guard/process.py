"""The guard as the runtime sees it: start it, tell it what to hold, send it heartbeats, hear when it acts or dies.

One thread does the sending and the hearing. It can send while the event loop or a control thread is stuck, so a heartbeat says how far those have
come, and the guard judges that. Everything here may be called from any thread.
"""

import logging
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from pushrod.core.errors import InputError
from pushrod.guard import __main__ as program
from pushrod.guard.judge import ARMED, SAFE
from pushrod.guard.locating import Place, place, plain_flaw
from pushrod.guard.settings import Guard, record_folder
from pushrod.guard.wire import Message, Reader, by_path, pack

log = logging.getLogger("pushrod.guard")
UNANSWERED = 2.0  # [s] of heartbeats without a sign of life: the guard is stopped, or stuck
LAPSE = 0.1  # [s] between two heartbeats that count at most: when this process was stopped, the guard was not asked anything
UNHEARD = "what for, it could not say: see its record"
SEND = 1.0  # [s] for the guard to take a message
END = 1.0  # [s] for it to end when told to


class Progress(NamedTuple):
    """Of something that must go on: `key` tells it from others, `ticks` is odd while it is inside a call, `period` 0 for what only turns."""

    key: int
    name: str
    period: float
    ticks: int


class Actuator(NamedTuple):
    """disarm: import path of its function; "" where there is nothing to make safe outside this process."""

    disarm: str
    options: dict[str, Any]


class Guarded:
    """One guard process. `progress()` gives all that must go on; `acted(why)` and `died(why)` are told, once, that it has acted or is gone.

    `planned(t)`: when to send the heartbeat that is due at t [s], a little later where that suits the process better.
    """

    def __init__(
        self,
        robot: str,
        settings: Guard,
        progress: Callable[[], Iterable[Progress]],
        acted: Callable[[str], object],
        died: Callable[[str], object],
        planned: Callable[[float], float] = float,
    ) -> None:
        self._planned = planned
        self._settings = settings
        self._progress = progress
        self._acted = acted
        self._died = died
        self._sending = threading.Lock()
        self._asked: dict[int, Future[list[str]]] = {}
        self._n = 0
        self._known: set[int] = set()
        self._held: dict[str, Actuator] = {}
        self._problems: dict[str, str] = {}  # what it could not even be told
        self._level = SAFE
        self._silence = 0.0  # [s] of heartbeats since its last sign of life
        self._last_beat = time.monotonic()
        self._silenced = ""  # why it was ended from here
        self.over = ""  # why it is not there any more
        self.acting = False
        self._line, self._process, self.fuse = _start(robot)
        self._room = select.poll()
        self._room.register(self._line, select.POLLOUT)
        folder = record_folder(robot, settings.state)
        self._tell(
            ("begin", robot, os.getpid(), float(settings.limit), float(settings.within), str(folder), [entry or os.getcwd() for entry in sys.path])
        )
        self._thread = threading.Thread(target=self._run, name=f"pushrod guard of {robot}", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def hold(self, actuators: Mapping[str, Actuator]) -> None:
        """All there are, by path, as they are now; only what has changed is sent."""
        for path in self._held.keys() - actuators.keys():
            self._tell(("drop", path))
        self._problems.clear()
        for path, actuator in actuators.items():
            try:
                where = place(actuator.disarm) if actuator.disarm else Place("", "")
                flaw = plain_flaw(actuator.options)
            except InputError as error:
                flaw = str(error)
            if flaw:
                self._problems[path] = flaw
            elif actuator != self._held.get(path):
                self._tell(("hold", path, *where, actuator.options))
        self._held = dict(actuators)

    def watch(self, level: int) -> "Future[list[str]]":
        """Look at it like this from now on. The answer is what keeps it from doing so; it comes when all that was sent before has been done."""
        future: Future[list[str]] = Future()
        if level == ARMED and self._problems:
            future.set_result(by_path(self._problems))
            return future
        with self._sending:
            self._n += 1
            n = self._n
            self._asked[n] = future
            if self._level == SAFE:
                self._silence, self._last_beat = 0.0, time.monotonic()
            self._level = level
        if self.over or not self._tell(("watch", level, n)):
            self._asked.pop(n, None)
            if not future.done():
                future.set_result([self.over or "the guard process cannot be reached"])
        return future

    def close(self) -> None:
        """In good order: it ends and does nothing."""
        self.over = self.over or "the runtime has ended"
        self._tell(("end",))
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        if self._thread is not threading.current_thread():
            self._thread.join(END)
        if not self.acting:  # else it is at work, and its thread waits for it
            self._reap()
        self._line.close()

    def _tell(self, message: Message) -> bool:
        data = pack(message)
        with self._sending:
            try:
                self._line.sendall(data)
            except OSError:
                return False
        return True

    def _run(self) -> None:
        reader = Reader()
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        due = time.monotonic()
        heard = True
        while heard:
            wait = None if self._level == SAFE else 1e3 * max(0.0, due - time.monotonic())
            if poll.poll(wait):
                heard = self._hear(reader)
            elif self._level != SAFE:
                due = self._planned(time.monotonic() + self._settings.beat)
                heard = self._beat()
        while self._hear(reader):  # what it said before it ended: perhaps that it has acted
            pass
        self._gone()

    def _hear(self, reader: Reader) -> bool:
        try:
            data = self._line.recv(65536)
        except OSError:
            data = b""
        for kind, *rest in reader.feed(data):
            self._silence = 0.0
            if kind == "told":
                future = self._asked.pop(rest[0], None)
                if future is not None:
                    future.set_result(rest[1])
            elif kind == "acting":
                self._has_acted(rest[0])
            elif kind == "acted":
                log.error("the guard is done: %s", rest[0])
        return bool(data)

    def _beat(self) -> bool:
        now = time.monotonic()
        self._silence += min(now - self._last_beat, LAPSE)
        self._last_beat = now
        if self._silence > UNANSWERED and not self._silenced:
            self._silenced = f"did not answer for {self._silence:.1f} s (it was stopped, or hung): the runtime has ended it"
            self._process.kill()
        if not self._room.poll(0):  # it reads nothing any more; to wait for room would only put off its end
            return True
        counts = []
        for each in self._progress():
            if each.key not in self._known:
                self._known.add(each.key)
                self._tell(("source", each.key, each.name, float(each.period)))
            counts.append((each.key, each.ticks))
        return self._tell(("beat", tuple(counts)))

    def _has_acted(self, why: str) -> None:
        self.acting = True
        self._end(f"the guard has disarmed it: {why}")
        log.error("the guard (pid %d) has acted: %s", self.pid, why)
        self._acted(self.over)

    def _end(self, why: str) -> None:
        self.over = self.over or why
        for n in list(self._asked):
            future = self._asked.pop(n, None)
            if future is not None:
                future.set_result([self.over])

    def _gone(self) -> None:
        """The line is down: it has ended, in whatever way."""
        said = bool(self.over)
        if not said and self.fuse[0]:
            self._has_acted(UNHEARD)
            said = True
        code = self._reap()
        how = self._silenced or (f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}")
        self._end(f"the guard process (pid {self.pid}) {how}")
        if not said:
            log.error("%s", self.over)
            self._died(self.over)

    def _reap(self) -> int:
        try:
            return self._process.wait(self._settings.within + END if self.acting else END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _start(robot: str) -> tuple[socket.socket, "subprocess.Popen[bytes]", mmap.mmap]:
    """A process in a session of its own: Ctrl-C at the terminal is not for it. It shares one byte of memory with this one, 0 until it acts."""
    if not hasattr(select, "poll") or not sys.executable:
        raise OSError("it needs a POSIX system and a Python interpreter to run it; Runtime(..., guard=False) does without")
    ours, theirs = socket.socketpair()
    memory = os.memfd_create("pushrod guard") if hasattr(os, "memfd_create") else _memory_file()
    try:
        os.ftruncate(memory, mmap.PAGESIZE)
        command = [sys.executable, "-I", "-S", str(program.__file__), str(theirs.fileno()), str(memory), robot]
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, pass_fds=(theirs.fileno(), memory), start_new_session=True)
        ours.settimeout(SEND)
        return ours, process, mmap.mmap(memory, 1)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
        os.close(memory)


def _memory_file() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
