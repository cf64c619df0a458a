"""A column of a recording in the unit that a world wants."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.config.unit import to_si
from pushrod.core.errors import InputError
from pushrod.core.names import find
from pushrod.core.quantity import Choice
from pushrod.log.table import Table

Array = NDArray[np.float64]
Recorded = Table | Mapping[str, Any]
TIME = "t"
WITH_UNIT = re.compile(r"(.*\S)\s*\[([^\[\]]+)\]\s*")


class Column(NamedTuple):
    """`unit` is that of the values, which are the world's; `written` the one they were recorded in, "" where nobody said."""

    name: str
    unit: str
    written: str
    t: Array
    values: Array


def column(recorded: Recorded, text: str, meta: Any) -> Column:
    """The column that "name" or "name [unit]" means, in the unit of a field of the world. What is not finite is left out.

    A unit said here goes over that of the log.
    """
    name, said = split(text)
    t, values, written = _raw(recorded, name)
    written = said or written
    good = np.isfinite(values) & np.isfinite(t)
    wanted = meta.unit
    factor = 1.0 if isinstance(meta, Choice) or wanted in ("-", written) or not written else _factor(name, written, wanted)
    return Column(name, wanted, written, t[good], values[good] * factor)


def split(text: str) -> tuple[str, str]:
    """Name and unit of "name [unit]"."""
    m = WITH_UNIT.fullmatch(text)
    return (m[1], m[2].strip()) if m else (text.strip(), "")


def _raw(recorded: Recorded, name: str) -> tuple[Array, Array, str]:
    if isinstance(recorded, Table):
        channel = recorded[name]
        return channel.t, channel.values, channel.unit
    values = np.asarray(find(recorded, name, "column"), float)
    t = np.asarray(find(recorded, TIME, "column"), float)
    if t.ndim != 1 or values.shape != t.shape:
        raise InputError(f"column {name!r} has shape {values.shape}, the times under {TIME!r} have {t.shape}: give one value for each time")
    return t, values, ""


def _factor(name: str, written: str, wanted: str) -> float:
    try:
        return to_si(f"1 {written}", wanted)
    except ValueError as e:
        raise InputError(f"column {name!r}: {e}; say its unit, such as '{name} [{wanted}]'") from e
