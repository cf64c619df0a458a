"""Read an MCAP file: Pushrod's own logs, any other with JSON messages, and (with the extra `ros`) those of ROS 2, as a `Table`.

Numbers in the messages become channels; units come from the schema. What is torn or damaged is left out and told in `Table.torn`; everything else is
there.
"""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from pushrod.core.errors import LogError
from pushrod.core.names import count
from pushrod.log import ros_message
from pushrod.log.json_units import read_units
from pushrod.log.mcap_records import ATTACHMENT_KIND, CHANNEL_KIND, HEADER_KIND, MESSAGE_KIND, METADATA_KIND, SCHEMA_KIND, Walk
from pushrod.log.table import Attached, Channel, Message, Table, Told, TopicInfo
from pushrod.log.topic_columns import ITS_OWN_START, MOST_VALUES, WRONG, TopicColumns
from pushrod.log.writer import PROFILE


def read(file: Path, told: Told) -> Table:
    """The whole file. LogError where it is no MCAP, or holds more than memory should."""
    walk, book = Walk(file, told), _Book(file)
    for kind, record in walk.records():
        book.take(kind, record)
    return book.table(walk.damage)


class _Book:
    """Everything that was seen of a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.profile = ""
        self.schemas: dict[int, Any] = {}
        self.channels: dict[int, Any] = {}
        self.topics: dict[tuple[str, str], TopicColumns] = {}
        self.of_channel: dict[int, TopicColumns] = {}
        self.metadata: dict[str, dict[str, str]] = {}
        self.attachments: dict[str, Attached] = {}
        self.start: int | None = None
        self.unknown = self.values = 0

    def take(self, kind: int, record: Any) -> None:
        if kind == MESSAGE_KIND:
            self._message(*record)
        elif kind == CHANNEL_KIND:
            self.channels[record.id] = record
            self.of_channel.pop(record.id, None)
        elif kind == SCHEMA_KIND:
            self.schemas[record.id] = record
        elif kind == HEADER_KIND:
            self.profile = record.profile
        elif kind == METADATA_KIND:
            self.metadata[record.name] = record.metadata
        elif kind == ATTACHMENT_KIND:
            self.attachments[record.name] = Attached(record.name, record.media_type, bytes(record.data))

    def _message(self, channel: int, time: int, data: bytes) -> None:
        topic = self.of_channel.get(channel) or self._topic(channel)
        if topic is None:
            self.unknown += 1
            return
        if self.start is None:
            self.start = 0 if time < ITS_OWN_START else time
        self.values += topic.put(time, data, self.start)
        if self.values > MOST_VALUES:
            raise LogError(f"{self.file}: more than {MOST_VALUES} numbers, which do not fit into memory; cut the file, or use the mcap library")

    def _topic(self, id: int) -> TopicColumns | None:
        channel = self.channels.get(id)
        if channel is None:
            return None
        key = (str(channel.topic), str(channel.message_encoding))
        if key not in self.topics:
            self.topics[key] = columns_of(channel, self.schemas.get(channel.schema_id))
        self.of_channel[id] = self.topics[key]
        return self.topics[key]

    def table(self, damage: list[str]) -> Table:
        start = self.start or 0
        for id in self.channels:
            self._topic(id)
        for topic in self.topics.values():
            topic.take(start)
        losses = [text for topic in self.topics.values() for text in topic.losses()]
        losses += [f"{count(self.unknown, 'message')} of topics that the file does not name"] if self.unknown else []
        return Table(
            self.file,
            "mcap",
            self._channels(),
            self.metadata,
            self.attachments,
            {t.name: TopicInfo(t.name, t.schema, t.encoding, t.messages, t.decode is not None) for t in self.topics.values()},
            "; ".join(damage + losses),
            tuple(self._notes()),
            start,
            functools.partial(messages, self.file, start),
        )

    def _notes(self) -> Iterator[str]:
        for topic in self.topics.values():
            if topic.decode is None and topic.messages:
                how = f"; {ros_message.ADVICE}" if topic.encoding in ros_message.ENCODINGS else ""
                yield f"{topic.name}: {count(topic.messages, 'message')} in {topic.encoding or 'no encoding'!r:.40}, not read{how}"
            yield from topic.notes()

    def _channels(self) -> dict[str, Channel]:
        found: dict[str, Channel] = {}
        ours = self.profile == PROFILE
        for topic in sorted(self.topics.values(), key=lambda topic: ours and topic.name != "/out"):  # what has the short names comes first
            for channel in topic.channels("" if ours and topic.name == "/out" else topic.name.strip("/")):
                found.setdefault(channel.name, channel)
        return found


def messages(file: Path, start: int, topic: str) -> Iterator[Message]:
    """The messages of one topic, decoded one by one."""
    schemas: dict[int, Any] = {}
    wanted: dict[int, TopicColumns | None] = {}
    for kind, record in Walk(file).records():
        if kind == SCHEMA_KIND:
            schemas[record.id] = record
        elif kind == CHANNEL_KIND:
            wanted[record.id] = columns_of(record, schemas.get(record.schema_id)) if record.topic == topic else None
        elif kind == MESSAGE_KIND and (its := wanted.get(record[0])) is not None and its.decode is not None:
            try:
                row = its.decode(record[2])
            except WRONG:
                continue
            own = None if its.stamp is None else its.stamp(row)
            yield ((record[1] if own is None else own) - start) / 1e9, row if isinstance(row, dict) else {"y": row}


def _joints(row: Any) -> Any:
    return {str(joint["name"]): {key: x for key, x in joint.items() if key != "name"} for joint in row["joints"]}


def _by_name(row: Any) -> Any:
    return {str(row["name"]): {key: x for key, x in row.items() if key not in ("name", "bins")}}


# what of a message becomes channels, by the name of its schema
WELL_KNOWN: dict[str, Callable[[Any], Any]] = {"foxglove.JointStates": _joints, "foxglove.Log": lambda row: {}, "loops": _by_name}
_decode = msgspec.json.Decoder().decode


def decode_json(data: bytes) -> Any:
    """Quickly, if it is JSON; else as Python's own library takes it, which lets NaN and 1e400 pass, as many tools write them."""
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return json.loads(data)


def columns_of(channel: Any, schema: Any) -> TopicColumns:
    """How a topic is read, by the encoding of its messages."""
    name, encoding = str(channel.topic), str(channel.message_encoding)
    kind = "" if schema is None else str(schema.name)
    if encoding == "json":
        units = read_units(schema.data if schema is not None and schema.encoding == "jsonschema" else b"{}", channel.metadata.get("units", "{}"))
        shown = WELL_KNOWN.get(kind)
        return TopicColumns(name, kind, encoding, decode_json, units.of, units.numeric if shown is None else (), shown=shown)
    if encoding in ros_message.ENCODINGS and schema is not None:
        decode = ros_message.decoder(kind, schema.data, str(schema.encoding), encoding)
        return TopicColumns(name, kind, encoding, decode, functools.partial(ros_message.unit_of, kind), stamp=ros_message.stamp)
    return TopicColumns(name, kind, encoding, None)
