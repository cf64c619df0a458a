"""Tables in the room there is: which of two fits, and long names folded where a name has a joint."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def fits(console: "Console", table: "Table") -> bool:
    """Whether no cell of it needs to be folded."""
    return full_width(console, table) <= console.width


def full_width(console: "Console", table: "Table") -> int:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=100_000), table).maximum


def _parts(name: str) -> list[str]:
    return re.findall(r"[^./]*[./]|[^./]+", name)


def least_room(names: Iterable[str]) -> int:
    """Letters that a line needs for names to be broken at their joints alone."""
    return max((len(part) for name in names for part in _parts(name)), default=0)


def folded(name: str, room: int) -> str:
    """A name in lines of so many letters, broken after `.` and `/` only."""
    lines = [""]
    for part in _parts(name):
        if lines[-1] and len(lines[-1]) + len(part) > room:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)
