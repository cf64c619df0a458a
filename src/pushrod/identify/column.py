"""A column of a recording in the unit that a world wants."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.config.unit import conversion, split_name, to_si
from pushrod.core.errors import DiagnosisError, InputError
from pushrod.core.names import count, find
from pushrod.core.quantity import Choice
from pushrod.log.table import Table

Array = NDArray[np.float64]
Recorded = Table | Mapping[str, Any]
TIME = "t"
FEWEST = 10  # values of a column


class Column(NamedTuple):
    """`unit` is that of the values, which are the world's; `written` the one they were recorded in, "" where nobody said."""

    name: str
    unit: str
    written: str
    t: Array
    values: Array


def column(recorded: Recorded, text: str, meta: Any, missing: str = "refuse") -> Column:
    """The column that "name" or "name [unit]" means, in the unit of a field of the world. A unit said here goes over that of the log; a "-" in front
    of the name turns its sign.

    Values that are no numbers are a DiagnosisError, or with `missing="drop"` left out.
    """
    name, said = split_name(text)
    sign = -1.0 if name.startswith("-") and name not in _names(recorded) else 1.0
    name = name if sign > 0.0 else name[1:].lstrip()
    t, values, written = _raw(recorded, name)
    written = said or written
    good = np.isfinite(values)
    wrong = _wrong(name, t, values, good, missing)
    if wrong:
        raise DiagnosisError(wrong)
    wanted = meta.unit
    factor = 1.0 if isinstance(meta, Choice) or written in ("", wanted) else _factor(name, written, wanted)
    return Column(name, wanted, written, t[good], values[good] * (sign * factor))


def _names(recorded: Recorded) -> list[str]:
    return list(recorded.channels) if isinstance(recorded, Table) else [split_name(key)[0] for key in recorded]


def _raw(recorded: Recorded, name: str) -> tuple[Array, Array, str]:
    if isinstance(recorded, Table):
        channel = recorded[name]
        return channel.t, channel.values, channel.unit
    named = {split_name(key)[0]: key for key in recorded}
    key = find(named, name, "column")
    values = np.asarray(recorded[key], float)
    times = find(named, TIME, "column")
    t = np.asarray(recorded[times], float)
    if t.ndim != 1 or values.shape != t.shape:
        raise InputError(f"column {name!r} has shape {values.shape}, the times under {TIME!r} have {t.shape}: give one value for each time")
    unit = split_name(times)[1]
    return t if not unit else t * to_si(f"1 {unit}", "s"), values, split_name(key)[1]


def _wrong(name: str, t: Array, values: Array, good: Any, missing: str) -> list[str]:
    """What makes a column useless by itself."""
    if not np.all(np.isfinite(t)):
        return [f"column {name!r}: time {int(np.argmin(np.isfinite(t)))} is not finite; leave that row out"]
    falls = np.flatnonzero(np.diff(t) < 0.0)
    if len(falls):
        i = int(falls[0])
        more = f", and {len(falls) - 1} more times" if len(falls) > 1 else ""
        return [f"column {name!r}: time goes backwards from {t[i]:g} s to {t[i + 1]:g} s (value {i + 1}{more}); sort the rows, or cut the log there"]
    bad = int(np.sum(~good))
    if bad and (missing != "drop" or bad == len(values)):
        i = int(np.argmin(good))
        return [
            f"column {name!r}: {bad} of {len(values)} values are no numbers, the first one ({values[i]}) at {t[i]:g} s; "
            "leave these rows out, or say that what is missing is to be dropped (--missing drop)"
        ]
    if len(values) < FEWEST:
        return [f"column {name!r}: {count(len(values), 'value')}, which is too few to learn from; {FEWEST} are the least"]
    return []


def _factor(name: str, written: str, wanted: str) -> float:
    try:
        return conversion(written, wanted)
    except ValueError as e:
        raise InputError(f"column {name!r}: {e}; say its unit behind its name, such as '{name} [{wanted}]' if it is in {wanted}") from e


def beyond(path: str, one: Column, meta: Any) -> list[str]:
    """What is wrong with an input that goes beyond what its channel allows: most often its unit."""
    legal = np.isin(one.values, np.arange(len(meta.names))) if isinstance(meta, Choice) else (one.values >= meta.lo) & (one.values <= meta.hi)
    if legal.all():
        return []
    i = int(np.argmin(legal))
    hint = f"is it in another unit than {one.written or one.unit}? say which, such as '{one.name} [m{one.unit}]'"
    return [f"column {one.name!r}: {one.values[i]:g} {one.unit} at {one.t[i]:g} s is more than input {path} can be; allowed {meta.legal()}; {hint}"]
