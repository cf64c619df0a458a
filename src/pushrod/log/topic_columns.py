"""The messages of one topic on their way to columns: kept raw, taken apart a block at a time, so that memory holds little but the numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
import numpy as np

from pushrod.core.names import count
from pushrod.log.spread import MOST, Array, Columns, spread
from pushrod.log.table import Channel

BLOCK = 4096  # messages that are taken apart together
ROOM = 4 << 20  # [B] of them, at most
MOST_VALUES = 250_000_000  # numbers of a file that are kept: 2 GB, and as much again for their times
ITS_OWN_START = 10**17  # [ns]: a file whose first time is less does not count from 1970 but from its own start
WRONG = (msgspec.DecodeError, RecursionError, ValueError, KeyError)  # what decoders raise of a message that is damaged

Decode = Callable[[bytes], Any]
Units = Callable[[str], tuple[str, str]]  # unit and description of a path


class TopicColumns:
    """What was read of a topic so far. `decode` is None where nobody here can read its messages; `numeric` are paths that are surely numbers.

    `stamp` takes the time [ns] of a message out of it, if it has one of its own; `shown` says what of it becomes channels.
    """

    def __init__(
        self,
        name: str,
        schema: str,
        encoding: str,
        decode: Decode | None,
        units: Units = lambda path: ("", ""),
        numeric: Iterable[str] = (),
        stamp: Callable[[Any], int | None] | None = None,
        shown: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name = name
        self.schema = schema
        self.encoding = encoding
        self.decode = decode
        self.units = units
        self.stamp = stamp
        self.shown = shown
        self.columns: Columns = {path: ([], []) for path in numeric}  # so that null is a number there, too
        self.messages = self.wrong = 0
        self._room = 0
        self._times: list[int] = []
        self._rows: list[bytes] = []

    def put(self, time: int, data: bytes, start: int) -> int:
        """Keep a message [ns]; now and then a block is taken apart, and this says how many numbers were in it."""
        self.messages += 1
        if self.decode is None:
            return 0
        self._times.append(time)
        self._rows.append(data)
        self._room += len(data)
        return self.take(start) if len(self._rows) >= BLOCK or self._room > ROOM else 0

    def take(self, start: int) -> int:
        """Take apart what is kept; t = 0 is `start` [ns]."""
        times, rows = [], []
        for time, data in zip(self._times, self._rows, strict=True):
            try:
                row = self.decode(data)  # type: ignore[misc]
            except WRONG:
                self.wrong += 1
                continue
            own = None if self.stamp is None else self.stamp(row)
            rows.append(row if self.shown is None else self._shown(row))
            times.append((time if own is None else own) - start)
        self._times, self._rows, self._room = [], [], 0
        return spread(rows, np.array(times, dtype=np.float64) / 1e9, self.columns)

    def _shown(self, row: Any) -> Any:
        assert self.shown is not None
        try:
            return self.shown(row)
        except (KeyError, TypeError, AttributeError):  # it is not what its schema says
            return row

    def channels(self, prefix: str) -> Iterator[Channel]:
        """By "<prefix>.<path>"."""
        for path, (times, values) in self.columns.items():
            if times:
                name = ".".join(filter(None, (prefix, path))) or "y"
                yield ordered(Channel(name, *self.units(path), np.concatenate(times), np.concatenate(values), self.name))

    def notes(self) -> Iterator[str]:
        if len(self.columns) >= MOST:
            yield f"{self.name}: more than {MOST} different numbers; the others are left out"

    def losses(self) -> Iterator[str]:
        if self.wrong:
            yield f"{count(self.wrong, 'message')} of {self.name} cannot be read"


def ordered(channel: Channel) -> Channel:
    """The same in order of time."""
    t: Array = channel.t
    if len(t) < 2 or not np.any(np.diff(t) < 0.0):
        return channel
    order = np.argsort(t, kind="stable")
    return Channel(channel.name, channel.unit, channel.about, t[order], channel.values[order], channel.source)
