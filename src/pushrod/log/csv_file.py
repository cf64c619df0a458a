"""Read a CSV file as a `Table`, and write channels as one.

t [s];steer [rad];note          names, each with its unit in brackets; or a second line of units; or none at all
0,01;0,25;fine                  between cells , or ; or tab; with ; and tab the numbers may have decimal commas

Time is the column named t, time, timestamp ..., else the first one, in seconds or by its unit, or as 2026-01-31T12:00:00. An empty cell is no value;
a column without any number is left out. Everything else that is no number is a LogError with line and column.
"""

import csv
import re
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from pushrod.config.unit import bracketed, parse
from pushrod.core import input_file
from pushrod.core.errors import LogError
from pushrod.core.names import count
from pushrod.log.csv_head import Head, cells_of, moment, number, read_head
from pushrod.log.table import Channel, Table
from pushrod.log.topic_columns import ITS_OWN_START, MOST_VALUES, ordered

Array = NDArray[np.float64]
Lines = NDArray[np.int64]
SECONDS = ("", "s", "sec", "seconds", "-")


class _Column:
    """The numbers of a column with their lines, and what is none: all of that of the column of times, which may be dates, else the first."""

    def __init__(self, name: str, unit: str, is_time: bool) -> None:
        self.name = name
        self.unit = unit
        self.is_time = is_time
        self.lines = array("q")
        self.values = array("d")
        self.words: list[tuple[int, str]] = []
        self.commas = False

    def put(self, cell: str, line: int, between: str) -> None:
        cell = cell.strip()
        if not cell:
            return
        value = number(cell, between)
        if value is not None:
            self.commas = self.commas or (between != "," and "," in cell)
            self.lines.append(line)
            self.values.append(value)
        elif self.is_time or not self.words:
            self.words.append((line, cell))

    def numbers(self) -> tuple[Lines, Array]:
        return np.array(self.lines, dtype=np.int64), np.array(self.values, dtype=np.float64)


def read(file: Path) -> Table:
    """LogError names line and column of what is wrong."""
    try:
        raw = input_file.read_bytes(file, input_file.LOG)
    except OSError as e:
        raise LogError(f"{file}: cannot be read: {e.strerror or e}") from e
    text, notes = decoded(raw, file)
    try:
        return _read(file, text, notes)
    except csv.Error as e:
        raise LogError(f"{file}: is no CSV that can be read: {e}") from e


def decoded(raw: bytes, file: Path) -> tuple[str, list[str]]:
    """Return the text of a CSV file, and notes on its encoding."""
    for marks, name in (((b"\xff\xfe", b"\xfe\xff"), "utf-16"), ((b"",), "utf-8-sig")):
        if raw.startswith(marks):
            try:
                return raw.decode(name), []
            except UnicodeDecodeError:
                break
    if b"\0" in raw:
        raise LogError(f"{file}: is no CSV: byte {raw.index(0)} is 0; is it a binary file?")
    return raw.decode("latin-1"), ["the file is not in UTF-8; read as Latin-1"]


def _read(file: Path, text: str, notes: list[str]) -> Table:
    head = read_head(file, text)
    columns = [_Column(name, unit, j == head.time) for j, (name, unit) in enumerate(zip(head.names, head.units, strict=True))]
    torn, total = "", 0
    last = text.count("\n") + 1
    for line, cells in cells_of(text, head.between):
        if line <= head.lines or not any(cells):
            continue
        while len(cells) > len(columns) and not cells[-1]:
            cells.pop()  # a separator at the end of the line
        if len(cells) != len(columns):
            if line == last and not text.endswith("\n") and len(cells) < len(columns):
                torn = f"line {line}, the last one, is cut: {count(len(cells), 'cell')} of {len(columns)}; it is left out"
                break
            raise LogError(f"{file}: line {line}: {_wrong_count(cells, columns, head)}")
        for j, cell in enumerate(cells):
            columns[j].put(cell, line, head.between)
        total += len(cells)
        if total > MOST_VALUES:
            raise LogError(f"{file}: more than {MOST_VALUES} numbers, which do not fit into memory; cut the file")
    return _table(file, columns, head, notes, torn)


def _wrong_count(cells: list[str], columns: list[_Column], head: Head) -> str:
    what = f"{count(len(cells), 'cell')} where the head has {len(columns)}"
    digits = sum(bool(re.fullmatch(r"\s*[-+]?\d+\s*", cell)) for cell in cells)
    if head.between == "," and len(cells) > len(columns) and digits >= len(columns):
        return f"{what}; if the numbers have decimal commas, write ; between the cells, or points in the numbers"
    return f"{what}; each line needs as many cells as the head"


def _table(file: Path, columns: list[_Column], head: Head, notes: list[str], torn: str) -> Table:
    start, timed, t = _times(file, columns[head.time], f"column {head.time + 1} ({columns[head.time].name[:40]}), the time")
    if any(column.commas for column in columns):
        notes.append("the numbers have decimal commas")
    channels = {}
    for j, column in enumerate(columns):
        if j == head.time:
            continue
        lines, values = column.numbers()
        if column.words and len(values):
            line, cell = column.words[0]
            raise LogError(f"{file}: line {line}, column {j + 1} ({column.name[:40]}): {cell[:40]!r} is no number, while others there are")
        if column.words:
            notes.append(f"the column {column.name[:40]!r} holds text and is left out")
            continue
        there = np.isin(lines, timed)  # a line without a time has no place
        channels[column.name] = ordered(Channel(column.name, column.unit, "", t[np.searchsorted(timed, lines[there])], values[there]))
    return Table(file, "csv", channels, torn=torn, notes=tuple(notes), start=start)


def _times(file: Path, column: _Column, where: str) -> tuple[int, Lines, Array]:
    """What t = 0 is [ns since 1970], and line and t of every line that has a time."""
    lines, t = column.numbers()
    start = 0
    if column.words:
        moments = [moment(text) for _, text in column.words]
        if len(t) or None in moments:
            line, cell = next(((line, text) for (line, text), found in zip(column.words, moments, strict=True) if found is None), column.words[0])
            raise LogError(f"{file}: line {line}, {where}: {cell[:40]!r} is neither a number nor a date such as 2026-01-31T12:00:00")
        whole = [found for found in moments if found is not None]
        start = whole[0]
        lines = np.array([line for line, _ in column.words], dtype=np.int64)
        t = np.array([found - start for found in whole], dtype=np.float64) / 1e9
    elif len(t):
        factor = _factor(file, column.unit, where)
        t = t if factor == 1.0 else t * factor
        if ITS_OWN_START <= t[0] * 1e9 < 1e19:
            whole_seconds = int(t[0])
            start = whole_seconds * 10**9 + round((float(t[0]) - whole_seconds) * 1e9)
            t = t - t[0]
    if not np.all(np.isfinite(t)):
        raise LogError(f"{file}: line {lines[int(np.argmin(np.isfinite(t)))]}, {where}: it is not finite")
    falls = np.flatnonzero(np.diff(t) < 0.0)
    if len(falls):
        i = int(falls[0])
        what = f"it falls from {t[i]:g} s to {t[i + 1]:g} s; sort the lines; if these are no times, name the column that has them t or time"
        raise LogError(f"{file}: line {lines[i + 1]}, {where}: {what}")
    return start, lines, t


def _factor(file: Path, unit: str, where: str) -> float:
    if unit in SECONDS:
        return 1.0
    try:
        found = parse(unit)
    except (ValueError, OverflowError):
        found = None
    if found is None or found.dimension != parse("s").dimension:
        raise LogError(f"{file}: {where}: its unit {unit!r:.40} is none of time; write s, ms, us, min ...")
    return float(found.factor)


def write(channels: Iterable[Channel], out: TextIO) -> int:
    """Channels side by side, a line for every time that one of them has, every number to its last bit; how many lines there are."""
    channels = tuple(channels)
    keys = [np.column_stack([c.t, _nth(c.t)]) for c in channels]
    rows, place = np.unique(np.concatenate(keys) if keys else np.zeros((0, 2)), axis=0, return_inverse=True)
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(["t [s]", *(c.name + bracketed(c.unit) for c in channels)])
    cells = [[""] * len(channels) for _ in range(len(rows))]
    at = 0
    for j, channel in enumerate(channels):
        for i, value in zip(place.ravel()[at : at + len(channel)].tolist(), channel.values.tolist(), strict=True):
            cells[i][j] = repr(value)
        at += len(channel)
    sheet.writerows([repr(t), *line] for t, line in zip(rows[:, 0].tolist(), cells, strict=True))
    return len(rows)


def _nth(t: Array) -> Array:
    """Which one of its time each value is: 0, 1 ... where several have the same."""
    new = np.concatenate([[True], np.diff(t) != 0.0]) if len(t) else np.zeros(0, dtype=bool)
    first = np.flatnonzero(new)
    return np.asarray(np.arange(len(t)) - np.repeat(first, np.diff(np.append(first, len(t)))), dtype=np.float64)
