"""The numbers of a record as a JSON message nested as the record, exactly: a reader gets every bit back.

JSON has no word for what is not finite, and viewers take null for a gap; so such a number is null, and where it is infinite its sign stands by its
path in an object of its own, {"x": null, "$inf": {"x": -1}}. null alone is nan.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from pushrod.core.quantity import Choice, Q
from pushrod.core.record import fields, is_record

BEYOND = "$inf"
Shape = dict[str, Any]
_encode = msgspec.json.Encoder().encode


def shape_of(record: Any) -> Shape:
    """An object nested as the record, with the place of each number in its row. A lone scalar is the field `y`."""
    return _shape(record, itertools.count())


def message(shape: Shape, row: list[float]) -> bytes:
    """The message of one row."""
    made = _encode(_fill(shape, row))
    if b"null" in made and (signs := dict(_infinite(shape, row, ""))):
        made = _encode(_fill(shape, row) | {BEYOND: signs})
    return made


def _shape(record: Any, place: Iterator[int]) -> Shape:
    if not is_record(record):
        return {"y": next(place)}
    shown = [f for f in fields(record) if is_record(f.type) or isinstance(f.meta, (Q, Choice))]
    return {f.name: _shape(f.type, place) if is_record(f.type) else next(place) for f in shown}


def _fill(shape: Shape, row: list[float]) -> dict[str, Any]:
    """msgspec writes null for what is not finite."""
    return {name: row[at] if isinstance(at, int) else _fill(at, row) for name, at in shape.items()}


def _infinite(shape: Shape, row: list[float], prefix: str) -> Iterator[tuple[str, int]]:
    for name, at in shape.items():
        if not isinstance(at, int):
            yield from _infinite(at, row, f"{prefix}{name}.")
        elif math.isinf(row[at]):
            yield prefix + name, 1 if row[at] > 0.0 else -1
