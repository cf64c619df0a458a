"""Read a ROS 2 bag, a folder with metadata.yaml or one .db3 file, as a `Table`. Needs the extra `ros`.

Any message is read by its definition in the bag, or, where the bag has none, by that of ROS 2 Humble: JointState by the names of its joints, Float64,
arrays, twists, and whatever else holds numbers. The time of a message is that in its header, else when it was received.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pushrod.core.errors import LogError
from pushrod.log import ros_message
from pushrod.log.table import Channel, Message, Table, Told, TopicInfo
from pushrod.log.topic_columns import ITS_OWN_START, MOST_VALUES, WRONG, TopicColumns

EVERY = 1000  # messages it is told how far it has come


def read(path: Path, told: Told) -> Table:
    """LogError where it is no bag, or cannot be read."""
    topics: dict[str, TopicColumns] = {}
    start: int | None = None
    values = 0
    torn = ""
    size = sum(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size
    with opened(path) as bag:
        for connection in bag.connections:
            topics.setdefault(connection.topic, _columns(bag, connection))
        try:
            for n, (connection, time, data) in enumerate(bag.messages()):
                if n % EVERY == 0:
                    told(size * n // max(bag.message_count, n, 1), size)
                if start is None:
                    start = 0 if time < ITS_OWN_START else time
                values += topics[connection.topic].put(time, bytes(data), start)
                if values > MOST_VALUES:
                    raise LogError(f"{path}: more than {MOST_VALUES} numbers, which do not fit into memory; cut the bag")
        except LogError:
            raise
        except Exception as e:  # the library and its database raise many kinds
            torn = f"the bag cannot be read to its end: {type(e).__name__}: {e}"
        for topic in topics.values():
            topic.take(start or 0)
    channels: dict[str, Channel] = {}
    for topic in topics.values():
        for channel in topic.channels(topic.name.strip("/")):
            channels.setdefault(channel.name, channel)
    losses = [text for topic in topics.values() for text in topic.losses()]
    infos = {t.name: TopicInfo(t.name, t.schema, t.encoding, t.messages) for t in topics.values()}
    notes = tuple(text for topic in topics.values() for text in topic.notes())
    torn = "; ".join(filter(None, (torn, *losses)))
    return Table(path, "bag", channels, {}, {}, infos, torn, notes, start or 0, functools.partial(messages, path, start or 0))


def messages(path: Path, start: int, topic: str) -> Iterator[Message]:
    with opened(path) as bag:
        decode = {c.id: _decode(bag, c.msgtype) for c in bag.connections if c.topic == topic}
        for connection, time, data in bag.messages([c for c in bag.connections if c.topic == topic]):
            try:
                row = decode[connection.id](bytes(data))
            except WRONG:
                continue
            own = ros_message.stamp(row)
            yield ((time if own is None else own) - start) / 1e9, row if isinstance(row, dict) else {"y": row}


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise LogError(f"{path}: {ros_message.ADVICE}") from None
    try:
        bag = AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE))
        bag.open()
    except Exception as e:  # the library and its database raise many kinds
        raise LogError(f"{path}: is no bag that can be read: {type(e).__name__}: {e}") from e
    try:
        yield bag
    finally:
        bag.close()


def _columns(bag: Any, connection: Any) -> TopicColumns:
    kind = str(connection.msgtype)
    units = functools.partial(ros_message.unit_of, kind)
    return TopicColumns(str(connection.topic), kind, "cdr", _decode(bag, kind), units, stamp=ros_message.stamp)


def _decode(bag: Any, kind: str) -> Callable[[bytes], Any]:
    def decode(data: bytes) -> Any:
        try:
            return ros_message.plain(bag.deserialize(data, kind))
        except Exception as e:  # many kinds: struct, index, type, its own
            raise ValueError(f"{type(e).__name__}: {e}") from e

    return decode
