"""Rows of a reference CSV file, read strictly: the columns it must have, none twice, every cell a number where one is due."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path

from pushrod.core import input_file
from pushrod.core.errors import VerifyError

Row = dict[str, str]


def header(path: Path) -> list[str]:
    """The names of the columns; empty where the file cannot be read as text."""
    try:
        with input_file.open_text(path, newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return []


def read(path: Path, columns: Iterable[str], optional: Iterable[str] = ()) -> list[Row]:
    """All rows; VerifyError where a column is missing, unknown or twice there, where a row has another width, or where there are no rows."""
    try:
        with input_file.open_text(path, newline="") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise VerifyError(f"{path}: cannot be read: {error}") from error
    names = lines[0] if lines else []
    wanted = list(columns)
    missing = [name for name in wanted if name not in names]
    unknown = [name for name in names if name not in wanted and name not in set(optional)]
    twice = sorted({name for name in names if names.count(name) > 1})
    for what, found in (("lacks the columns", missing), ("has columns nobody knows:", unknown), ("has columns twice:", twice)):
        if found:
            raise VerifyError(f"{path}: {what} {', '.join(found)}")
    if len(lines) < 2:
        raise VerifyError(f"{path}: holds no rows to compare with")
    for k, line in enumerate(lines[1:], 2):
        if len(line) != len(names):
            raise VerifyError(f"{path}: row {k} has {len(line)} cells, the header has {len(names)}")
    return [dict(zip(names, line, strict=True)) for line in lines[1:]]


def number(path: Path, k: int, row: Row, column: str) -> float:
    """The finite number in a cell of row k, counted from 2 as an editor does with the header."""
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise VerifyError(f"{path}: row {k}, column {column}: {row[column]!r} is not a finite number")
    return value


def zero_or_one(path: Path, k: int, row: Row, column: str) -> float:
    value = number(path, k, row, column)
    if value not in (0.0, 1.0):
        raise VerifyError(f"{path}: row {k}, column {column}: {row[column]!r} is a flag; it must be 0 or 1")
    return value
