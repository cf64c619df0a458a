"""Check a record against what its declaration says: every number in its range, every table well formed.

A record class may add what a range cannot say by a method `flaws(self, dt) -> Iterator[str]`, which yields texts
"field: what is wrong"; dt is the tick the record will run at, or None where it is not known.
"""

import math
from collections.abc import Iterator
from typing import Any

from pushrod.core.errors import InputError, ParameterError
from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.record import fields, is_record


def problems(record: Any, where: str = "", dt: float | None = None) -> Iterator[str]:
    """All that is wrong with a record, one line each, by field path."""
    record_class: Any = type(record)
    for name, kind, meta in fields(record_class):
        value = getattr(record, name)
        path = f"{where}.{name}" if where else name
        if is_record(kind):
            yield from problems(value, path, dt)
        elif isinstance(meta, (Q, Choice)):
            yield from _number(value, path, meta)
        elif isinstance(meta, Table):
            yield from _table(record, value, path, meta)
    if hasattr(record, "flaws"):
        yield from (f"{where}.{text}" if where else text for text in record.flaws(dt))


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
        sizes = [len(getattr(record, axis)) for axis in meta.shape]
        if len(values) != math.prod(sizes):
            grid = " x ".join(f"{n} ({axis})" for n, axis in zip(sizes, meta.shape, strict=True))
            yield f"{path} has {len(values)} values; its axes ask for {grid} = {math.prod(sizes)}"
