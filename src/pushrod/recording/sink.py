"""Where the messages of a recording go: to another process (`log.process`), or into memory (`tape`)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pushrod.log.row import Shape


class Sink(Protocol):
    @property
    def count(self) -> int:
        """Messages so far."""

    def open(self, topic: str, name: str, schema: Mapping[str, Any], metadata: Mapping[str, str]) -> int:
        """A topic; `name` is that of its schema."""

    def open_rows(self, parts: Sequence[tuple[int, Shape, int]]) -> int:
        """Rows of numbers, each of which becomes a message of several topics: (topic, where its numbers are, ns to add to the time)."""

    def put(self, channel: int, ns: int, message: bytes) -> None: ...

    def put_row(self, rows: int, ns: int, row: bytes) -> None: ...

    def flush(self) -> None: ...
