"""Numbers as plain Python numbers, converted once, where a command or an argument enters: NumPy scalars, Fractions and whole numbers become the
float or int that is declared. Values that are no real numbers (bool, Decimal, text) stay as they are, for the check that follows to report.

A converter is built once per struct class from its annotations. It returns the same object where nothing changes.
"""

import functools
import types
from collections.abc import Callable
from numbers import Integral
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from pushrod.robot.parameter import real, whole

Convert = Callable[[Any], Any]


def undeclared(x: Any) -> Any:
    """Convert numbers in a value without a declared type, also inside tuples, lists and dicts."""
    kind = type(x)
    if kind in (float, int, str, bool, type(None)):
        return x
    if kind is dict:
        return _values(undeclared, x)
    if kind in (tuple, list):
        return _items(undeclared, x)
    return whole(x) if isinstance(x, Integral) else real(x)


@functools.cache
def struct_converter(kind: Any) -> Convert:
    """Return the converter of a struct class."""
    converters = _field_converters(kind)

    def convert(value: Any) -> Any:
        changed: dict[str, Any] | None = None
        for name, convert_field in converters:
            old = getattr(value, name)
            if type(old) is float:  # the usual case
                continue
            new = convert_field(old)
            if new is not old:
                changed = changed or {}
                changed[name] = new
        return value if changed is None else msgspec.structs.replace(value, **changed)

    return convert


def _field_converters(kind: Any) -> list[tuple[str, Convert]]:
    try:
        fields = msgspec.structs.fields(kind)
    except Exception:  # an annotation that cannot be resolved here declares no type
        return [(name, undeclared) for name in kind.__struct_fields__]
    return [(field.name, one) for field in fields if (one := converter(field.type)) is not None]


def converter(kind: Any) -> Convert | None:
    """Return the converter of an annotation; None where it declares no number."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return converter(arguments[0])
    simple: dict[Any, Convert] = {float: real, int: whole, Any: undeclared, object: undeclared}
    if kind in simple:
        return simple[kind]
    if origin in (Union, types.UnionType):
        return _one_of(arguments)
    if origin in (tuple, list):
        return _sequence(origin, arguments)
    if origin is dict:
        of_values = converter(arguments[1])
        return None if of_values is None else lambda x: _values(of_values, x) if type(x) is dict else x
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct
    return undeclared if kind in (tuple, list, dict) else None


def _struct(x: Any) -> Any:
    made: Any = type(x)
    return struct_converter(made)(x) if isinstance(x, msgspec.Struct) else x


def _one_of(kinds: tuple[Any, ...]) -> Convert | None:
    """Whole numbers become int where the union declares int; other converters apply in the order of declaration."""
    converters = [made for one in kinds if one is not type(None) and (made := converter(one)) is not None]
    if whole in converters:
        converters = [whole, *(one for one in converters if one is not whole)]
    if not converters:
        return None

    def convert(x: Any) -> Any:
        if type(x) is int and whole in converters:
            return x
        return next((new for one in converters if (new := one(x)) is not x), x)

    return converters[0] if len(converters) == 1 else convert


def _sequence(kind: Any, items: tuple[Any, ...]) -> Convert | None:
    converters = [converter(item) for item in items if item is not Ellipsis]
    if not any(converters):
        return None
    if kind is list or items[1:] == (Ellipsis,):
        of_items = converters[0]
        assert of_items is not None
        return lambda x: _items(of_items, x) if type(x) is kind else x

    def convert(x: Any) -> Any:
        if type(x) is not kind or len(x) != len(converters):
            return x
        new = [one(item) if one is not None else item for one, item in zip(converters, x, strict=True)]
        return kind(new) if any(a is not b for a, b in zip(new, x, strict=True)) else x

    return convert


def _items(convert: Convert, x: Any) -> Any:
    new = [convert(item) for item in x]
    return type(x)(new) if any(a is not b for a, b in zip(new, x, strict=True)) else x


def _values(convert: Convert, x: Any) -> Any:
    new = {key: convert(value) for key, value in x.items()}
    return new if any(new[key] is not value for key, value in x.items()) else x
