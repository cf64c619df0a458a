"""Maps from CSV files: `default, c1, c2, ...` first, then one line per row, `r1, z11, z12, ...`.

The first cell is a title and is not read. Empty lines, CRLF line ends, spaces around numbers and one comma at the end of a line
are fine. All else is a MapError that says file, row and column, counted from 1 as an editor shows them, and has a `kind`:

    file     cannot be opened or is empty
    shape    fewer than two columns, or a line with more or fewer cells than the first
    number   a cell that is empty or is not a finite number as a whole ("1.0x", "nan")
    axis     an axis with fewer than two points or one that does not rise strictly: nothing can be looked up in it
    order    values that do not rise (accel, steer) or fall (brake) strictly down every column: the map has no inverse

`order` alone can be switched off (`validate=False`), for maps that are only ever looked up forwards.
"""

import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.core import input_file
from pushrod.core.errors import MapError
from pushrod.core.quantity import Floats
from pushrod.core.table import Grid
from pushrod.vehicles.pedal_map import AccelerationMap, AccelMap, BrakeMap
from pushrod.vehicles.steer_map import SteerMap

Source = str | os.PathLike[str]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
RISE, FALL = 1, -1


class Sheet(NamedTuple):
    """The numbers of a map file, and on which line of the file each row stands."""

    row: Floats
    col: Floats
    z: Floats
    lines: tuple[int, ...]


def load_accel_map(path: Source, validate: bool = True) -> AccelMap:
    sheet = read(path)
    if validate:
        _check_order(path, sheet, RISE)
    return AccelMap(sheet.row, sheet.col, sheet.z)


def load_brake_map(path: Source, validate: bool = True) -> BrakeMap:
    sheet = read(path)
    if validate:
        _check_order(path, sheet, FALL)
    return BrakeMap(sheet.row, sheet.col, sheet.z)


def load_steer_map(path: Source, validate: bool = True) -> SteerMap:
    sheet = read(path)
    if validate:
        _check_order(path, sheet, RISE)
    return SteerMap(sheet.row, sheet.col, sheet.z)


def load_acceleration_map(path: Source) -> AccelerationMap:
    """This one is looked up forwards only, so that its order does not matter."""
    sheet = read(path)
    return AccelerationMap(sheet.row, sheet.col, sheet.z)


LOADERS: dict[type, Callable[[Source], Any]] = {
    AccelMap: load_accel_map,
    BrakeMap: load_brake_map,
    SteerMap: load_steer_map,
    AccelerationMap: load_acceleration_map,
}


def read(path: Source) -> Sheet:
    """The numbers of a map file, with sound axes."""
    cells = _cells(path)
    line, head = cells[0]
    col = tuple(_number(path, line, j, cell) for j, cell in enumerate(head[1:], start=2))
    body = [tuple(_number(path, line, j, cell) for j, cell in enumerate(row, start=1)) for line, row in cells[1:]]
    lines = tuple(line for line, _ in cells[1:])
    row = tuple(values[0] for values in body)
    _check_axis(path, "column", col, [f"row {line}, column {j + 2}" for j in range(len(col))])
    _check_axis(path, "row", row, [f"row {line}, column 1" for line in lines])
    return Sheet(row, col, tuple(z for values in body for z in values[1:]), lines)


def unordered(m: Grid, way: int) -> list[tuple[int, int]]:
    """Where values do not rise (way = RISE) or fall (way = FALL) strictly from row to row: (row, column) of the table, from 0."""
    n = len(m.col)
    return [(i, j) for i in range(1, len(m.row)) for j in range(n) if not way * (m.z[i * n + j] - m.z[(i - 1) * n + j]) > 0.0]


def _cells(path: Source) -> list[tuple[int, list[str]]]:
    """The cells of every line that is not empty, with its number."""
    try:
        text = input_file.read_bytes(Path(path)).decode("utf-8", errors="replace")
    except (OSError, ValueError) as error:  # a name with a NUL in it
        raise MapError(f"{path}: cannot be opened ({getattr(error, 'strerror', None) or error}); give the path of a map CSV file", "file") from None
    cells = []
    for line, content in enumerate(text.split("\n"), start=1):
        if content:
            # one comma at the end closes the last cell; it does not open another
            cells.append((line, content.removesuffix(",").split(",")))
    if not cells:
        raise MapError(f"{path}: row 1, column 1: the file is empty; a map starts with `default, c1, c2, ...`", "file")
    line, head = cells[0]
    if len(head) < 2:
        raise MapError(f"{path}: row {line}, column 2: the first line must hold a title and the column axis, got {len(head)} cell", "shape")
    for line, row in cells[1:]:
        if len(row) != len(head):
            j = min(len(row), len(head)) + 1
            raise MapError(f"{path}: row {line}, column {j}: the line has {len(row)} cells where the first line has {len(head)}", "shape")
    return cells


def _number(path: Source, line: int, column: int, cell: str) -> float:
    text = cell.strip()
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        what = "the cell is empty" if not text else f"{text!r} is not a finite number"
        raise MapError(f"{path}: row {line}, column {column}: {what}; write a number such as 0.35", "number")
    return value


def _check_axis(path: Source, name: str, axis: Floats, places: Sequence[str]) -> None:
    if len(axis) < 2:
        place = places[0] if places else "row 2, column 1"
        raise MapError(f"{path}: {place}: the {name} axis has {len(axis)} point{'s' * (not axis)}; a look-up needs at least two", "axis")
    for k in range(1, len(axis)):
        if not axis[k] > axis[k - 1]:
            raise MapError(f"{path}: {places[k]}: the {name} axis must rise strictly, but {axis[k]:g} follows {axis[k - 1]:g}", "axis")


def _check_order(path: Source, sheet: Sheet, way: int) -> None:
    bad = unordered(sheet, way)
    if not bad:
        return
    (i, j), n = bad[0], len(sheet.col)
    above, here = sheet.z[(i - 1) * n + j], sheet.z[i * n + j]
    more = "" if len(bad) == 1 else f" ({len(bad)} such cells, the last at row {sheet.lines[bad[-1][0]]}, column {bad[-1][1] + 2})"
    raise MapError(
        f"{path}: row {sheet.lines[i]}, column {j + 2}: values must {'rise' if way == RISE else 'fall'} strictly down every column "
        f"for the map to have an inverse, but {here:g} follows {above:g}{more}",
        "order",
    )
