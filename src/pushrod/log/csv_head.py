"""The head of a CSV file: names and units of its columns, what stands between cells, and on which line the numbers begin."""

import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pushrod.config.unit import parse
from pushrod.core.errors import LogError

BETWEEN = (";", "\t", ",")
COMMENTS = ("#", "%")
TIMES = ("t", "time", "timestamp", "stamp", "time_s", "seconds", "elapsed", "__time", "zeit")
MOST_COLUMNS = 20_000
FLAGS = {"true": 1.0, "false": 0.0}
WITH_UNIT = re.compile(r"\s*(.*?)\s*(?:\[([^\[\]]*)\]|\(([^()]*)\))\s*")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")


class Head(NamedTuple):
    """`lines` are those before the numbers, `time` is the column of times, `written` the names as they stand in the file."""

    names: list[str]
    units: list[str]
    between: str
    lines: int
    time: int
    written: list[str]


def read_head(file: Path, text: str) -> Head:
    """The first line that is no comment, and the one below it where that holds units."""
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(COMMENTS)), None)
    if first is None:
        raise LogError(f"{file}: is empty: a line of names and lines of numbers were expected")
    counts = {between: first.count(between) for between in BETWEEN}
    between = max(BETWEEN, key=lambda one: (counts[one], one == ";"))
    rows = []
    for line, cells in cells_of(text, between):
        if any(cells):
            rows.append((line, [cell.strip() for cell in cells]))
        if len(rows) == 2:
            break
    if not rows:
        raise LogError(f"{file}: holds nothing but empty cells: a line of names and lines of numbers were expected")
    (line, names), *below = rows
    while len(names) > 1 and not names[-1]:
        names.pop()
    if len(names) > MOST_COLUMNS:
        raise LogError(f"{file}: line {line}: {len(names)} columns; {MOST_COLUMNS} can be read")
    if any(_is_number(name, between) for name in names):
        if not all(_is_number(name, between) or not name for name in names):
            raise LogError(f"{file}: line {line}: names and numbers are mixed in the first line: {', '.join(names)[:80]!r}; write a line of names")
        made = [f"column{j + 1}" for j in range(len(names))]
        return Head(made, [""] * len(names), between, 0, 0, made)
    split = [WITH_UNIT.fullmatch(name) for name in names]
    found = [m[1] if m and m[1] else name for m, name in zip(split, names, strict=True)]
    units = [(m[2] if m[2] is not None else m[3]) if m and m[1] else "" for m in split]
    lines = line
    if below and len(below[0][1]) == len(names) and _are_units(below[0][1], between):
        lines, cells = below[0]
        beneath = [cell.strip("[]() ") for cell in cells]
        for name, above, unit in zip(found, units, beneath, strict=True):
            if above and unit and above != unit:
                raise LogError(f"{file}: line {lines}: {name} is in {above!r} by the line of names and in {unit!r} by the one below it: take one out")
        units = [above or unit for above, unit in zip(units, beneath, strict=True)]
    time = next((j for want in TIMES for j, name in enumerate(found) if name.strip().lower() == want), 0)
    return Head(_told_apart(found), units, between, lines, time, names)


def _are_units(cells: list[str], between: str) -> bool:
    if any(_is_number(cell, between) or cell.lower() in FLAGS or moment(cell) is not None for cell in cells):
        return False
    known = [cell for cell in cells if cell and _is_unit(cell.strip("[]() "))]
    return bool(known) and 2 * len(known) >= sum(map(bool, cells))


def _is_unit(text: str) -> bool:
    try:
        parse(text)
    except (ValueError, OverflowError):
        return False
    return True


def _told_apart(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    made = []
    for j, name in enumerate(names):
        name = name or f"column{j + 1}"
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made


def number(cell: str, between: str) -> float | None:
    """What a cell says, true and false included; None where it is no number."""
    if "_" in cell:
        return None
    if between != "," and DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    try:
        return float(cell)
    except ValueError:
        return FLAGS.get(cell.lower())


def _is_number(cell: str, between: str) -> bool:
    return number(cell, between) is not None and cell.lower() not in FLAGS


def cells_of(text: str, between: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, skipinitialspace=True)
    for cells in reader:
        if not (cells and cells[0].lstrip().startswith(COMMENTS)):
            yield reader.line_num, cells


def moment(text: str) -> int | None:
    """Date and time [ns since 1970, UTC where it says nothing else]."""
    if len(text) < 10 or not text[:4].isdigit():
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    whole = found.replace(microsecond=0)
    return round(whole.timestamp()) * 10**9 + found.microsecond * 1000
