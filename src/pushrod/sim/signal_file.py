"""Signals from CSV files, in the unit of their channel: {recorded: {file: wheel.csv}} becomes {recorded: {t: [...], y: [...]}}.

The header is read as that of a log (`log.csv_head`) and units are converted as `pushrod fit` converts them (`config.unit.conversion`): times to
seconds, values to the unit of the channel, or to SI where the channel has none. A column is named as in the header ("wheel [deg]") or without its
unit ("wheel"). A unit behind a name that the header does not have overrides that of the header.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pushrod.config.unit import conversion, split_name
from pushrod.core import input_file
from pushrod.core.errors import LogError
from pushrod.core.names import unknown
from pushrod.log.csv_file import decoded
from pushrod.log.csv_head import Head, cells_of, number, read_head
from pushrod.signals.kind import FlawError
from pushrod.signals.recorded import WORDS

Keys = tuple[str | int, ...]
CASE = "case"  # unit of a channel of named cases, whose numbers have none
SECONDS = ("", "-", "s", "sec", "seconds")
POINTS = ("t", "y")


class _Column(NamedTuple):
    place: int
    unit: str


def with_points(data: Any, unit: str, folder: Path | None, path: Keys = ()) -> Any:
    """Return the data of a channel with points in place of files; `unit` is that of the channel, "" where it has none.

    FlawError leads to what cannot be used.
    """
    if isinstance(data, Mapping):
        if is_file(data, path):
            try:
                return points_of(data, unit, folder)
            except FlawError as flaw:
                raise FlawError((*path, *flaw.path), flaw.value, flaw.why, flaw.kind) from None
        return {name: with_points(value, unit, folder, (*path, name)) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [with_points(value, unit, folder, (*path, k)) for k, value in enumerate(data)]
    return data


def is_file(data: Mapping[Any, Any], path: Keys) -> bool:
    """Return whether these are the fields of a `recorded` interval that names a file and nothing in its place."""
    is_recorded = data.get("type") == "recorded" if "type" in data else bool(path) and path[-1] == "recorded"
    return is_recorded and "file" in data and not any(name in data for name in POINTS)


def points_of(data: Mapping[Any, Any], unit: str, folder: Path | None) -> dict[Any, Any]:
    """Return the fields with the points of the file, times in s and values in `unit`."""
    path = (folder or Path()) / str(data["file"])
    try:
        text, _ = decoded(input_file.read_bytes(path), path)
        head = read_head(path, text)
        rows = [cells for line, cells in cells_of(text, head.between) if line > head.lines and any(cell.strip() for cell in cells)]
    except LogError as error:
        raise FlawError("file", str(path), f"cannot be used: {str(error).removeprefix(f'{path}: ')}") from error
    except (OSError, ValueError, csv.Error) as error:
        raise FlawError("file", str(path), f"cannot be read: {error}") from error
    if len(head.names) < 2:
        raise FlawError("file", str(path), f"has one column, {head.names[0]!r}; allowed: a column of times and at least one of values")
    times, values = (_column(path, head, data, field, default) for field, default in (("t_column", 0), ("y_column", 1)))
    seconds = 1.0 if times.unit in SECONDS else _conversion(path, head, "t_column", times, "s")
    factor = 1.0 if unit == CASE else _conversion(path, head, "y_column", values, unit)
    points = {"t": _numbers(path, rows, head, times.place, seconds), "y": _numbers(path, rows, head, values.place, factor)}
    return {name: value for name, value in data.items() if name not in WORDS} | points


def _column(path: Path, head: Head, data: Mapping[Any, Any], field: str, default: int) -> _Column:
    asked = data.get(field)
    if asked is None:
        return _Column(default, head.units[default])
    written = str(asked).strip()
    for names in (head.written, head.names):
        if written in names:
            place = names.index(written)
            return _Column(place, head.units[place])
    name, unit = split_name(written)
    if name in head.names:
        return _Column(head.names.index(name), unit)
    raise FlawError(field, asked, f"is not in {path}: {unknown(dict.fromkeys(head.names), name, 'column')}")


def _conversion(path: Path, head: Head, field: str, column: _Column, unit: str) -> float:
    try:
        return conversion(column.unit, unit)
    except ValueError as error:
        name = head.names[column.place]
        why = f"in {path}: {error}. Correct the header, or give the unit of the column ({field}: '{name} [{unit}]' if it is in {unit})"
        raise FlawError(field, head.written[column.place], why) from None


def _numbers(path: Path, rows: list[list[str]], head: Head, place: int, factor: float) -> list[float]:
    values = []
    for k, cells in enumerate(rows):
        value = number(cells[place].strip(), head.between) if place < len(cells) else None
        if value is None:
            raise FlawError("file", str(path), f"has no number in row {k + 2}, column {place + 1}: {head.between.join(cells)!r}")
        values.append(value if factor == 1.0 else value * factor)
    return values
