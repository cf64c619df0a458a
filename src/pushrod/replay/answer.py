"""An answer or a message that is not what it was: which of its fields, and which command it is about."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

NAMED = ("kind", "to", "source", "id", "name")  # fields that say which one it is
SHOWN, LONG = 6, 120  # fields that are told, and letters of one


class Field(NamedTuple):
    """`recorded` and `replayed` are None where only the other has it."""

    path: str
    recorded: Any
    replayed: Any


class AnswerDifference(NamedTuple):
    """The first command whose answer or end is not what it was, or message of a topic that is not, then and now; None where there was none."""

    number: int
    recorded: Any
    replayed: Any
    topic: str = "command"
    t: float | None = None

    @property
    def fields(self) -> list[Field]:
        """Those that differ."""
        return [*_apart(self.recorded, self.replayed, "")] if self.recorded is not None and self.replayed is not None else []

    def __str__(self) -> str:
        return f"{self.topic} {self.number}{self._which()}: {'; '.join(self._said())}"

    def _which(self) -> str:
        row = self.recorded if isinstance(self.recorded, Mapping) else self.replayed if isinstance(self.replayed, Mapping) else {}
        names = [f"{key} {row[key]}" for key in NAMED if isinstance(row.get(key), str)]
        when = [] if self.t is None else [f"t = {self.t:g} s"]
        return f" ({', '.join([*when, *names])})" if when or names else ""

    def _said(self) -> Iterator[str]:
        if self.recorded is None or self.replayed is None:
            yield f"was {_text(self.recorded, 'not there')}, is {_text(self.replayed, 'not there')}"
            return
        fields = self.fields
        for field in fields[:SHOWN]:
            yield f"{field.path or 'it'} was {_text(field.recorded)}, is {_text(field.replayed)}"
        if len(fields) > SHOWN:
            yield f"and {len(fields) - SHOWN} fields more"


def _apart(a: Any, b: Any, path: str) -> Iterator[Field]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys((*a, *b)):
            yield from _apart(a.get(key), b.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _apart(x, y, f"{path}[{i}]")
    elif a != b:
        yield Field(path, a, b)


def _text(value: Any, missing: str = "nothing") -> str:
    if value is None:
        return missing
    said = msgspec.json.encode(value).decode()
    return said if len(said) <= LONG else f"{said[:LONG]}…"
