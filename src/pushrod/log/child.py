"""The process that writes a log: it takes frames from its socket until that ends, for whatever reason, and leaves a whole file.

It decides nothing. Every FLUSH_EVERY seconds, and when it is told to, what came so far is a whole chunk in the file. Where the other process ends
without a goodbye, all that it had sent is written, and a line that says so. Where the file cannot be written any more, what is whole of it is kept,
the other side is told once, and it ends. Signals of a terminal are for the other process: this one ends after it.
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
WARNING = 3  # level of foxglove.Log
CUT_OFF = "the recorded process ended without a goodbye: what it had sent until then is in this log"


class Child:
    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._poll = select.poll()
        self._poll.register(line, select.POLLIN)
        self._parent = 0
        self._rest = b""
        self._channels: dict[int, Any] = {}
        self._rows: dict[int, list[tuple[Any, Any, int]]] = {}
        self._written = 0
        self._unflushed = 0
        self._flushed = time.monotonic()
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
                self._cut_off()
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
            if kind == MESSAGE:
                self._log(self._channels[which], data[start:at], ns)
            elif kind == ROW:
                row = array("d", data[start:at]).tolist()
                for channel, shape, offset in self._rows[which]:
                    self._log(channel, self._message(shape, row), ns + offset)
            else:
                self._other(kind, which, data[start:at])
        self._rest = data[at:]

    def _log(self, channel: Any, message: bytes, ns: int) -> None:
        channel.log(message, log_time=ns)
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
        elif kind == CHANNEL:
            self._channels[which] = self._channel(**json.loads(body))
        elif kind == ROWS:
            self._rows[which] = [(self._channels[channel], shape, offset) for channel, shape, offset in json.loads(body)]
        elif kind == ATTACH:
            item = json.loads(body)
            self._writer.attach(
                log_time=item["ns"], create_time=item["ns"], name=item["name"], media_type=item["media_type"], data=item["text"].encode()
            )
        elif kind == METADATA:
            item = json.loads(body)
            self._writer.write_metadata(item["name"], item["entries"])

    def _begin(self, path: list[str], file: str, profile: str, process: int) -> None:
        sys.path[:] = path
        import foxglove
        from foxglove.mcap import MCAPWriteOptions

        from pushrod.log.row import message

        self._message, self._foxglove = message, foxglove
        try:
            self._file = SteadyFile(file)
        except OSError as error:
            self._say({"failed": error.strerror or str(error)})
            sys.exit(0)
        self._context = foxglove.Context()
        # without seeking a chunk is written in one piece, when it is whole
        options = MCAPWriteOptions(profile=profile, chunk_size=CHUNK, compression_threads=0, disable_seeking=True)
        self._writer = foxglove.open_mcap(self._file, context=self._context, writer_options=options)
        with suppress(AttributeError, OSError):
            self._poll.register(os.pidfd_open(process), select.POLLIN)
        self._say({"ready": True})

    def _channel(self, topic: str, name: str, schema: dict[str, Any], metadata: dict[str, str]) -> Any:
        described = self._foxglove.Schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
        return self._foxglove.Channel(topic, schema=described, message_encoding="json", context=self._context, metadata=metadata)

    def _flush_if_due(self) -> None:
        if self._unflushed and time.monotonic() >= self._flushed + FLUSH_EVERY:
            self._flush()

    def _flush(self) -> None:
        self._flushed, self._unflushed = time.monotonic(), 0
        self._writer.flush()
        self._file.mark()

    def _cut_off(self) -> None:
        if EVENTS in self._channels:
            ns = max(self._last, time.time_ns())
            stamp = {"sec": ns // 10**9, "nsec": ns % 10**9}
            event = {"timestamp": stamp, "level": WARNING, "message": CUT_OFF, "name": "recording", "file": "", "line": 0}
            self._log(self._channels[EVENTS], json.dumps(event).encode(), ns)

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
