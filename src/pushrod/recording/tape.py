"""Messages kept in memory, in the order they came: for runs under the stepped clock, whose log is written when they are over."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from pushrod.log.row import Shape, message
from pushrod.log.writer import Said


class Tape:
    """A sink. `said` is what `log.writer.write` takes."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self._topics: list[tuple[str, str, Mapping[str, Any], Mapping[str, str]]] = []
        self._rows: list[Sequence[tuple[int, Shape, int]]] = []

    @property
    def count(self) -> int:
        return len(self.said)

    def open(self, topic: str, name: str, schema: Mapping[str, Any], metadata: Mapping[str, str]) -> int:
        self._topics.append((topic, name, schema, metadata))
        return len(self._topics) - 1

    def open_rows(self, parts: Sequence[tuple[int, Shape, int]]) -> int:
        self._rows.append(parts)
        return len(self._rows) - 1

    def put(self, channel: int, ns: int, message: bytes) -> None:
        if ns < 0:
            raise ValueError(f"the time {ns} ns is outside of what a log can hold")
        self.said.append(Said(self._topics[channel], ns, message))

    def put_row(self, rows: int, ns: int, row: bytes) -> None:
        values = array("d", row).tolist()
        for channel, shape, offset in self._rows[rows]:
            self.put(channel, ns + offset, message(shape, values))

    def flush(self) -> None:
        return
