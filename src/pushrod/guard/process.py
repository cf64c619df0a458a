"""The guard as the runtime sees it: start it, send it what to hold and heartbeats, notice when it acts or dies.

One thread does all sending and receiving, and never waits for the guard: what the socket does not take stays in a buffer. Everything here may be
called from any thread and returns at once; no lock is taken. The thread runs while the event loop or a control thread is stuck, so a heartbeat
carries how far those have come, and the guard judges that.
"""

import itertools
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
from queue import SimpleQueue
from typing import Any, NamedTuple

from pushrod.core.errors import InputError
from pushrod.guard import __main__ as program
from pushrod.guard.judge import ARMED, SAFE
from pushrod.guard.locating import Place, place, plain_flaw
from pushrod.guard.settings import Guard, record_folder
from pushrod.guard.wire import Message, Reader, by_path, pack

log = logging.getLogger("pushrod.guard")
UNANSWERED = 0.35  # [s] of heartbeats without a sign of life: the guard is stopped, or stuck; whatever its own limit is
LAPSE = 0.05  # [s] between two heartbeats that count at most: while this thread did not run, it neither asked the guard nor received an answer
UNHEARD = "the reason did not arrive: see its record"
END = 1.0  # [s] for it to end after it was asked to
REAPED = 0.02  # [s] for the exit code of one whose socket has closed


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
        self._outbox: SimpleQueue[bytes] = SimpleQueue()
        self._unsent = b""
        self._bell, self._rung = socket.socketpair()
        self._closing = False
        self._asked: dict[int, Future[list[str]]] = {}
        self._n = itertools.count(1)
        self._known: set[int] = set()
        self._held: dict[str, Actuator] = {}
        self._problems: dict[str, str] = {}  # what could not be sent to it
        self._level = SAFE
        self._silence = 0.0  # [s] of heartbeats since its last sign of life
        self._last_beat = time.monotonic()
        self._answering = False  # since it was asked to look: one that still imports disarm functions is not missed, and nothing is armed yet
        self._silenced = ""  # why it was ended from here
        self.over = ""  # why it is not there any more
        self.acting = False
        self._line, self._process, self.fuse = _start(robot)
        for end in (self._line, self._bell, self._rung):
            end.setblocking(False)
        folder = record_folder(robot, settings.state)
        self._send(
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
            self._send(("drop", path))
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
                self._send(("hold", path, *where, actuator.options))
        self._held = dict(actuators)

    def settle(self, timeout: float) -> None:
        """Wait until the guard has done all that was sent before, or the time is up."""
        if not self.over:
            future: Future[list[str]] = Future()
            n = next(self._n)
            self._asked[n] = future
            self._send(("echo", n))
            with suppress(TimeoutError):
                future.result(timeout)

    def watch(self, level: int) -> "Future[list[str]]":
        """Look at it like this from now on. The answer is what keeps it from doing so; it comes when all that was sent before has been done."""
        future: Future[list[str]] = Future()
        if level == ARMED and self._problems:
            future.set_result(by_path(self._problems))
            return future
        n = next(self._n)
        self._asked[n] = future
        if self._level == SAFE:
            self._silence, self._answering, self._last_beat = 0.0, False, time.monotonic()
        self._level = level
        self._send(("watch", level, n))
        if self.over:
            self._asked.pop(n, None)
            if not future.done():
                future.set_result([self.over])
        return future

    def close(self) -> None:
        """End it in good order: it does nothing more."""
        self.over = self.over or "the runtime has ended"
        self._send(("end",))
        self._closing = True
        self._ring()
        if self._thread is not threading.current_thread():
            self._thread.join(END)
        if not self.acting:  # else it is at work, and its thread waits for it
            self._reap(END)
        for end in (self._line, self._bell, self._rung):
            end.close()

    def disown(self) -> None:
        """Close what a forked child inherited of the connection, which is its parent's."""
        self.over = "this process is a fork of the one that is guarded"
        for end in (self._line, self._bell, self._rung):
            end.close()

    def _send(self, message: Message) -> None:
        self._outbox.put(pack(message))
        self._ring()

    def _ring(self) -> None:
        with suppress(OSError):  # a bell that is full has been rung
            self._bell.send(b"\0")

    def _run(self) -> None:
        reader = Reader()
        poll = select.poll()
        poll.register(self._rung, select.POLLIN)
        due = time.monotonic()
        heard = True
        while heard and not (self._closing and not self._unsent and self._outbox.empty()):
            poll.register(self._line, select.POLLIN | (select.POLLOUT if self._unsent else 0))
            wait = None if self._level == SAFE else 1e3 * max(0.0, due - time.monotonic())
            ready = {fd for fd, _ in poll.poll(wait)}
            with suppress(BlockingIOError):
                self._rung.recv(4096)
            if self._line.fileno() in ready:
                heard = self._hear(reader)
            if self._level != SAFE and time.monotonic() >= due:
                due = self._planned(time.monotonic() + self._settings.beat)
                self._beat()
            heard = self._flush() and heard
        while self._hear(reader):  # what it sent before it ended: perhaps that it has acted
            if not select.select([self._line], [], [], END)[0]:
                break
        self._gone()

    def _flush(self) -> bool:
        """Send what the socket takes; False where the connection is gone."""
        parts = [self._unsent]
        while not self._outbox.empty():
            parts.append(self._outbox.get())
        data = b"".join(parts)
        try:
            self._unsent = data[self._line.send(data) :] if data else b""
        except BlockingIOError:
            self._unsent = data
        except OSError:
            return False
        return True

    def _hear(self, reader: Reader) -> bool:
        try:
            data = self._line.recv(65536)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        for kind, *rest in reader.feed(data):
            self._silence, self._answering = 0.0, True
            if kind == "told":
                future = self._asked.pop(rest[0], None)
                if future is not None:
                    future.set_result(rest[1])
            elif kind == "acting":
                self._has_acted(rest[0])
            elif kind == "acted":
                log.error("the guard is done: %s", rest[0])
        return bool(data)

    def _beat(self) -> None:
        now = time.monotonic()
        if self._answering:
            self._silence += min(now - self._last_beat, LAPSE)
        self._last_beat = now
        if self._silence > UNANSWERED and not self._silenced and not self.acting:  # one that acts gives no sign of life until it is done
            self._silenced = f"did not answer for {self._silence:.1f} s (it was stopped, or hung): the runtime has ended it"
            self._lost(f"the guard process (pid {self.pid}) {self._silenced}")
            self._process.kill()
        if self._unsent:  # it reads nothing any more: another heartbeat would only wait behind this one
            return
        counts = []
        for each in self._progress():
            if each.key not in self._known:
                self._known.add(each.key)
                self._outbox.put(pack(("source", each.key, each.name, float(each.period))))
            counts.append((each.key, each.ticks))
        self._outbox.put(pack(("beat", tuple(counts))))

    def _has_acted(self, why: str) -> None:
        self.acting = True
        self._end(f"the guard has disarmed it: {why}")
        self._acted(self.over)
        log.error("the guard (pid %d) has acted: %s", self.pid, why)

    def _end(self, why: str) -> None:
        self.over = self.over or why
        for n in list(self._asked):
            future = self._asked.pop(n, None)
            if future is not None:
                future.set_result([self.over])

    def _lost(self, why: str) -> None:
        """It is not there any more, without having acted: disarm, before anything else."""
        if not self.over:
            self.over = why
            self._died(why)
            self._end(why)

    def _gone(self) -> None:
        """The connection is closed: it has ended, in whatever way."""
        if not self.over and self.fuse[0]:
            self._has_acted(UNHEARD)
        if not self.over:
            code = self._exit_code(REAPED)
            how = (
                "has closed its connection"
                if code is None
                else f"was ended by {signal.Signals(-code).name}"
                if code < 0
                else f"ended with exit code {code}"
            )
            self._lost(f"the guard process (pid {self.pid}) {how}")
        self._end(self.over)
        self._reap(self._settings.within + END if self.acting else END)

    def _exit_code(self, timeout: float) -> int | None:
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def _reap(self, timeout: float) -> None:
        if self._exit_code(timeout) is None:
            self._process.kill()
            self._process.wait()


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
