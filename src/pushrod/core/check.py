"""Check a record against what its declaration says: every number in its range, every table well formed.

A record class may add what a range cannot say by a method `flaws(self, dt) -> Iterator[str]`, which yields texts
"field: what is wrong"; dt is the tick the record will run at, or None where it is not known.

All that is wrong is told at once: a number out of its range hides nothing that can be said of the whole. What cannot be read at all (no number,
NaN, no table) is told by itself, and a flaw that would speak of it is left out.
"""

import math
import re
from collections.abc import Collection, Iterator
from typing import Any

from pushrod.core.errors import InputError, ParameterError
from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.record import fields, is_record

NAN = float("nan")
SPEAKS_OF_NAN = re.compile(r"\bnan\b")


def problems(record: Any, where: str = "", dt: float | None = None, told: Collection[str] = ()) -> Iterator[str]:
    """All that is wrong with a record, one line each, by field path. Of the fields at the paths `told`, only what they do to the whole."""
    yield from values_wrong(record, where, told)
    yield from flaws(_readable(record), where, dt)


def values_wrong(record: Any, where: str = "", told: Collection[str] = ()) -> Iterator[str]:
    """What is wrong with single fields, but for those told already."""
    record_class: Any = type(record)
    for name, kind, meta in fields(record_class):
        value = getattr(record, name)
        path = f"{where}.{name}" if where else name
        if is_record(kind):
            yield from values_wrong(value, path, told)
        elif path in told:
            continue
        elif isinstance(meta, (Q, Choice)):
            yield from _number(value, path, meta)
        elif isinstance(meta, Table):
            yield from _table(record, value, path, meta)


def flaws(record: Any, where: str = "", dt: float | None = None) -> Iterator[str]:
    """What is wrong with the fields of a record beside each other, nested records first; nothing of what is no number (NaN) or an empty table."""
    record_class: Any = type(record)
    for name, kind, _ in fields(record_class):
        if is_record(kind):
            yield from flaws(getattr(record, name), f"{where}.{name}" if where else name, dt)
    if not hasattr(record, "flaws"):
        return
    try:
        for text in record.flaws(dt):
            if not SPEAKS_OF_NAN.search(text):
                yield f"{where}.{text}" if where else text
    except (ArithmeticError, LookupError, TypeError, ValueError):
        if not any(values_wrong(record)):  # else it could not be worked out from what is wrong already
            raise


def _readable(record: Any) -> Any:
    """The record with NaN for all that is no number, and an empty table for all that is none."""
    record_class: Any = type(record)
    return record_class._make(_readable_value(getattr(record, name), kind, meta) for name, kind, meta in fields(record_class))


def _readable_value(value: Any, kind: Any, meta: Any) -> Any:
    if is_record(kind):
        return _readable(value)
    if isinstance(meta, (Q, Choice)):
        return value if isinstance(value, (int, float)) else NAN
    if isinstance(meta, Table):
        return tuple(x if isinstance(x, (int, float)) else NAN for x in value) if isinstance(value, tuple) else ()
    return value


def expect(value: Any, record: Any, what: str) -> None:
    """Raise InputError unless `value` is a value of this record class, its nested records too. Compiled code trusts the layout blindly."""
    if not is_record(record):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"{what} must be a number, got {value!r}")
        return
    if type(value) is not record:
        raise InputError(f"{what} must be a {name_of(record)}, got {name_of(type(value)) if is_record(type(value)) else repr(value)[:60]}")
    nested: Any = record
    for field in fields(nested):
        if is_record(field.type):
            expect(getattr(value, field.name), field.type, f"{what}.{field.name}")


def name_of(record: Any) -> str:
    """Where a record class comes from: module and name."""
    return f"{record.__module__.rsplit('.', 1)[-1]}.{record.__qualname__.rsplit('.', 1)[-1]}"


def check(record: Any, where: str = "", dt: float | None = None) -> None:
    """Raise ParameterError naming every field of the record that is out of its declared range."""
    found = list(problems(record, where, dt))
    if found:
        raise ParameterError(found)


def _number(value: Any, path: str, meta: Q | Choice) -> Iterator[str]:
    if isinstance(value, bool):
        value = float(value)
    if not isinstance(value, (int, float)):
        yield f"{path} = {value!r} is not a number; allowed {meta.legal()}"
    elif not meta.allows(value):
        unit = f" {meta.unit}" if isinstance(meta, Q) else ""
        yield f"{path} = {value:g}{unit} is outside its legal range; allowed {meta.legal()}"


def _table(record: Any, values: Any, path: str, meta: Table) -> Iterator[str]:
    if not isinstance(values, tuple) or not values:
        yield f"{path} must be a tuple of at least one number [{meta.unit}], got {values!r}"
        return
    for i, value in enumerate(values):
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            yield f"{path}[{i}] = {value!r} is not a finite number [{meta.unit}]"
            return
    if meta.rising:
        if len(values) < 2:
            yield f"{path} is an axis and needs at least two points [{meta.unit}], got {len(values)}"
        for i in range(1, len(values)):
            if not values[i] > values[i - 1]:
                yield f"{path}[{i}] = {values[i]:g} {meta.unit} does not exceed {path}[{i - 1}] = {values[i - 1]:g}; an axis must rise strictly"
                return
    if meta.shape:
        axes = [getattr(record, axis) for axis in meta.shape]
        sizes = [len(axis) for axis in axes if isinstance(axis, tuple) and axis]
        if len(sizes) == len(axes) and len(values) != math.prod(sizes):
            grid = " x ".join(f"{n} ({axis})" for n, axis in zip(sizes, meta.shape, strict=True))
            yield f"{path} has {len(values)} values; its axes ask for {grid} = {math.prod(sizes)}"
