"""Put the values of parameters where a description names them."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from pushrod.core.errors import ParameterError
from pushrod.robot.options import Frozen
from pushrod.robot.parameter import ParameterRef
from pushrod.robot.store import Store


def references(value: Any) -> frozenset[str]:
    """The paths of all parameters named in options, limits, a transmission, an actuator, anything."""
    return frozenset(_references(value))


def resolve(value: Any, store: Store) -> Any:
    """The same with every ParameterRef, however deep, replaced by its value; all values are of one moment.

    Options come out as plain dicts and lists of their own. ParameterError names every parameter that has no value.
    """
    values = store.snapshot()
    missing = sorted(references(value) - values.keys())
    if missing:
        raise ParameterError([store.why_no_value(path) for path in missing])
    return with_values(value, values)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, ParameterRef):
        yield value.path
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _references(part)
    elif dataclasses.is_dataclass(value):
        for f in dataclasses.fields(value):
            yield from _references(getattr(value, f.name))


def with_values(value: Any, values: Mapping[str, Any], as_lists: bool = False) -> Any:
    """The same with every ParameterRef replaced by one of these values, all of which must be there."""
    if isinstance(value, ParameterRef):
        return values[value.path]
    if isinstance(value, Mapping):
        lists = as_lists or isinstance(value, Frozen)
        return {key: with_values(part, values, lists) for key, part in value.items()}
    if isinstance(value, list) or (as_lists and isinstance(value, tuple)):
        return [with_values(part, values, as_lists) for part in value]
    if type(value) is tuple:
        return tuple(with_values(part, values) for part in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and references(value):
        return dataclasses.replace(value, **{f.name: with_values(getattr(value, f.name), values) for f in dataclasses.fields(value) if f.init})
    return value
