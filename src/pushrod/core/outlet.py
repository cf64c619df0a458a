"""Standard output and standard error that may be closed, full, or a pipe without a reader.

Output that cannot be written is dropped and never ends a verb: a robot that is served keeps running, a log is still written. The exit code of the
process reports that standard output was lost: 141 for a pipe without a reader, as the shell does for SIGPIPE, else 5 and a message.

A process that serves or stops a robot calls `unblock_streams`: from then on a thread writes, and no other thread waits for a terminal or a pipe that
takes no output, whether it prints, logs or reports a traceback.
"""

import atexit
import contextlib
import io
import os
import queue
import select
import sys
import threading
from typing import IO, Any

BROKEN_PIPE = 141  # 128 + SIGPIPE
UNWRITTEN = 5
WAITING = 1000  # texts that wait for a stream; those beyond are dropped and counted
LAST = 0.5  # [s] for a stream to take what waits when the process ends


class Outlet(io.TextIOWrapper):
    """A text stream that drops what cannot be written; `loss` is the first error, None where all was written."""

    loss: OSError | None = None
    is_closed = False  # its descriptor was closed when the process started
    writer: "Writer | None" = None  # None: each write waits for the stream
    dropped = 0  # texts

    def write(self, text: str) -> int:
        if self.is_closed and text:
            self._lose(OSError("it is closed"))
        if self.loss is None and self.writer is not None:
            if not isinstance(text, str):  # click finds out by this whether a stream takes bytes
                raise TypeError(f"write() argument must be str, not {type(text).__name__}")
            self.writer.put(self, text)
        elif self.loss is None:
            try:
                return super().write(text)
            except OSError as error:
                self._lose(error)
        return len(text)

    def flush(self) -> None:
        if self.loss is None and self.writer is None:
            self.flush_buffer()

    def flush_buffer(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._lose(error)

    def write_through_descriptor(self, text: str) -> None:
        """Write on the writer's thread. Not by the buffer: its lock would be held while the stream takes nothing, and Python acquires it at exit."""
        rest = memoryview(text.encode(self.encoding, self.errors or "backslashreplace"))
        while rest and self.loss is None:
            try:
                rest = rest[os.write(self.fileno(), rest) :]
            except BlockingIOError:  # another program has made the terminal non-blocking
                select.select((), (self.fileno(),), ())
            except OSError as error:
                self._lose(error)

    def finish(self) -> None:
        """Write all that waits; what the stream does not take in time is lost."""
        if self.writer is None:
            self.flush()
        elif self.loss is None and not self.writer.is_finished(LAST):
            self._lose(OSError(f"it took no output within {LAST:g} s"))

    def _lose(self, error: OSError) -> None:
        self.loss = self.loss or error
        # What is still buffered goes to the null device: Python flushes it once more when the process ends, and would print a traceback.
        with contextlib.suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)


class Writer:
    """A thread that writes the texts of outlets in their order. A caller never waits, and may interrupt another: the queue is reentrant."""

    def __init__(self, outlets: list[Outlet]) -> None:
        self._outlets = outlets
        self._texts: queue.SimpleQueue[tuple[Outlet, str] | threading.Event] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="pushrod output", daemon=True).start()

    def put(self, outlet: Outlet, text: str) -> None:
        if self._texts.qsize() < WAITING:
            self._texts.put((outlet, text))
        else:
            outlet.dropped += 1

    def is_finished(self, timeout: float) -> bool:
        """Wait until all texts so far are written; False where the time [s] is over first."""
        written = threading.Event()
        self._texts.put(written)
        return written.wait(timeout)

    def _run(self) -> None:
        for outlet in self._outlets:
            outlet.flush_buffer()
        while True:
            text = self._texts.get()
            if isinstance(text, threading.Event):
                text.set()
                continue
            outlet = text[0]
            outlet.write_through_descriptor(text[1])
            if outlet.dropped and self._texts.qsize() < WAITING // 2:
                lost, outlet.dropped = outlet.dropped, 0
                name = "standard output" if outlet is sys.stdout else "standard error"
                sys.stderr.write(f"{lost} lines to {name} were dropped: its reader took no output\n")


def unblock_streams() -> None:
    """Let a thread write to the standard streams from now on; where none can be started, writes wait as before."""
    outlets = [stream for stream in (sys.stdout, sys.stderr) if isinstance(stream, Outlet) and stream.writer is None]
    if len(outlets) == 2 and os.path.samestat(os.fstat(outlets[0].fileno()), os.fstat(outlets[1].fileno())):
        groups = [outlets]  # one file: the order of lines stays
    else:
        groups = [[one] for one in outlets]
    for group in groups:
        with contextlib.suppress(RuntimeError):
            writer = Writer(group)
            for one in group:
                one.writer = writer
    if outlets:
        os.register_at_fork(after_in_child=_block_streams)  # a forked child has no such thread
        atexit.register(_finish_streams)


def _block_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Outlet):
            stream.writer = None


def _finish_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Outlet):
            stream.finish()


def protect_streams() -> None:
    """Replace the standard streams by outlets. A closed descriptor is opened on the null device, so that no other file gets its number."""
    closed = {number for number in (0, 1, 2) if not _is_open(number)}
    for number in sorted(closed):
        null = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
        if null != number:
            os.dup2(null, number)
            os.close(null)
        os.set_inheritable(number, True)
    sys.stdout = _outlet(sys.stdout, 1, 1 in closed)
    sys.stderr = _outlet(sys.stderr, 2, 2 in closed)


def exit_code(code: Any) -> Any:
    """Return the code to exit with: that of the verb, or, where that is 0, the one for lost output."""
    _finish_streams()
    loss = sys.stdout.loss if isinstance(sys.stdout, Outlet) else None
    if loss is None:
        return code
    broken = isinstance(loss, BrokenPipeError)
    if not broken:
        sys.stderr.write(f"error: standard output cannot be written: {loss.strerror or loss}\n")
    return code if code else BROKEN_PIPE if broken else UNWRITTEN


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _outlet(stream: IO[str] | None, number: int, closed: bool) -> Outlet:
    if isinstance(stream, io.TextIOWrapper):
        encoding, by_line, at_once = stream.encoding, stream.line_buffering, stream.write_through
        errors = "backslashreplace" if stream.errors == "strict" else stream.errors  # a cause or a path may hold what no text can
        made = Outlet(stream.detach(), encoding, errors, line_buffering=by_line, write_through=at_once)
    else:
        made = Outlet(io.BufferedWriter(io.FileIO(number, "w", closefd=False)), encoding="utf-8", errors="backslashreplace")
    made.is_closed = closed
    return made
