"""Read a JSON file as a `Table`: measurements as records, or as columns, and beside them what was the same all along.

    {"kp": 100, "mass": 0.49, "entries": [{"timestamp": 0.0035, "position": -0.003, "torque_enable": true}, ...]}
    {"kp": 100, "t": [0.0035, ...], "position": [-0.003, ...]}
    [{"t": 0.0035, "position": -0.003}, ...]

Time is what is named t, time, timestamp ..., in seconds or by its unit; a name may end in one: "position [deg]", "t (ms)".
A number that is missing or null in a record is no value. true is 1. What stands beside the records, words and numbers, is `table.metadata["file"]`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pushrod.config.unit import parse
from pushrod.core import input_file
from pushrod.core.errors import LogError
from pushrod.log.csv_head import WITH_UNIT
from pushrod.log.mat_file import TIMES
from pushrod.log.table import Channel, Table
from pushrod.log.topic_columns import MOST_VALUES, ordered

ABOUT = "file"  # where the metadata are


def read(file: Path) -> Table:
    """LogError where it is no JSON, or holds no measurements with times."""
    try:
        data = json.loads(input_file.read_text(file, largest=input_file.LOG))
    except OSError as e:
        raise LogError(f"{file}: cannot be read: {e.strerror or e}") from e
    except (ValueError, RecursionError) as e:
        raise LogError(f"{file}: is no JSON that can be read: {e}") from e
    rows, columns, about = _parts(data)
    if rows:
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: [row.get(name) for row in rows] for name in names}
    if len(columns) * max(map(len, columns.values()), default=0) > MOST_VALUES:
        raise LogError(f"{file}: more than {MOST_VALUES} numbers, which do not fit into memory")
    named = {name: _name_and_unit(name) for name in columns}
    time = next((name for want in TIMES for name in columns if named[name][0].lower() == want), None)
    if time is None:
        raise LogError(f"{file}: no measurements with times were found; records or columns need one of {', '.join(TIMES)} [s] among them")
    numbers = {name: _numbers(values) for name, values in columns.items()}
    t = numbers[time]
    if t is None or not np.isfinite(t).all():
        raise LogError(f"{file}: {time} must be a number in every record: the times of the measurements [s]")
    unit = parse(named[time][1] or "s")
    if unit.dimension != parse("s").dimension:
        raise LogError(f"{file}: {time}: its unit is none of time; write s, ms, us, min ...")
    t = t if unit.factor == 1 else t * float(unit.factor)
    channels = {}
    for name, values in numbers.items():
        if name != time and values is not None and len(values) == len(t):
            good = ~np.isnan(values)
            short, written = named[name]
            short = short if short not in channels else name
            channels[short] = ordered(Channel(short, written, "", t[good], values[good]))
    if not channels:
        raise LogError(f"{file}: nothing but times was found: no other name has a number in every record")
    return Table(file, "json", channels, {ABOUT: about} if about else {})


def _name_and_unit(name: str) -> tuple[str, str]:
    """The parts of "position [deg]"; brackets that hold no unit belong to the name."""
    m = WITH_UNIT.fullmatch(name)
    unit = (m[2] or m[3] or "").strip() if m and m[1] else ""
    try:
        parse(unit)
    except (ValueError, OverflowError):
        return name, ""
    return (m[1], unit) if m and unit else (name, "")


def _parts(data: Any) -> tuple[list[Mapping[str, Any]], dict[str, Sequence[Any]], dict[str, str]]:
    """Records, columns, and what stands beside them."""
    if _are_records(data):
        return data, {}, {}
    if not isinstance(data, dict):
        return [], {}, {}
    rows: list[Mapping[str, Any]] = next((value for value in data.values() if _are_records(value)), [])
    columns: dict[str, Sequence[Any]] = {} if rows else {name: value for name, value in data.items() if isinstance(value, list)}
    about = {name: str(value) for name, value in data.items() if isinstance(value, (str, int, float))}
    return rows, columns, about


def _are_records(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(row, dict) for row in value)


def _numbers(values: Sequence[Any]) -> Any:
    """Floats, nan where there is none; None where something is no number at all."""
    if not all(value is None or isinstance(value, (int, float)) for value in values) or all(value is None for value in values):
        return None
    return np.array([np.nan if value is None else float(value) for value in values])
