"""Read a MATLAB file (.mat, versions 5 to 7) as a `Table`.

A vector is a channel where there is a time for it: in the same struct or above it, a vector of the same length named t, time, tout ... A matrix with
as many rows is one channel a column. Structs are looked into, joined by dots; a struct with time and values (or data, or signals, as Simulink writes
them) is a channel with times of its own. Units are in a field `unit` or `units` beside the values: one text for all of them, or a struct with the
unit of each by its name, that of the times among them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.config.unit import parse
from pushrod.core import input_file
from pushrod.core.errors import LogError
from pushrod.log.table import Channel, Table
from pushrod.log.topic_columns import MOST_VALUES, ordered

Array = NDArray[np.float64]
TIMES = ("t", "time", "tout", "timestamp", "times")
VALUES = ("values", "value", "data", "y")
UNITS = ("unit", "units")
HDF5 = b"\x89HDF\r\n\x1a\n"
DEEPEST = 16
MOST_COLUMNS = 1000


class _TimeUnitError(ValueError):
    pass


class _Time(NamedTuple):
    """Times, and the field they are in."""

    t: Array
    name: str


def read(file: Path) -> Table:
    """LogError where it is no MATLAB file, or has no times."""
    try:
        with input_file.open_binary(file, input_file.LOG) as source:
            begin = source.read(8)
    except OSError as e:
        raise LogError(f"{file}: cannot be read: {e.strerror or e}") from e
    if begin == HDF5:
        raise LogError(f"{file}: is a MATLAB file of version 7.3 (HDF5), which is not read; save it with save('{file.name}', ..., '-v7')")
    from scipy.io import loadmat

    try:
        data = loadmat(file, simplify_cells=True, verify_compressed_data_integrity=True)
    except Exception as e:  # scipy raises many kinds of what it cannot read
        if isinstance(e, NotImplementedError):
            raise LogError(f"{file}: is a MATLAB file of version 7.3 (HDF5), which is not read; save it with save('{file.name}', ..., '-v7')") from e
        raise LogError(f"{file}: is no MATLAB file that can be read: {type(e).__name__}: {e}") from e
    plain = {str(name): value for name, value in data.items() if not str(name).startswith("__")}
    notes: list[str] = []
    channels: dict[str, Channel] = {}
    try:
        for channel in _channels(plain, "", None, notes, 0):
            channels.setdefault(channel.name, ordered(channel))
            if sum(map(len, channels.values())) > MOST_VALUES:
                raise LogError(f"{file}: more than {MOST_VALUES} numbers, which do not fit into memory")
    except _TimeUnitError as e:
        raise LogError(f"{file}: {e}") from None
    if not channels:
        has = ", ".join(f"{name} {np.shape(value)}" for name, value in list(plain.items())[:12])
        raise LogError(f"{file}: no vector with times for it was found among {has or 'nothing'}; name the vector of times t or time, in seconds")
    return Table(file, "mat", channels, notes=tuple(notes))


def _channels(data: Mapping[str, Any], prefix: str, above: _Time | None, notes: list[str], depth: int) -> Iterator[Channel]:
    if depth > DEEPEST:
        return
    time = _time(data) or above
    units = _units(data)
    for name, value in data.items():
        path = f"{prefix}.{name}" if prefix else name
        if units is value:
            continue
        unit = units if isinstance(units, str) else str(units.get(name, ""))
        if isinstance(value, dict):
            yield from _channels(value, path, time, notes, depth + 1)
        elif isinstance(value, (list, np.ndarray)) and _are_structs(value):
            for i, item in enumerate(value):
                label = item.get("label") or item.get("name")
                yield from _channels(item, f"{path}.{label if isinstance(label, str) and label else i}", time, notes, depth + 1)
        elif time is not None and not (name == time.name and value is data.get(time.name) and _time(data) is not None):
            yield from _columns(path, name, value, unit, time, notes)


def _columns(path: str, name: str, value: Any, unit: str, time: _Time, notes: list[str]) -> Iterator[Channel]:
    table = _numbers(value)
    if table is None:
        return
    n = len(time.t)
    if table.ndim == 2 and table.shape[0] != n and table.shape[1] == n:
        table = table.T
    if table.ndim not in (1, 2) or table.shape[0] != n:
        if table.size > 1:
            notes.append(f"{path} {table.shape} is left out: {time.name} has {n} times")
        return
    whole = path.rpartition(".")[0] if name.lower() in VALUES and "." in path else path  # a.values is a
    whole = whole.removesuffix(".signals")
    if table.ndim == 1:
        yield Channel(whole, unit, "", time.t, table)
    else:
        for j in range(min(table.shape[1], MOST_COLUMNS)):
            yield Channel(f"{whole}.{j}", unit, "", time.t, np.ascontiguousarray(table[:, j]))


def _units(data: Mapping[str, Any]) -> str | Mapping[str, Any]:
    """One text for all values, or texts by name."""
    for name, value in data.items():
        if name.lower() in UNITS and (isinstance(value, str) or (isinstance(value, dict) and all(isinstance(unit, str) for unit in value.values()))):
            return value
    return ""


def _seconds(units: str | Mapping[str, Any], name: str) -> float:
    """How many seconds a unit of the times is; 1 where none is given for them."""
    written = "" if isinstance(units, str) else str(units.get(name, ""))
    try:
        found = parse(written or "s")
    except ValueError:
        found = None
    if found is None or found.dimension != parse("s").dimension:
        raise _TimeUnitError(f"unit of {name}: {written!r:.40} is no unit of time; write s, ms, us, min ...")
    return float(found.factor)


def _time(data: Mapping[str, Any]) -> _Time | None:
    for want in TIMES:
        for name, value in data.items():
            if name.lower() == want:
                t = _numbers(value)
                if t is not None and t.ndim == 2 and 1 in t.shape:
                    t = t.ravel()
                if t is not None and t.ndim == 0:
                    t = t.reshape(1)
                if t is not None and t.ndim == 1 and np.all(np.isfinite(t)) and np.all(np.diff(t) >= 0.0):
                    seconds = _seconds(_units(data), name)
                    return _Time(t if seconds == 1.0 else t * seconds, name)
    return None


def _numbers(value: Any) -> Array | None:
    """Real numbers as floats; None for anything else."""
    if isinstance(value, (bool, int, float)):
        return np.atleast_1d(np.asarray(value, dtype=np.float64))
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return np.atleast_1d(np.asarray(value, dtype=np.float64))
    return None


def _are_structs(value: Any) -> bool:
    return len(np.shape(value)) == 1 and len(value) > 0 and all(isinstance(item, dict) for item in value)
