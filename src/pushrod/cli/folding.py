"""Tables in the room there is: which of two fits, rows as blocks where none does, and long names folded where a name has a joint."""

import re
from collections.abc import Iterable, Mapping
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


def stacked(head: str, rows: Iterable[tuple[str, Mapping[str, str]]]) -> "Table":
    """A block for each row: its name, and below it each cell beside its head."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(head, overflow="fold")
    table.add_column("", justify="right", overflow="fold")
    for i, (name, cells) in enumerate(rows):
        if i:
            table.add_section()
        table.add_row(name, "")
        for label, text in cells.items():
            table.add_row(f"  {label}", text)
    return table


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
