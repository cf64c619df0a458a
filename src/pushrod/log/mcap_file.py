"""Read an MCAP file: Pushrod's own logs, and any other with JSON messages, as a `Table`.

Numbers in the messages become channels; units come from the schema (`unit`, or "[m/s]" at the end of a description). What is torn or damaged is left
out and told in `Table.torn`; everything else is there. ROS 2 messages in MCAP are read with the extra `ros`.
"""

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from pushrod.core.errors import LogError
from pushrod.core.names import count
from pushrod.log.mcap_records import ATTACHMENT_KIND, CHANNEL_KIND, HEADER_KIND, MESSAGE_KIND, METADATA_KIND, SCHEMA_KIND, Walk
from pushrod.log.spread import MOST, Array, Columns, spread
from pushrod.log.table import Attached, Channel, Message, Table, TopicInfo
from pushrod.log.writer import PROFILE

BLOCK = 4096  # messages of a topic that are taken apart together
ROOM = 4 << 20  # [B] of them, at most
MOST_VALUES = 250_000_000  # numbers that are kept: 2 GB, and as much again for their times
ITS_OWN_START = 10**17  # [ns]: a file whose first time is less does not count from 1970 but from its own start
UNIT = re.compile(r"\s*\[([^\[\]]*)\]$")
Decode = Callable[[bytes], Any]


class _Topic:
    """What was read of a topic so far."""

    def __init__(self, channel: Any, schema: Any, decode: Decode | None) -> None:
        self.name = str(channel.topic)
        self.schema_name = "" if schema is None else str(schema.name)
        self.encoding = str(channel.message_encoding)
        self.decode = decode
        self.units, numeric = _units(channel, schema)
        self.columns: Columns = {path: ([], []) for path in numeric}  # so that null is a number there, too
        self.messages = self.wrong = self.room = 0
        self._times: list[int] = []
        self._rows: list[bytes] = []

    def put(self, time: int, data: bytes, start: int) -> int:
        """Keep a message; now and then a block is taken apart, and this says how many numbers were in it."""
        self.messages += 1
        if self.decode is None:
            return 0
        self._times.append(time)
        self._rows.append(data)
        self.room += len(data)
        return self.take(start) if len(self._rows) >= BLOCK or self.room > ROOM else 0

    def take(self, start: int) -> int:
        assert self.decode is not None or not self._rows
        times, rows = [], []
        for time, data in zip(self._times, self._rows, strict=True):
            try:
                rows.append(self.decode(data))  # type: ignore[misc]
                times.append(time)
            except WRONG:
                self.wrong += 1
        t = np.array([time - start for time in times], dtype=np.float64) / 1e9
        self._times, self._rows, self.room = [], [], 0
        return spread(rows, t, self.columns)


WRONG = (msgspec.DecodeError, RecursionError, ValueError)


def read(file: Path) -> Table:
    """The whole file. LogError where it is no MCAP, or holds more than memory should."""
    walk, book = Walk(file), _Book(file)
    for kind, record in walk.records():
        book.take(kind, record)
    return book.table(walk)


class _Book:
    """Everything that was seen of a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.profile = ""
        self.schemas: dict[int, Any] = {}
        self.channels: dict[int, Any] = {}
        self.topics: dict[tuple[str, str], _Topic] = {}
        self.of_channel: dict[int, _Topic] = {}
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
            raise LogError(
                f"more than {MOST_VALUES} numbers; a table of them would not fit into memory: cut the file, or read it with the mcap library"
            )

    def _topic(self, id: int) -> _Topic | None:
        channel = self.channels.get(id)
        if channel is None:
            return None
        schema = self.schemas.get(channel.schema_id)
        key = (str(channel.topic), str(channel.message_encoding))
        if key not in self.topics:
            self.topics[key] = _Topic(channel, schema, decoder(channel, schema))
        self.of_channel[id] = self.topics[key]
        return self.topics[key]

    def table(self, walk: Walk) -> Table:
        start = self.start or 0
        for topic in self.topics.values():
            topic.take(start)
        for id in self.channels:
            self.of_channel.get(id) or self._topic(id)
        infos: dict[str, TopicInfo] = {}
        for topic in self.topics.values():
            infos[topic.name] = TopicInfo(topic.name, topic.schema_name, topic.encoding, topic.messages, topic.decode is not None)
        return Table(
            self.file,
            "mcap",
            self._channels(),
            self.metadata,
            self.attachments,
            infos,
            "; ".join(walk.damage + self._losses()),
            tuple(self._notes()),
            start,
            functools.partial(messages, self.file, start),
        )

    def _losses(self) -> list[str]:
        wrong = {topic.name: topic.wrong for topic in self.topics.values() if topic.wrong}
        found = [f"{count(n, 'message')} of {name} cannot be read" for name, n in wrong.items()]
        return found + ([f"{count(self.unknown, 'message')} of topics that the file does not name"] if self.unknown else [])

    def _notes(self) -> Iterator[str]:
        for topic in self.topics.values():
            if topic.decode is None and topic.messages:
                yield f"{topic.name}: {count(topic.messages, 'message')} in {topic.encoding or 'no encoding'}, which {needs(topic.encoding)}"
            if len(topic.columns) >= MOST:
                yield f"{topic.name}: more than {MOST} different numbers; the others are left out"

    def _channels(self) -> dict[str, Channel]:
        found: dict[str, Channel] = {}
        ours = self.profile == PROFILE
        for topic in sorted(self.topics.values(), key=lambda topic: ours and topic.name != "/out"):  # theirs are the short names
            short = "" if ours and topic.name == "/out" else topic.name.strip("/")
            for path, (times, values) in topic.columns.items():
                if not times:
                    continue
                name = ".".join(filter(None, (short, path))) or "y"
                name = name if name not in found else f"{topic.name.strip('/')}.{path}"
                unit, about = topic.units.get(path, topic.units.get(re.sub(r"(^|\.)\d+(?=\.|$)", r"\1*", path), ("", "")))
                found[name] = made(name, unit, about, np.concatenate(times), np.concatenate(values), topic.name)
        return found


def made(name: str, unit: str, about: str, t: Array, values: Array, source: str) -> Channel:
    """A channel in order of time."""
    if len(t) > 1 and np.any(np.diff(t) < 0.0):
        order = np.argsort(t, kind="stable")
        t, values = t[order], values[order]
    return Channel(name, unit, about, t, values, source)


def messages(file: Path, start: int, topic: str) -> Iterator[Message]:
    """The messages of one topic, decoded one by one."""
    schemas: dict[int, Any] = {}
    wanted: dict[int, Decode | None] = {}
    for kind, record in Walk(file).records():
        if kind == SCHEMA_KIND:
            schemas[record.id] = record
        elif kind == CHANNEL_KIND:
            wanted[record.id] = decoder(record, schemas.get(record.schema_id)) if record.topic == topic else None
        elif kind == MESSAGE_KIND and (decode := wanted.get(record[0])) is not None:
            try:
                row = decode(record[2])
            except WRONG:
                continue
            yield (record[1] - start) / 1e9, row if isinstance(row, dict) else {"": row}


def decoder(channel: Any, schema: Any) -> Decode | None:
    """What reads the messages of a channel; None where nobody here can."""
    if channel.message_encoding == "json":
        return msgspec.json.Decoder().decode
    return None


def needs(encoding: str) -> str:
    """What it would take to read messages in an encoding."""
    return "is not read here"


def _units(channel: Any, schema: Any) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Unit and description by path, as far as the file tells them (* stands for any entry of a list), and the paths that are surely numbers."""
    found: dict[str, tuple[str, str]] = {}
    numeric: list[str] = []
    try:
        if schema is not None and schema.encoding == "jsonschema":
            _walk_schema(msgspec.json.decode(schema.data), "", found, numeric, 0)
        units = msgspec.json.decode(channel.metadata.get("units", "{}"))
        found |= {str(path): (str(unit), found.get(path, ("", ""))[1]) for path, unit in units.items() if isinstance(unit, str)}
    except (*WRONG, AttributeError):
        pass  # a schema that is none tells no units
    return found, numeric


def _walk_schema(node: Any, path: str, found: dict[str, tuple[str, str]], numeric: list[str], depth: int) -> None:
    if not isinstance(node, dict) or depth > 16:
        return
    if isinstance(node.get("properties"), dict):
        for name, inner in node["properties"].items():
            _walk_schema(inner, f"{path}.{name}" if path else str(name), found, numeric, depth + 1)
    elif isinstance(node.get("items"), dict):
        _walk_schema(node["items"], f"{path}.*", found, numeric, depth + 1)
    elif path:
        about = str(node.get("description", ""))
        in_text = UNIT.search(about)
        unit = node.get("unit") if isinstance(node.get("unit"), str) else in_text[1] if in_text else ""
        if "*" not in path and node.get("type") in ("number", "integer") and len(numeric) < MOST:
            numeric.append(path)
        found[path] = (str(unit), UNIT.sub("", about) if in_text and in_text[1] == unit else about)
