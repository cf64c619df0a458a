"""Recorded values, met exactly at their times; the first and the last value hold beyond the ends.

    linear:  straight lines between the points
    held:    each value holds until the next time

The points stand in place or come from two columns of a CSV file with one line of names at its head. Scenarios and `SignalSet` convert units in these
names ("t [ms]", "wheel [deg]") to seconds and to the unit of the channel; `pushrod.signals.parse` knows no units and refuses such names.
"""

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core import input_file
from pushrod.core.names import unknown
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Floats, Table
from pushrod.signals.kind import FlawError, Kind, Row
from pushrod.signals.linear import linear
from pushrod.signals.points import from_pairs, points_row, reached


class Fields(NamedTuple):
    t: A[Floats, Table("s", about="times from the start of the interval, rising")] = ()
    y: A[Floats, Table("y", about="values at these times")] = ()
    between: A[float, Choice(("linear", "held"), about="what counts between two points")] = 0.0


WORDS = {
    "file": "CSV file with a line of column names, in place of t and y",
    "t_column": "column of times, in s or in the unit in its name; left out: the first",
    "y_column": "column of values, in the unit of the channel or in the unit in its name; left out: the second",
}


WITH_UNIT = re.compile(r".*\S\s*(\[[^\[\]]*\]|\([^()]*\))\s*")


@pure
def recorded(t: float, points: Floats, first: int, n: int, between: float) -> float:
    k = reached(points, first, n, t)
    y = points[first + n]
    if k > 0:
        y = points[first + n + k - 1]
    if k > 0 and k < n and between == 0.0:
        i = first + k
        y = linear(t, points[i - 1], points[i], points[i + n - 1], points[i + n])
    return y


def row(f: Fields, t_start: float, t_end: float) -> Row:
    return points_row(f.t, f.y, t_start, (f.between,))


def expand(data: Any, folder: Path | None) -> Any:
    if not isinstance(data, Mapping) or "file" not in data:
        return from_pairs(data, folder)
    for name in ("t", "y"):
        if name in data:
            raise FlawError(name, data[name], "and `file` are both given; keep one of them")
    path = (folder or Path()) / str(data["file"])
    t, y = _columns(path, data.get("t_column"), data.get("y_column"))
    return {"t": t, "y": y} | {name: value for name, value in data.items() if name not in WORDS}


def _columns(path: Path, t_column: object, y_column: object) -> tuple[list[float], list[float]]:
    try:
        with input_file.open_text(path, newline="") as file:
            head, *rows = [line for line in csv.reader(file) if line] or [[]]
    except (OSError, ValueError, csv.Error) as error:  # ValueError: no text, or a name with a NUL in it
        raise FlawError("file", str(path), f"cannot be read: {error}") from error
    names = {name.strip(): k for k, name in enumerate(head)}
    if len(names) < 2:
        raise FlawError("file", str(path), f"needs a line of at least two different column names at its head, got {head}")
    places = []
    for field, name, default in (("t_column", t_column, 0), ("y_column", y_column, 1)):
        if name is not None and str(name) not in names:
            raise FlawError(field, name, f"is not in {path}: {unknown(names, str(name), 'column')}")
        place = default if name is None else names[str(name)]
        if WITH_UNIT.fullmatch(head[place]):
            why = f"in {path} has a unit, which is not converted here. Load the signal by a scenario or SignalSet, or take the unit out of the name"
            raise FlawError(field, head[place].strip(), why)
        places.append(place)
    return _numbers(path, rows, places[0]), _numbers(path, rows, places[1])


def _numbers(path: Path, rows: list[list[str]], column: int) -> list[float]:
    values = []
    for k, line in enumerate(rows):
        try:
            values.append(float(line[column]))
        except (IndexError, ValueError):
            raise FlawError("file", str(path), f"has no number in row {k + 2}, column {column + 1}: {','.join(line)!r}") from None
    return values


RECORDED = Kind("recorded", "values recorded at given times, in place or from a CSV file", Fields, row, words=WORDS, expand=expand)
