"""Write records over time to an MCAP file: one JSON topic per record, every field with its unit, metadata, and attached files.

`write(file, topics)` takes whole columns, as a run gives them. `Recorder` takes one record at a time, tick by tick.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import LogError
from pushrod.core.record import flat, numbers
from pushrod.log.row import message, shape_of
from pushrod.log.schema import topic_schema
from pushrod.log.steady_file import SteadyFile
from pushrod.log.table import CUT

Array = NDArray[np.float64]
PROFILE = "pushrod"
BLOCK = 10_000  # rows that are turned into lists at a time
CHUNK = 64 * 1024  # bytes: small, so that a file that was cut off has all but its last moments


class Topic(NamedTuple):
    """A record over time: `columns` holds one array per number of the record, by its path ("" or "y" for a lone scalar)."""

    name: str
    record: Any
    t: Array
    columns: Mapping[str, Array]
    title: str = ""


class Attachment(NamedTuple):
    name: str
    media_type: str
    text: str


class Said(NamedTuple):
    """A message as it is to be written: its topic with the name of its schema, the schema and its metadata, when [ns], and the JSON itself."""

    topic: tuple[str, str, Mapping[str, Any], Mapping[str, str]]
    ns: int
    message: bytes


class CutShort(KeyboardInterrupt):
    """Somebody did not wait for the end: `file` is whole, but ends after so many `ticks`."""

    def __init__(self, file: Path, ticks: int) -> None:
        self.file = file
        self.ticks = ticks
        super().__init__()


class Recorder:
    """An open log. `topic` opens a topic for a record class; what it gives back takes values of that record.

    with Recorder(Path("run.mcap")) as log:
        car = log.topic("/car", Car)
        car.put(0.01, Car(...))
    """

    def __init__(
        self,
        file: Path,
        metadata: Mapping[str, Mapping[str, str]] | None = None,
        attachments: Iterable[Attachment] = (),
        named: Path | None = None,
    ) -> None:
        """`named`: as what it is told of, where it has another name in the end."""
        import foxglove
        from foxglove.mcap import MCAPWriteOptions

        self._context = foxglove.Context()
        self._said: dict[str, Any] = {}
        self._name = named or file
        try:
            self._file = SteadyFile(file)
            # compression on one thread: equal runs then give equal files; without seeking a chunk is written in one piece, when it is whole
            options = MCAPWriteOptions(profile=PROFILE, chunk_size=CHUNK, compression_threads=0, disable_seeking=True)
            self._writer = foxglove.open_mcap(self._file, context=self._context, writer_options=options)
        except FileExistsError as e:
            raise LogError(f"{self._name}: there is a file of that name already; it was not touched") from e
        except OSError as e:
            raise LogError(f"{self._name}: cannot be written: {e.strerror or e}") from e
        for name, entries in (metadata or {}).items():
            self._writer.write_metadata(name, dict(entries))
        for item in attachments:
            self._writer.attach(log_time=0, create_time=0, name=item.name, media_type=item.media_type, data=item.text.encode())

    def topic(self, name: str, record: Any, title: str = "") -> "TopicWriter":
        import foxglove

        units = {leaf.path or "y": str(leaf.meta.unit) for leaf in numbers(record)}  # type: ignore[union-attr]
        schema = topic_schema(record, title or name.strip("/"))
        metadata = {"units": msgspec.json.encode(units).decode()}
        return TopicWriter(foxglove.Channel(name, schema=schema, context=self._context, metadata=metadata), record)

    def say(self, said: Said) -> None:
        """A message that is ready; its topic is opened with the first one."""
        import foxglove

        topic, name, schema, metadata = said.topic
        if topic not in self._said:
            described = foxglove.Schema(name=name, encoding="jsonschema", data=msgspec.json.encode(schema))
            self._said[topic] = foxglove.Channel(topic, schema=described, message_encoding="json", context=self._context, metadata=dict(metadata))
        self._said[topic].log(said.message, log_time=said.ns)

    def note(self, name: str, entries: Mapping[str, str]) -> None:
        """Metadata that is known only now."""
        self._writer.write_metadata(name, dict(entries))

    @property
    def problem(self) -> str:
        """Why nothing is written any more, as where the disk is full."""
        return self._file.problem

    def close(self) -> None:
        """LogError where not all of it could be written."""
        self._writer.close()
        self._file.close()
        if self.problem:
            raise LogError(f"{self._name}: cannot be written to its end: {self.problem}")

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.close()
        except LogError:
            if kind is None:
                raise


class TopicWriter:
    """Takes values of one record; made by `Recorder.topic`."""

    def __init__(self, channel: Any, record: Any) -> None:
        self._channel = channel
        self._record = record
        self._shape = shape_of(record)

    def put(self, t: float, value: Any) -> None:
        """A value of the record at time t [s]."""
        self.put_row(t, flat(value, self._record))

    def put_row(self, t: float, row: list[float]) -> None:
        """The numbers of the record in order."""
        self._channel.log(message(self._shape, row), log_time=round(t * 1e9))


def write(
    file: Path,
    topics: Iterable[Topic],
    metadata: Mapping[str, Mapping[str, str]] | None = None,
    attachments: Iterable[Attachment] = (),
    said: Iterable[Said] = (),
    going: Callable[[int, int], bool] = lambda done, total: True,
) -> int:
    """Write a new file, messages of all topics in order of time, and say how many there are. At equal times what was `said` comes last.

    `going(done, total)` is asked now and then: where it says no, the log ends there, says so in its metadata, and CutShort is raised.
    """
    topics = tuple(topics)
    for topic in topics:
        _check(topic)
    if file.exists():
        raise LogError(f"{file}: there is a file of that name already; it was not touched")
    # under another name until it is whole: whoever stops this leaves nothing that looks like a log
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with Recorder(part, metadata, attachments, file) as log:
            said = sorted(said, key=lambda one: one.ns)
            rows = sum(len(topic.t) for topic in topics)
            written = _write_rows(log, topics, said, going)
            ticks = min(written, default=0)
            if sum(written) < rows:
                log.note(CUT, {"ticks": str(ticks), "stopped": "while it was written"})
        part.rename(file)
    except OSError as e:
        raise LogError(f"{file}: cannot be written: {e.strerror or e}") from e
    finally:
        part.unlink(missing_ok=True)
    if sum(written) < rows:
        raise CutShort(file, ticks)
    return rows + len(said)


def _write_rows(log: Recorder, topics: tuple[Topic, ...], said: list[Said], going: Callable[[int, int], bool]) -> list[int]:
    """A block at a time, because lists of numbers take many times the room of arrays. How many of each topic there are in the end."""
    written = [0] * len(topics)
    rest = deque(said)
    columns = [[np.asarray(_column(topic, leaf.path), float) for leaf in numbers(topic.record)] for topic in topics]
    times = np.concatenate([topic.t for topic in topics] or [np.zeros(0)])
    which = np.repeat(np.arange(len(topics)), [len(topic.t) for topic in topics])
    place = np.concatenate([np.arange(len(topic.t)) for topic in topics] or [np.zeros(0, int)])
    writers = [log.topic(topic.name, topic.record, topic.title) for topic in topics]
    order = np.argsort(times, kind="stable")
    start = 0
    while start < len(order):
        end = min(start + BLOCK, len(order))
        while end < len(order) and times[order[end]] == times[order[end - 1]]:  # what is of one tick stays together
            end += 1
        block, start = order[start:end], end
        rows = [iter(np.column_stack([x[place[block[which[block] == i]]] for x in columns[i]]).tolist()) for i in range(len(topics))]
        for i, t in zip(which[block].tolist(), times[block].tolist(), strict=True):
            while rest and rest[0].ns < round(t * 1e9):
                log.say(rest.popleft())
            writers[i].put_row(t, next(rows[i]))
            written[i] += 1
        if log.problem or (not going(sum(written), len(order)) and sum(written) < len(order)):
            return written
    for one in rest:
        log.say(one)
    return written


def _check(topic: Topic) -> None:
    """Before anything is written."""
    missing = [leaf.path for leaf in numbers(topic.record) if _column(topic, leaf.path) is None]
    if missing:
        raise LogError(f"topic {topic.name}: no values for {', '.join(missing)}")
    for path, values in topic.columns.items():
        if len(values) != len(topic.t):
            raise LogError(f"topic {topic.name}: {path or 'y'} has {len(values)} values for {len(topic.t)} times")
    if np.any(np.diff(topic.t) < 0.0):
        raise LogError(f"topic {topic.name}: times must not fall")


def _column(topic: Topic, path: str) -> Array | None:
    return topic.columns.get(path, topic.columns.get("y") if path == "" else None)
