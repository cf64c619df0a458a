"""What a signal kind is: the fields one writes, and how they become the numbers its pure function takes.

A kind is one file: the equation, a record `Fields` with units and ranges, the pure function, the constant `Kind`. It is known
once it stands in `table.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.core.quantity import Floats


class Row(NamedTuple):
    """What a kind puts into a track: up to six numbers (columns a to f of its interval), and points."""

    columns: Floats = ()
    points: Floats = ()
    n: int = 0


class FlawError(Exception):
    """A field of an interval that cannot be used; whoever knows channel and interval makes a SignalError of it. `path` leads to it."""

    def __init__(self, path: str | tuple[str | int, ...], value: object, why: str, kind: str = "malformed") -> None:
        super().__init__(why)
        self.path = (path,) if isinstance(path, str) else path
        self.value = value
        self.why = why
        self.kind = kind


@dataclass(frozen=True, eq=False)
class Kind:
    """`row(fields, t_start, t_end)` compiles one interval. `open_ended`: may last for ever. `words`: texts it takes besides its fields.

    `expand(data, folder)` turns another way to write the fields into the fields.
    """

    name: str
    about: str
    Fields: Any
    row: Callable[[Any, float, float], Row]
    open_ended: bool = True
    words: Mapping[str, str] = field(default_factory=dict)
    expand: Callable[[Any, Path | None], Any] | None = None


def refuse_zero_length(name: str, t_start: float, t_end: float) -> None:
    if t_start == t_end:
        raise FlawError("t_end", t_end, f"equals t_start; a {name} interval needs a length above zero", "degenerate")
