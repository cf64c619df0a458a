"""What the guard process does: wait, look, and where the process with the motors is dead, call every disarm function and write down what came of it.

It acts, where the motors may be armed, on silence (see `judge`), on the end of the other process for any reason, and on a termination signal
of its own. It is in a session of its own, so that Ctrl-C at the terminal reaches the other process alone, which then disarms in good order. The
first thing it does is to blow a fuse in memory that both share: a process that was only stopped finds its gates closed before its first command.
"""

import gc
import mmap
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any

from pushrod import guard
from pushrod.guard import record_file
from pushrod.guard.holding import Holding
from pushrod.guard.judge import SAFE, Watch, beat, looked_at, patience, verdict
from pushrod.guard.wire import Message, Reader, by_path, pack

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
ALIVE = 0.05  # [s] between two signs of life of its own
AT_ONCE = 0.1  # [s] for the disarm functions alone; a disk that is kept busy with a record could hold up one that writes


class Orderly(Exception):  # noqa: N818 (an end, not a mistake)
    """The other process has said that it ends, or ended with nothing armed."""


class Child:
    def __init__(self, line: socket.socket, fuse: mmap.mmap) -> None:
        self._line = line
        self._fuse = fuse
        self._reader = Reader()
        self._holding = Holding()
        self._names: dict[int, tuple[str, float]] = {}
        self._watch = Watch(limit=1.0)
        self._signals: list[int] = []
        self._ended = False
        self._alive = 0.0  # when it last gave a sign of life
        self._about: dict[str, Any] = {}
        self._folder = ""
        self._within = 5.0  # [s] for each disarm function
        self._problem = ""

    def run(self) -> None:
        """Until there is a reason to act, or none any more to be there."""
        wake, woken = socket.socketpair()
        wake.setblocking(False)
        for number in SIGNALS:
            signal.signal(number, lambda number, frame: self._signals.append(number))
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        for each in (self._line, woken):
            poll.register(each, select.POLLIN)
        why = ""
        try:
            while not why:
                wait = patience(self._watch, time.monotonic())
                poll.poll(None if wait is None else 1e3 * wait)
                with suppress(BlockingIOError):
                    woken.recv(4096, socket.MSG_DONTWAIT)
                self._read(poll)
                why = self._why()
        except Orderly:
            return
        except BaseException as error:
            if self._watch.level == SAFE:
                raise
            why = f"the guard itself failed: {type(error).__name__}: {error}"
        self._act(why)

    def _read(self, poll: Any) -> None:
        """All that has come, before anything is judged: what waits here while this process waited for a core is no silence."""
        while not self._ended:
            try:
                data = self._line.recv(65536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._ended = True
            for message in self._reader.feed(data):
                self._take(message, poll)

    def _take(self, message: Message, poll: Any) -> None:
        kind, *rest = message
        now = time.monotonic()
        if kind == "beat":
            self._watch = beat(self._watch, self._names, dict(rest[0]), now)
            if now - self._alive > ALIVE:
                self._alive = now
                self._say(("alive",))
        elif kind == "source":
            key, name, period = rest
            self._names[key] = name, period
        elif kind == "watch":
            level, n = rest
            problems = [*filter(None, [self._problem]), *by_path(self._holding.problems)]
            if not problems or level < self._watch.level:
                self._watch = looked_at(self._watch, level, now)
            self._say(("told", n, problems))
        elif kind == "echo":
            self._say(("told", rest[0], []))
        elif kind == "hold":
            self._holding.hold(*rest)
        elif kind == "drop":
            self._holding.drop(*rest)
        elif kind == "begin":
            robot, parent, limit, self._within, self._folder, sys.path[:] = rest
            self._watch = Watch(limit)
            self._about = {"robot": robot, "process": parent, "guard": os.getpid(), "limit": limit}
            self._problem = record_file.probe(self._folder)
            with suppress(AttributeError, OSError):  # its end is noticed even where a child of it keeps the socket open
                poll.register(os.pidfd_open(parent), select.POLLIN)
        elif kind == "end":
            raise Orderly

    def _why(self) -> str:
        parent = self._about.get("process")
        if self._ended or (parent and os.getppid() != parent):
            why = f"the process with the motors (pid {parent}) has ended"
        elif self._signals:
            why = f"the guard was sent {signal.Signals(self._signals[0]).name}"
        else:
            return verdict(self._watch, time.monotonic())
        if self._watch.level == SAFE:
            raise Orderly
        return why

    def _act(self, why: str) -> None:
        began = time.monotonic()
        self._fuse[0] = 1
        self._holding.go()
        self._say(("acting", why))
        wall = time.time()
        file = record_file.new_file(self._folder, wall, os.getpid())
        about = {**self._about, "why": why, "time": wall}

        def record(state: str) -> str:
            try:
                record_file.write(
                    file, {**about, "state": state, "seconds": round(time.monotonic() - began, 6), "actuators": self._holding.results()}
                )
            except OSError as error:
                return f"no record could be written: {error}"
            return file

        if not self._holding.wait(began + AT_ONCE):
            record("acting")
            self._holding.wait(began + self._within)
        written = record("done")
        if written is file:  # it says more than the marker of the arming, which has served
            with suppress(OSError):
                os.unlink(record_file.marker(self._folder, self._about.get("process", 0)))
        self._say(("acted", written))

    def _say(self, message: Message) -> None:
        """To whom may be dead, or stopped: never waits."""
        with suppress(OSError):
            self._line.send(pack(message))


def main(line: int, memory: int) -> None:
    guard.INSIDE = True
    with suppress(OSError):  # where it may: ahead of others for a core, and the last to go when memory runs out
        os.nice(-10)
    with suppress(OSError, AttributeError):  # the policy is that of the process it guards; where that one is real-time, ahead of it
        policy, priority = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
        if priority:
            os.sched_setscheduler(0, policy, os.sched_param(min(priority + 1, os.sched_get_priority_max(policy))))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    sys.setswitchinterval(1e-3)
    gc.disable()
    sock = socket.socket(fileno=line)
    sock.setblocking(False)
    fuse = mmap.mmap(memory, 1)
    os.close(memory)
    Child(sock, fuse).run()
    os._exit(0)  # without waiting for a function that hangs
