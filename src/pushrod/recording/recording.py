"""Record a runtime: `with Recording(rt, "runs"): async with rt: ...` writes an MCAP file, by another process; no control loop ever waits for it.

A file that has become large is continued in a further one, so that the log of a robot that is served for days is several files, none of them huge.

What finds no room on its way is dropped, counted and told in the log. Where the log fails (a full disk, a folder that cannot be written, a writer
that was killed) that is told once, and the robot goes on; `required`: it cannot be armed then.

Under the stepped clock everything is kept in memory, in the order of the run, and written at its end: equal runs give equal files.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from pushrod.core.errors import InputError, LogError
from pushrod.log.encodable import encodable
from pushrod.log.folder import free_name, prepare
from pushrod.log.process import LogProcess
from pushrod.log.writer import Attachment, write
from pushrod.recording.about import about_runtime
from pushrod.recording.pump import Pump
from pushrod.recording.tap import Pipeline, repeated
from pushrod.recording.taped import Taped
from pushrod.recording.topics import Topics
from pushrod.robot.parameter import whole
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.runtime import Runtime

log = logging.getLogger("pushrod.recording")
ROOM = 65536  # messages that may wait, of the bus, and of gates and ticks
PART = 512 * 1024 * 1024  # bytes of a file
READY = 5.0  # [s] for the writer to be there


class Recording:
    """`file` is where the log is, `files` all files of one in several parts, `problem` why there is none (any more); `written` and `dropped` count
    messages.

    about         more for its metadata: which machine, which scenario
    attachments   files that belong to it
    required      the robot cannot be armed while there is no log
    room          messages that may wait, of the bus, and of gates and ticks
    part          bytes after which a file is continued in another one
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
        part: int = PART,
        pipelines: Iterable[Pipeline] = (),
    ) -> None:
        room = whole(room)
        if type(room) is not int or room < 1:
            raise InputError(f"room = {room!r}: a queue holds at least 1 message")
        part = whole(part)
        if type(part) is not int or part < 1:
            raise InputError(f"part: {part!r} bytes; allowed 1 or more. Leave it out for {PART}.")
        self._rt = rt
        self._part = part
        self._folder = Path(folder)
        self._about = {encodable(str(name)): encodable(str(value)) for name, value in (about or {}).items()}
        self._attachments = [Attachment(encodable(one.name), encodable(one.media_type), encodable(one.text)) for one in attachments]
        self._required = required
        self._room = room
        self._pipelines = tuple(pipelines)
        self.file: Path | None = None
        self.problem = ""
        self._stepped = isinstance(rt.clock, SteppedClock)
        self._taped: Taped | None = None
        self._process: LogProcess | None = None
        self._pump: Pump | None = None
        self._stack = ExitStack()

    @property
    def written(self) -> int:
        """Messages handed over so far; at the end, those in the file."""
        if self._taped is not None:
            return len(self._taped.said)
        if self._process is None:
            return 0
        return self._process.count if self._process.written is None else self._process.written

    @property
    def files(self) -> list[Path]:
        """All parts of the log, in their order."""
        if self._process is not None:
            return list(self._process.files)
        return [] if self.file is None else [self.file]

    @property
    def dropped(self) -> int:
        """Messages that found no room, and messages that cannot be written."""
        if self._taped is not None:
            return self._taped.lost
        return 0 if self._pump is None else self._pump.dropped

    @property
    def pid(self) -> int | None:
        """Of the process that writes."""
        return None if self._process is None else self._process.pid

    def __enter__(self) -> "Recording":
        """To be entered before the runtime is: it waits for the writer to be there."""
        if self._required:
            self._rt.checks.append(self._missing)
            self._stack.callback(self._rt.checks.remove, self._missing)
        try:
            prepare(self._folder)
            self._tape() if self._stepped else self._start()
        except (LogError, OSError) as error:
            self._fail(str(error))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _tape(self) -> None:
        self.file = free_name(self._folder, "-".join(filter(None, (self._rt.robot.name, self._about.get("scenario", "")))))
        self._taped = Taped(self._rt, pipelines=self._pipelines)
        self._stack.callback(self._write, self._taped)
        self._stack.enter_context(self._taped)

    def _write(self, taped: Taped) -> None:
        assert self.file is not None
        try:
            write(self.file, (), {"pushrod": about_runtime(self._rt, self._about)}, self._attachments, taped.said)
        except LogError as error:
            self._fail(str(error))

    def _start(self) -> None:
        wall, mono = time.time_ns(), time.monotonic_ns()
        offset = wall - mono
        self.file = free_name(self._folder, f"{self._rt.robot.name}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(wall * 1e-9))}")
        about = {"pushrod": about_runtime(self._rt, self._about, offset)}
        self._process = process = LogProcess(self.file, about, self._attachments, wall, self._part)
        topics = Topics(process, self._rt.hosts.values(), offset, repeated(self._rt.machine))
        if not process.begin(READY):
            self._fail(process.problem)
            return
        self._pump = Pump(self._rt, process, topics, self._room, self._pipelines, self._fail)
        self._stack.callback(self._pump.close)

    def _missing(self) -> list[str]:
        return [f"its log cannot be written: {self.problem}"] if self.problem else []

    def _fail(self, why: str) -> None:
        """Told once."""
        if not self.problem:
            self.problem = why
            log.error("%s is not recorded: %s", self._rt.robot.name, why)
            self._rt.report_error(("recording",), f"the log {self.file or self._folder} is not written: {why}")
