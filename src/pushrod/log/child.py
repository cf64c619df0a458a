"""The process that writes a log: it takes frames from its socket until that ends, for whatever reason, and leaves whole files.

It decides nothing, but where a file has become as large as a part may be it ends that file between two chunks and continues in another: each has all
metadata, attachments and topics, and begins with the safety state and the changed parameters that hold then, so that it can be read by itself.
Where no further file can be opened it stays with the one it has.

Every FLUSH_EVERY seconds, and when it is told to, what came so far is a whole chunk in the file. Where the other process ends without a goodbye, all
that it had sent is written, and a line that says so. Where the file cannot be written any more, what is whole of it is kept, the other side is told
once, and it ends. Signals of a terminal are for the other process: this one ends after it.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from array import array
from contextlib import suppress
from typing import Any

from pushrod.log.frame import ATTACH, BEGIN, CHANNEL, END, EVENTS, FLUSH, HEAD, MESSAGE, METADATA, ROW, ROWS
from pushrod.log.steady_file import SteadyFile

FLUSH_EVERY = 0.2  # [s]
CHUNK = 256 * 1024  # bytes: small, so that little is lost where the disk is
RECEIVE = 256 * 1024  # bytes at a time
BEHIND = 10  # nice: a tenth of the time where others want all of it
INFO, WARNING = 2, 3  # levels of foxglove.Log
CONTENT = frozenset({CHANNEL, MESSAGE, ROWS, ROW, ATTACH, METADATA})
STANDING = {"/safety": "", "/param": "path"}  # topics whose last message holds on, and the field by which there are several
CUT_OFF = "the recorded process ended without a goodbye: what it had sent until then is in this log"


class Child:
    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._poll = select.poll()
        self._poll.register(line, select.POLLIN)
        self._parent = 0
        self._rest = b""
        self._channels: dict[int, Any] = {}
        self._rows: dict[int, list[tuple[int, Any, int]]] = {}
        self._kept: list[tuple[int, int, bytes]] = []  # what every part begins with: metadata, attachments, topics
        self._files: list[Any] = []  # the path of each part
        self._fields: dict[int, str] = {}  # of channels in STANDING
        self._standing: dict[tuple[int, Any], bytes] = {}  # the last message of each
        self._written = 0
        self._lost = 0  # messages that could not be written
        self._unflushed = 0
        self._flushed = time.monotonic()
        self._first: int | None = None  # [ns] of the first message of this part: readers count time from it
        self._last = 0  # [ns] of the newest message
        self._done = False

    def run(self) -> None:
        goodbye = False
        try:
            while not goodbye and self._receive(self._patience()):
                goodbye = self._done
                self._flush_if_due()
                if self._file.problem:
                    break
            if not goodbye and not self._file.problem:
                self._event(WARNING, CUT_OFF)
            self._writer.close()
        except AttributeError:
            if hasattr(self, "_file"):
                raise
            return  # it was never told what to write
        problem = self._file.problem
        size = self._file.close_whole()
        self._say({"failed": problem} if problem else {"written": self._written, "size": size})

    def _patience(self) -> float | None:
        return max(0.0, self._flushed + FLUSH_EVERY - time.monotonic()) if self._unflushed else None

    def _receive(self, wait: float | None) -> bool:
        """Take what there is; False at the end of the line, or of whom it belongs to."""
        ready = {fd for fd, _ in self._poll.poll(None if wait is None else 1e3 * wait)}
        if self._line.fileno() not in ready:
            return not ready  # only the other process itself has ended: a child of its own keeps the socket
        try:
            data = self._line.recv(RECEIVE)
        except OSError:
            data = b""
        self._take(self._rest + data if self._rest else data)
        return bool(data)

    def _take(self, data: bytes) -> None:
        at, end, head = 0, len(data), HEAD.size
        while at + head <= end:
            kind, which, ns, length = HEAD.unpack_from(data, at)
            start = at + head
            if start + length > end:
                break
            at = start + length
            if kind in CONTENT:
                try:
                    self._content(kind, which, ns, data[start:at])
                except Exception as error:
                    self._lose(error)
            else:
                self._other(kind, which, data[start:at])
        self._rest = data[at:]

    def _content(self, kind: int, which: int, ns: int, body: bytes) -> None:
        if kind == MESSAGE:
            if len(self._files) > 1 and self._first is not None:
                ns = max(ns, self._first)  # messages come a little out of order: none precedes what a part repeats
            self._log(self._channels[which], body, ns)
            if which in self._fields:
                self._standing[which, json.loads(body).get(self._fields[which])] = body
        elif kind == ROW:
            row = array("d", body).tolist()
            for channel, shape, offset in self._rows[which]:
                self._log(self._channels[channel], self._message(shape, row), ns + offset if self._first is None else max(ns + offset, self._first))
        elif kind == ROWS:
            self._rows[which] = [(channel, shape, offset) for channel, shape, offset in json.loads(body)]
        else:
            self._head(kind, which, body)
            self._kept.append((kind, which, body))

    def _head(self, kind: int, which: int, body: bytes) -> None:
        """Write what every part has."""
        item = json.loads(body)
        if kind == CHANNEL:
            self._channels[which] = self._channel(**item)
            if item["topic"] in STANDING:
                self._fields[which] = STANDING[item["topic"]]
        elif kind == ATTACH:
            self._writer.attach(
                log_time=item["ns"], create_time=item["ns"], name=item["name"], media_type=item["media_type"], data=item["text"].encode()
            )
        else:
            number = len(self._files)
            before = {"continues": self._files[-2].name} if number > 1 else {}
            self._writer.write_metadata(item["name"], item["entries"] | {"part": str(number)} | before)

    def _lose(self, error: Exception) -> None:
        """One message that cannot be written does not end the log; the first one is reported."""
        self._lost += 1
        self._say({"lost": self._lost} | ({"odd": f"{type(error).__name__}: {error}"[:500]} if self._lost == 1 else {}))

    def _log(self, channel: Any, message: bytes, ns: int) -> None:
        channel.log(message, log_time=ns)
        if self._first is None:
            self._first = ns
        self._written += 1
        self._unflushed += 1
        if ns > self._last:
            self._last = ns

    def _other(self, kind: int, which: int, body: bytes) -> None:
        if kind == FLUSH:
            self._flush()
            self._file.sync()
        elif kind == END:
            self._done = True
        elif kind == BEGIN:
            self._begin(**json.loads(body))

    def _begin(self, path: list[str], file: str, profile: str, process: int, part: int) -> None:
        sys.path[:] = path
        from pathlib import Path

        import foxglove

        from pushrod.log.row import message

        self._message, self._foxglove, self._profile = message, foxglove, profile
        self._part = self._next = part
        try:
            self._open(Path(file))
        except OSError as error:
            self._say({"failed": error.strerror or str(error)})
            sys.exit(0)
        with suppress(AttributeError, OSError):
            self._poll.register(os.pidfd_open(process), select.POLLIN)
        self._say({"ready": True})

    def _open(self, file: Any) -> None:
        """Write there from now on. OSError where that is not possible, and nothing has changed."""
        from foxglove.mcap import MCAPWriteOptions

        self._file = SteadyFile(file)
        self._files.append(file)
        self._context = self._foxglove.Context()
        # without seeking a chunk is written in one piece, when it is whole
        options = MCAPWriteOptions(profile=self._profile, chunk_size=CHUNK, compression_threads=0, disable_seeking=True)
        self._writer = self._foxglove.open_mcap(self._file, context=self._context, writer_options=options)

    def _rotate(self) -> None:
        """Continue in another file; all that came so far is in whole chunks of this one."""
        from pushrod.log.folder import free_name

        first, before = self._files[0], (self._writer, self._file, self._channels.get(EVENTS), self._context)
        try:
            self._open(free_name(first.parent, f"{first.stem}-part{len(self._files) + 1}"))
        except OSError as error:
            self._next += self._part
            self._event(WARNING, f"no further file can be opened ({error.strerror or error}): the log goes on in this one")
            return
        self._next = self._part
        writer, file, events, _ = before  # the context is kept until its file is closed: a channel without one writes nothing
        self._event(INFO, f"continued in {self._files[-1].name}", events)
        writer.close()
        file.close_whole()
        for kind, which, body in self._kept:
            self._head(kind, which, body)
        self._first = None
        self._event(INFO, f"continues {self._files[-2].name}; the safety state and changed parameters are repeated", at=self._last)
        for (which, _), body in self._standing.items():
            self._log(self._channels[which], body, self._last)
        self._say({"part": str(self._files[-1])})

    def _channel(self, topic: str, name: str, schema: dict[str, Any], metadata: dict[str, str]) -> Any:
        described = self._foxglove.Schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
        return self._foxglove.Channel(topic, schema=described, message_encoding="json", context=self._context, metadata=metadata)

    def _flush_if_due(self) -> None:
        if self._unflushed and time.monotonic() >= self._flushed + FLUSH_EVERY:
            self._flush()
        if self._file.whole >= self._next and not self._file.problem:
            self._rotate()

    def _flush(self) -> None:
        self._flushed, self._unflushed = time.monotonic(), 0
        self._writer.flush()
        self._file.mark()

    def _event(self, level: int, text: str, channel: Any = None, at: int | None = None) -> None:
        channel = channel or self._channels.get(EVENTS)
        if channel is not None:
            ns = max(self._last, time.time_ns()) if at is None else at
            stamp = {"sec": ns // 10**9, "nsec": ns % 10**9}
            event = {"timestamp": stamp, "level": level, "message": text, "name": "recording", "file": "", "line": 0}
            self._log(channel, json.dumps(event).encode(), ns)

    def _say(self, what: dict[str, Any]) -> None:
        """To whom may be gone."""
        with suppress(OSError):
            self._line.send(json.dumps(what).encode() + b"\n", socket.MSG_NOSIGNAL if hasattr(socket, "MSG_NOSIGNAL") else 0)


def main(line: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _step_back()
    gc.disable()
    Child(socket.socket(fileno=line)).run()


def _step_back() -> None:
    """Whoever controls something comes first. Linux shares time by sessions before it looks at single processes, and this one has its own."""
    with suppress(OSError):
        os.nice(BEHIND)
        if os.getsid(0) == os.getpid():
            with open("/proc/self/autogroup", "w") as session:
                session.write(str(BEHIND))
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
