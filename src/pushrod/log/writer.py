"""Write signals to an MCAP file: one JSON topic per record, every field with its unit, metadata and the files a run was made from."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import LogError
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import fields, is_record, numbers
from pushrod.log.schema import topic_schema

Array = NDArray[np.float64]
PROFILE = "pushrod"


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


def write(
    file: Path,
    topics: Iterable[Topic],
    metadata: Mapping[str, Mapping[str, str]] | None = None,
    attachments: Iterable[Attachment] = (),
    start: float = 0.0,
) -> int:
    """Write a new file and say how many messages it holds. Times are t + start [s]; messages of all topics are in order of time."""
    import foxglove
    from foxglove.mcap import MCAPWriteOptions

    topics = tuple(topics)
    for topic in topics:
        _check(topic)
    context = foxglove.Context()
    try:
        writer = foxglove.open_mcap(file, context=context, writer_options=MCAPWriteOptions(profile=PROFILE, compression_threads=0))
    except FileExistsError as e:
        raise LogError(f"{file}: there is a file of that name already; it was not touched") from e
    except OSError as e:
        raise LogError(f"{file}: cannot be written: {e.strerror or e}") from e
    with writer:
        for name, entries in (metadata or {}).items():
            writer.write_metadata(name, dict(entries))
        stamp = _nanoseconds(start)
        for item in attachments:
            writer.attach(log_time=stamp, create_time=stamp, name=item.name, media_type=item.media_type, data=item.text.encode())
        channels = [_channel(topic, context) for topic in topics]
        return _messages(topics, channels, start)


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


def _channel(topic: Topic, context: Any) -> Any:
    import foxglove

    units = {leaf.path or "y": str(leaf.meta.unit) for leaf in numbers(topic.record)}  # type: ignore[union-attr]
    schema = topic_schema(topic.record, topic.title or topic.name.strip("/"))
    return foxglove.Channel(topic.name, schema=schema, context=context, metadata={"units": msgspec.json.encode(units).decode()})


def _messages(topics: tuple[Topic, ...], channels: list[Any], start: float) -> int:
    order = np.argsort(np.concatenate([topic.t for topic in topics]), kind="stable") if topics else np.array([], int)
    which = np.repeat(np.arange(len(topics)), [len(topic.t) for topic in topics])
    rows = np.concatenate([np.arange(len(topic.t)) for topic in topics]) if topics else order
    values = [np.column_stack([np.asarray(_column(topic, leaf.path), float) for leaf in numbers(topic.record)]).tolist() for topic in topics]
    shapes = [_shape(topic.record, itertools.count()) for topic in topics]
    encode = msgspec.json.Encoder().encode
    for k in order.tolist():
        j, i = int(which[k]), int(rows[k])
        stamp = _nanoseconds(start + float(topics[j].t[i]))
        channels[j].log(encode(_fill(shapes[j], values[j][i])), log_time=stamp)
    return len(order)


def _shape(record: Any, place: Iterator[int]) -> dict[str, Any]:
    """An object nested as the record, with the place of each number in its row."""
    if not is_record(record):
        return {"y": next(place)}
    return {
        f.name: _shape(f.type, place) if is_record(f.type) else next(place)
        for f in fields(record)
        if is_record(f.type) or isinstance(f.meta, (Q, Choice))
    }


def _fill(shape: dict[str, Any], row: list[float]) -> dict[str, Any]:
    """msgspec writes null for what is not finite, which JSON cannot say."""
    return {name: row[at] if isinstance(at, int) else _fill(at, row) for name, at in shape.items()}


def _nanoseconds(t: float) -> int:
    return round(t * 1e9)
