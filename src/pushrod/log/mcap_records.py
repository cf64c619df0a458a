"""The records of an MCAP file in order, as far as they can be had: a file may be cut anywhere, filled with zeros, or damaged within.

What is around a record (its kind and length) is checked here against what is left of the file, so that no claimed length ever takes memory; what
is inside is read by the mcap library. `Walk.damage` says afterwards what was lost. A damaged chunk is left out, and reading goes on behind it.
"""

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from pushrod.core import input_file
from pushrod.core.errors import LogError
from pushrod.core.names import count
from pushrod.log.table import Told

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")  # kind, length
MESSAGE = struct.Struct("<HIQQ")  # channel, sequence, log time, publish time [ns]
CHUNK = struct.Struct("<QQQII")  # first time, last time, length and checksum of what is in it, length of the compression's name
FOOTER = struct.Struct("<QQI")
SCHEMA_KIND, CHANNEL_KIND, MESSAGE_KIND, CHUNK_KIND, ATTACHMENT_KIND, METADATA_KIND, END_KIND = 3, 4, 5, 6, 9, 12, 15
HEADER_KIND, FOOTER_KIND = 1, 2
LARGEST = 1 << 30  # [B] of a record, and of what a chunk holds: more is damage, or made to take all memory
BLOCK = 1 << 20

Seen = tuple[int, Any]  # kind, and the record; of a message (channel, log time, data)


class Walk:
    """One pass over a file: iterate over `records()`, then see `damage`. `told` how far it has come."""

    def __init__(self, file: Path, told: Told = lambda done, of: None) -> None:
        self.file = file
        self._told = told
        self.damage: list[str] = []
        self.last = 0  # [ns] of the latest message

    def records(self) -> Iterator[Seen]:
        """(kind, record) of header, schemas, channels, messages, attachments and metadata. LogError where the file is no MCAP at all."""
        self.damage.clear()
        try:
            with input_file.open_binary(self.file, input_file.STREAMED) as source:
                yield from self._walk(source, os.fstat(source.fileno()).st_size)
        except OSError as e:
            raise LogError(f"{self.file}: cannot be read: {e.strerror or e}") from e

    def _walk(self, source: BinaryIO, size: int) -> Iterator[Seen]:
        if not size:
            raise LogError(f"{self.file}: is empty: nothing was written to it")
        if source.read(len(MAGIC)) != MAGIC:
            raise LogError(f"{self.file}: is no MCAP file: it does not begin with the 8 bytes that every one has")
        yield from self._of_summary(source, size)
        source.seek(len(MAGIC))
        at, checksum, ended = len(MAGIC), zlib.crc32(MAGIC), False
        while not ended:
            head = source.read(HEAD.size)
            if len(head) < HEAD.size:
                self.damage.append(f"the file ends at byte {size} without an end: who wrote it was stopped" if not head else self._cut(at, size))
                return
            kind, length = HEAD.unpack(head)
            left = size - at - HEAD.size
            if kind == 0:
                self.damage.append(f"there is nothing but zeros, or no record, from byte {at} to the end at {size}")
                return
            if length > left or length > LARGEST:
                self.damage.append(self._cut(at, size))
                return
            body = source.read(length)
            if len(body) < length:
                self.damage.append(self._cut(at, size))
                return
            ended = kind == END_KIND
            if ended:
                self._check_end(body, checksum, source, size)
            else:
                checksum = zlib.crc32(body, zlib.crc32(head, checksum))
                yield from self._open(kind, body, at)
            at += HEAD.size + length
            self._told(at, size)

    def _open(self, kind: int, body: bytes, at: int) -> Iterator[Seen]:
        try:
            if kind == CHUNK_KIND:
                yield from self._within(contents(body), at)
            elif kind in READ or kind == MESSAGE_KIND:
                yield self._read(kind, body)
        except DamagedError as e:
            times = ""
            if kind == CHUNK_KIND and len(body) >= CHUNK.size:
                first, last, *_ = CHUNK.unpack_from(body)
                times = f", {first / 1e9:.9g} s to {last / 1e9:.9g} s" if first <= last <= first + 10**15 else ""
            what = {CHUNK_KIND: "chunk", ATTACHMENT_KIND: "attached file"}.get(kind, "record")
            self.damage.append(f"the {what} at byte {at}{times} is damaged and left out: {e}")

    def _within(self, data: bytes, at: int) -> Iterator[Seen]:
        place, end = 0, len(data)
        while place < end:
            if place + HEAD.size > end:
                raise DamagedError("a record in it is cut")
            kind, length = HEAD.unpack_from(data, place)
            place += HEAD.size
            if length > end - place:
                raise DamagedError("a record in it is longer than what is left")
            if kind in (SCHEMA_KIND, CHANNEL_KIND, MESSAGE_KIND):
                yield self._read(kind, data[place : place + length])
            place += length

    def _read(self, kind: int, body: bytes) -> Seen:
        if kind == MESSAGE_KIND:
            if len(body) < MESSAGE.size:
                raise DamagedError("a message is cut")
            channel, _, log_time, _ = MESSAGE.unpack_from(body)
            self.last = max(self.last, log_time)
            return kind, (channel, log_time, body[MESSAGE.size :])
        return kind, parsed(READ[kind], body)

    def _check_end(self, body: bytes, checksum: int, source: BinaryIO, size: int) -> None:
        said = int.from_bytes(body[:4], "little")
        if len(body) != 4 or said not in (0, checksum):
            self.damage.append("the checksum of the whole file differs: something in it was changed after it was written")
            return
        # summary, footer, magic: only needed to find things quickly, but whoever cut them may have cut more
        source.seek(max(source.tell(), size - len(MAGIC)))
        if not size:
            raise LogError(f"{self.file}: is empty: nothing was written to it")
        if source.read(len(MAGIC)) != MAGIC:
            self.damage.append(f"the end of the file, behind all messages, is cut at byte {size}; nothing else is missing")

    def _of_summary(self, source: BinaryIO, size: int) -> Iterator[Seen]:
        """Schemas and channels at the end of the file, where it has an end."""
        tail = HEAD.size + FOOTER.size + len(MAGIC)
        if size < len(MAGIC) + tail:
            return
        source.seek(size - tail)
        footer = source.read(tail)
        kind, length = HEAD.unpack_from(footer)
        start, _, said = FOOTER.unpack_from(footer, HEAD.size)
        if (
            not footer.endswith(MAGIC)
            or (kind, length) != (FOOTER_KIND, FOOTER.size)
            or not 0 < start <= size - tail
            or size - tail - start > LARGEST
        ):
            return
        source.seek(start)
        summary = source.read(size - tail - start)
        if said and said != zlib.crc32(footer[: HEAD.size + FOOTER.size - 4], zlib.crc32(summary)):
            return
        place = 0
        while place + HEAD.size <= len(summary):
            kind, length = HEAD.unpack_from(summary, place)
            place += HEAD.size
            if length > len(summary) - place:
                return
            if kind in (SCHEMA_KIND, CHANNEL_KIND):
                try:
                    yield kind, parsed(READ[kind], summary[place : place + length])
                except DamagedError:
                    return
            place += length

    def _cut(self, at: int, size: int) -> str:
        return f"the file is cut within a record: {count(size - at, 'byte')} from byte {at} on are left out"


class DamagedError(Exception):
    """What is inside a record is not what it should be."""


def contents(body: bytes) -> bytes:
    """What a chunk holds, taken out and checked."""
    if len(body) < CHUNK.size:
        raise DamagedError("it is cut")
    _, _, size, checksum, name = CHUNK.unpack_from(body)
    place = CHUNK.size + name
    compression = body[CHUNK.size : place]
    length = int.from_bytes(body[place : place + 8], "little")
    packed = body[place + 8 : place + 8 + length]
    if len(packed) < length or len(body) < place + 8 or size > LARGEST:
        raise DamagedError("its lengths do not fit")
    if compression not in COMPRESSIONS:
        raise DamagedError(f"its compression {compression[:20]!r} is not known")
    data = COMPRESSIONS[compression](packed, size)
    if len(data) != size:
        raise DamagedError(f"it holds {len(data)} bytes and should hold {size}")
    if checksum and zlib.crc32(data) != checksum:
        raise DamagedError("its checksum differs")
    return data


def _zstd(packed: bytes, size: int) -> bytes:
    import zstandard

    try:  # block by block, because what it says of its own size need not be true
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed) as stream:
            return _up_to(stream.read, size)
    except zstandard.ZstdError as e:
        raise DamagedError(f"zstd: {e}") from e


def _lz4(packed: bytes, size: int) -> bytes:
    import lz4.frame

    try:
        with lz4.frame.open(BytesIO(packed)) as stream:
            return _up_to(stream.read, size)
    except (RuntimeError, EOFError, OSError, ValueError) as e:
        raise DamagedError(f"lz4: {e}") from e


def _up_to(read: Callable[[int], bytes], size: int) -> bytes:
    """At most one byte more than it should be."""
    parts, left = [], size + 1
    while left > 0 and (part := read(min(left, BLOCK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


COMPRESSIONS: dict[bytes, Callable[[bytes, int], bytes]] = {b"": lambda packed, size: packed, b"zstd": _zstd, b"lz4": _lz4}
READ = {HEADER_KIND: "Header", SCHEMA_KIND: "Schema", CHANNEL_KIND: "Channel", ATTACHMENT_KIND: "Attachment", METADATA_KIND: "Metadata"}


def parsed(name: str, body: bytes) -> Any:
    """A record of the mcap library."""
    from mcap import records
    from mcap.data_stream import ReadDataStream
    from mcap.exceptions import McapError

    stream = ReadDataStream(BytesIO(body))
    try:
        made = getattr(records, name).read(stream)
    except (struct.error, ValueError, OverflowError, McapError) as e:
        raise DamagedError(f"{name.lower()}: {e or 'it is cut'}") from e
    if name == "Attachment" and int.from_bytes(body[-4:], "little") not in (0, zlib.crc32(body[:-4])):
        raise DamagedError(f"the checksum of {made.name!r} differs")
    return made
