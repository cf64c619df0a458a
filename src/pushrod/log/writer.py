"""Write records over time to an MCAP file: one JSON topic per record, every field with its unit, metadata, and attached files.

`write(file, topics)` takes whole columns, as a run gives them. `Recorder` takes one record at a time, tick by tick.
"""

import os
from collections import deque
from collections.abc import Iterable, Mapping
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

Array = NDArray[np.float64]
PROFILE = "pushrod"
BLOCK = 10_000  # rows that are turned into lists at a time


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


class Recorder:
    """An open log. `topic` opens a topic for a record class; what it gives back takes values of that record.

    with Recorder(Path("run.mcap")) as log:
        car = log.topic("/car", Car)
        car.put(0.01, Car(...))
    """

    def __init__(self, file: Path, metadata: Mapping[str, Mapping[str, str]] | None = None, attachments: Iterable[Attachment] = ()) -> None:
        import foxglove
        from foxglove.mcap import MCAPWriteOptions

        self._context = foxglove.Context()
        self._said: dict[str, Any] = {}
        try:
            # compression on one thread: equal runs then give equal files
            options = MCAPWriteOptions(profile=PROFILE, compression_threads=0)
            self._writer = foxglove.open_mcap(file, context=self._context, writer_options=options)
        except FileExistsError as e:
            raise LogError(f"{file}: there is a file of that name already; it was not touched") from e
        except OSError as e:
            raise LogError(f"{file}: cannot be written: {e.strerror or e}") from e
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

    def close(self) -> None:
        self._writer.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


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
) -> int:
    """Write a new file, messages of all topics in order of time, and say how many there are. At equal times what was `said` comes last."""
    topics = tuple(topics)
    for topic in topics:
        _check(topic)
    if file.exists():
        raise LogError(f"{file}: there is a file of that name already; it was not touched")
    # under another name until it is whole: whoever stops this leaves nothing that looks like a log
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with Recorder(part, metadata, attachments) as log:
            count = _write_rows(log, topics, sorted(said, key=lambda one: one.ns))
        part.rename(file)
    except OSError as e:
        raise LogError(f"{file}: cannot be written: {e.strerror or e}") from e
    finally:
        part.unlink(missing_ok=True)
    return count


def _write_rows(log: Recorder, topics: tuple[Topic, ...], said: list[Said]) -> int:
    """A block at a time, because lists of numbers take many times the room of arrays."""
    rest = deque(said)
    columns = [[np.asarray(_column(topic, leaf.path), float) for leaf in numbers(topic.record)] for topic in topics]
    times = np.concatenate([topic.t for topic in topics] or [np.zeros(0)])
    which = np.repeat(np.arange(len(topics)), [len(topic.t) for topic in topics])
    place = np.concatenate([np.arange(len(topic.t)) for topic in topics] or [np.zeros(0, int)])
    writers = [log.topic(topic.name, topic.record, topic.title) for topic in topics]
    order = np.argsort(times, kind="stable")
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        rows = [iter(np.column_stack([x[place[block[which[block] == i]]] for x in columns[i]]).tolist()) for i in range(len(topics))]
        for i, t in zip(which[block].tolist(), times[block].tolist(), strict=True):
            while rest and rest[0].ns < round(t * 1e9):
                log.say(rest.popleft())
            writers[i].put_row(t, next(rows[i]))
    for one in rest:
        log.say(one)
    return len(times) + len(said)


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
