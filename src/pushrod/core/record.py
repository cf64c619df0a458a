"""Records: NamedTuples of floats, choices, tables, delay lines and other records, and what their declarations say.

A *leaf* is a field that holds no further record, addressed by its dotted path ("lag.T"). The lone scalar `A[float, Q("V")]`
counts as a record of one leaf with the empty path, so that a step may take and give a plain number.
"""

import functools
import operator
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.ring import Ring

Meta = Q | Choice | Table | Ring


class Field(NamedTuple):
    name: str
    type: Any
    meta: Meta | None


class Leaf(NamedTuple):
    path: str
    meta: Meta

    @property
    def is_number(self) -> bool:
        return isinstance(self.meta, (Q, Choice))


def is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _split(annotation: Any) -> tuple[Any, Meta | None]:
    if get_origin(annotation) is Annotated:
        kind, *extra = get_args(annotation)
        return kind, next((m for m in extra if isinstance(m, (Q, Choice, Table, Ring))), None)
    return annotation, None


@functools.cache
def fields(record: Any) -> tuple[Field, ...]:
    """The fields of a record class, in order."""
    hints = typing.get_type_hints(record, include_extras=True)
    return tuple(Field(name, *_split(hints[name])) for name in record._fields)


@functools.cache
def leaves(record: Any) -> tuple[Leaf, ...]:
    """The leaves of a record class (or of a lone annotated scalar), depth first, in order."""
    if not is_record(record):
        kind, meta = _split(record)
        if kind is not float or meta is None:
            raise TypeError(f"{record!r} is neither a record nor an annotated float such as A[float, Q('V')]")
        return (Leaf("", meta),)
    return tuple(_walk(record, ""))


def _walk(record: Any, prefix: str) -> Iterator[Leaf]:
    for name, kind, meta in fields(record):
        path = prefix + name
        if is_record(kind):
            yield from _walk(kind, path + ".")
        elif meta is None:
            raise TypeError(f"{record.__qualname__}.{name} carries no unit: write A[float, Q(unit, lo, hi)]")
        else:
            yield Leaf(path, meta)


def numbers(record: Any) -> tuple[Leaf, ...]:
    """The float and choice leaves: what becomes a row of the flat form."""
    return tuple(leaf for leaf in leaves(record) if leaf.is_number)


def get(value: Any, path: str) -> Any:
    """The value at a dotted path; the empty path is the value itself."""
    for name in path.split(".") if path else ():
        value = getattr(value, name)
    return value


def put(value: Any, path: str, new: Any) -> Any:
    """A copy of the record with the value at the dotted path replaced."""
    name, _, rest = path.partition(".")
    if not name:
        return new
    return value._replace(**{name: put(getattr(value, name), rest, new)})


def build(record: Any, leaf: Callable[[Leaf], Any]) -> Any:
    """A record value whose leaves are given by a function of the Leaf, asked for depth first, in order."""
    if not is_record(record):
        return leaf(leaves(record)[0])

    def make(kind: Any, prefix: str) -> Any:
        return kind(
            *(
                make(f.type, f"{prefix}{f.name}.") if is_record(f.type) else leaf(Leaf(prefix + f.name, typing.cast(Meta, f.meta)))
                for f in fields(kind)
            )
        )

    return make(record, "")


def flat(value: Any, record: Any = None) -> list[float]:
    """The numbers of a record in order, then its delay lines slot by slot. Tables are left out."""
    record = type(value) if record is None else record
    row = [float(get(value, leaf.path)) for leaf in numbers(record)]
    for leaf in leaves(record):
        if isinstance(leaf.meta, Ring):
            for entry in get(value, leaf.path):
                row += flat(entry, leaf.meta.record)
    return row


def unflat(record: Any, row: typing.Sequence[float]) -> Any:
    """The inverse of `flat`, for records without tables."""
    return _maker(record)([float(x) for x in row])


@functools.cache
def _maker(record: Any) -> Callable[[list[float]], Any]:
    """What `unflat` does, with the place of every number in the row known: live loops call it a thousand times a second."""
    if not is_record(record):
        return operator.itemgetter(0)
    number, line = 0, len(numbers(record))

    def make(kind: Any, meta: Meta | None) -> Callable[[list[float]], Any]:
        nonlocal number, line
        if isinstance(meta, Ring):
            first, width, entry = line, len(numbers(meta.record)), _maker(meta.record)
            line += width * meta.slots
            return lambda row: tuple(entry(row[j : j + width]) for j in range(first, first + width * meta.slots, width))
        if not is_record(kind):
            number += 1
            return operator.itemgetter(number - 1)
        if all(f.meta is not None and Leaf("", f.meta).is_number for f in fields(kind)):
            first, number = number, number + len(fields(kind))
            ours = slice(first, number)
            return lambda row: kind(*row[ours])
        parts = [make(f.type, f.meta) for f in fields(kind)]
        return lambda row: kind(*[part(row) for part in parts])

    return make(record, None)
