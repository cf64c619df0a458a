"""Messages between a runtime and its guard: plain data, each behind its length.

Both ends are the same interpreter on the same computer, so `marshal` does: it takes plain data as it is, whole numbers as keys and tuples too, and
refuses everything else.
"""

import marshal
import struct
from collections.abc import Mapping
from typing import Any

HEAD = struct.Struct("!I")
Message = tuple[Any, ...]


def pack(message: Message) -> bytes:
    """ValueError where it holds anything but plain data."""
    data = marshal.dumps(message)
    return HEAD.pack(len(data)) + data


def by_path(problems: Mapping[str, str]) -> list[str]:
    """One text for each problem, however many actuators have it."""
    whose: dict[str, list[str]] = {}
    for path, what in problems.items():
        whose.setdefault(what, []).append(path)
    return [f"{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {what}" for what, paths in whose.items()]


class Reader:
    """Bytes in, whole messages out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        rest, found = self._rest + data, []
        while len(rest) >= HEAD.size and len(rest) >= (end := HEAD.size + HEAD.unpack_from(rest)[0]):
            found.append(marshal.loads(rest[HEAD.size : end]))
            rest = rest[end:]
        self._rest = rest
        return found
