"""The log of what `pushrod serve` runs: what goes into it, and what is said of it."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pushrod.cli.output import answer, say
from pushrod.core import input_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pushrod.cli.live_robot import LiveRobot
    from pushrod.log.writer import Attachment
    from pushrod.recording import Recording
    from pushrod.runtime.runtime import Runtime


class LogWish(NamedTuple):
    """`required`: without a log it is not armed."""

    wanted: bool
    folder: Path
    required: bool

    @contextmanager
    def recorded(self, rt: "Runtime", made: "LiveRobot") -> "Iterator[Recording | None]":
        """To be entered before the runtime is; at its end it says what was written."""
        from pushrod.recording import Recording

        if not self.wanted:
            yield None
            return
        about, files, pipelines = _about(made)
        recording = Recording(rt, self.folder, about=about, attachments=files, required=self.required, pipelines=pipelines)
        try:
            with recording:
                yield recording
        finally:
            _tell_ended(recording)


def where(recording: "Recording | None") -> str:
    """What to say of the log at the start."""
    if recording is None:
        return "none"
    return f"none ({recording.problem})" if recording.problem else str(recording.file)


def _tell_ended(recording: "Recording") -> None:
    answer(log=recording.file, logs=recording.files, messages=recording.written, dropped=recording.dropped, log_problem=recording.problem)
    if recording.problem:
        say(f"log: {recording.file}: not written to its end" if recording.file else "log: none", err=True)  # why was said when it happened
    else:
        parts = f" in {len(recording.files)} files, the last {recording.files[-1]}" if len(recording.files) > 1 else ""
        say(f"log: {recording.file}: {recording.written} messages{parts}, {recording.dropped or 'none'} dropped")


def _about(made: "LiveRobot") -> "tuple[dict[str, str], list[Attachment], list[tuple[str, object, dict[str, str]]]]":
    from pushrod.log.writer import Attachment

    if made.machine is None:
        files = [] if made.file is None else [Attachment(made.file.name, "text/plain", input_file.read_bytes(made.file).decode(errors="replace"))]
        return {f"override {i}": f"--set {path}={value}" for i, (path, value) in enumerate(made.startup.items(), 1)}, files, []
    from pushrod.sim.files import files_of
    from pushrod.sim.pipeline_topics import pipeline_topics
    from pushrod.sim.recording import overrides

    what, world = made.machine.machine, made.machine.world
    about = {"machine": what.name, "world": world.name, "seed": "0", **overrides(what.document)}
    return about, files_of(what), [tuple(topic) for topic in pipeline_topics(world)]
