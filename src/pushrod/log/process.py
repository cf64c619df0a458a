"""A log that another process writes, as seen from the one that is recorded: frames out, never waiting for the disk; word back of what went wrong.

Used by one thread alone. `put` and its like only gather; `send` hands over what was gathered, as far as the other side takes it.
"""

import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pushrod.log import __main__ as program
from pushrod.log.frame import ATTACH, BEGIN, CHANNEL, END, FLUSH, HEAD, MESSAGE, METADATA, ROW, ROWS, frame
from pushrod.log.row import Shape
from pushrod.log.writer import PROFILE, Attachment

log = logging.getLogger("pushrod.log")
BUFFER = 4 * 1024 * 1024  # bytes that may be on their way: what the other process gets even where this one dies
CLOSING = 5.0  # [s] for the other process to write the rest and end


class LogProcess:
    """`problem` says why nothing is written any more; `written` is what the files hold in the end. `part`: bytes after which a file is continued in
    another one; `files` are all of them."""

    def __init__(self, file: Path, metadata: Mapping[str, Mapping[str, str]], attachments: Sequence[Attachment], ns: int, part: int) -> None:
        self.file = file
        self.files = [file]
        self.problem = ""
        self.ready = False
        self.written: int | None = None
        self.count = 0  # messages handed over
        self.gathered = 0  # bytes of messages that are not handed over yet
        self.lost = 0  # messages that the writer could not write
        self._channels = 0
        self._widths: list[int] = []  # of each row, how many messages it becomes
        self._heard = b""
        self._unsent: list[bytes] = []
        self._rest = memoryview(b"")
        self._line, self._process = _start()
        path = [entry or os.getcwd() for entry in sys.path]
        self._tell(BEGIN, {"path": path, "file": str(file.absolute()), "profile": PROFILE, "process": os.getpid(), "part": part})
        for name, entries in metadata.items():
            self._tell(METADATA, {"name": name, "entries": dict(entries)})
        for item in attachments:
            self._tell(ATTACH, {**item._asdict(), "ns": ns})

    @property
    def pid(self) -> int:
        return self._process.pid

    def open(self, topic: str, name: str, schema: Mapping[str, Any], metadata: Mapping[str, str]) -> int:
        """A topic; `name` is that of its schema."""
        channel = self._channels
        self._tell(CHANNEL, {"topic": topic, "name": name, "schema": schema, "metadata": dict(metadata)}, channel)
        self._channels += 1
        return channel

    def open_rows(self, parts: Sequence[tuple[int, Shape, int]]) -> int:
        """Rows of numbers, each of which becomes a message of several topics: (topic, where its numbers are, ns to add to the time)."""
        self._tell(ROWS, parts, len(self._widths))
        self._widths.append(len(parts))
        return len(self._widths) - 1

    def put(self, channel: int, ns: int, message: bytes) -> None:
        self._unsent += (HEAD.pack(MESSAGE, channel, ns, len(message)), message)
        self.gathered += len(message)
        self.count += 1

    def put_row(self, rows: int, ns: int, row: bytes) -> None:
        self._unsent += (HEAD.pack(ROW, rows, ns, len(row)), row)
        self.count += self._widths[rows]

    def flush(self) -> None:
        self._unsent.append(frame(FLUSH))

    def begin(self, limit: float) -> bool:
        """Wait until the file is open; False where it cannot be, see `problem`."""
        end = time.monotonic() + limit
        while self.send(limit) and not self.ready and time.monotonic() < end:
            if _ready(self._line, select.POLLIN, end - time.monotonic()):
                self._listen()
        if not self.ready and not self.problem:
            self.problem = f"the writer (pid {self.pid}) was not there within {limit:g} s"
        if self.problem:
            self.close()
        return self.ready and not self.problem

    def send(self, wait: float) -> bool:
        """Whether all is handed over; else the rest is kept for the next time. Waits so long [s] for the other side to take some."""
        if not self._rest:
            self._rest = memoryview(b"".join(self._unsent))
            self._unsent.clear()
            self.gathered = 0
        self._listen()
        while self._rest and not self.problem:
            try:
                self._rest = self._rest[self._line.send(self._rest) :]
            except BlockingIOError:
                if not _ready(self._line, select.POLLOUT, wait):
                    return False
            except OSError:
                self._listen()
                self._gone()
        return not self.problem

    def close(self) -> None:
        """The rest is written and the file is whole, if it can be."""
        self._unsent.append(frame(END))
        if self.send(CLOSING):  # what was kept back goes first
            self.send(CLOSING)
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        while not self.problem and self.written is None and _ready(self._line, select.POLLIN, CLOSING):
            if not self._listen():
                self._gone()
        if self.written is None and not self.problem:
            self.problem = f"the writer (pid {self.pid}) does not come to an end; it is left to itself"
        self._line.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.0 if self.written is None and not self.problem else 1.0)

    def _tell(self, kind: int, what: Any, which: int = 0) -> None:
        self._unsent.append(frame(kind, which, 0, json.dumps(what).encode()))

    def _listen(self) -> bool:
        """Take what it says; False where it has ended."""
        try:
            data = self._line.recv(65536)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            self.ready = self.ready or "ready" in said
            self.written = said.get("written", self.written)
            self.problem = self.problem or said.get("failed", "")
            self.lost = said.get("lost", self.lost)
            self.files += [self.file.with_name(Path(said["part"]).name)] if "part" in said else []
            if "odd" in said:
                log.warning("a message cannot be written to %s and is dropped: %s", self.file, said["odd"])
        if not data and self.written is None:
            self._gone()
        return bool(data)

    def _gone(self) -> None:
        if self.problem:
            return
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.problem = f"the writer (pid {self.pid}) takes nothing any more"
            return
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self.problem = f"the writer (pid {self.pid}) {how}"


def _start() -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    """A process in a session of its own: Ctrl-C at the terminal is not for it."""
    if not hasattr(select, "poll") or not sys.executable:
        raise OSError("it needs a POSIX system and a Python interpreter to run it")
    ours, theirs = socket.socketpair()
    try:
        with suppress(OSError):
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        command = [sys.executable, "-I", "-S", str(program.__file__), str(theirs.fileno())]
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, pass_fds=(theirs.fileno(),), start_new_session=True)
        ours.setblocking(False)
        return ours, process
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()


def _ready(line: socket.socket, what: int, wait: float) -> bool:
    poll = select.poll()
    poll.register(line, what)
    return bool(poll.poll(1e3 * wait))
