"""What is wrong with a struct by its own declaration: every field of the declared type, every number finite and within its bounds.

A check is made once for each type out of its annotations. Whole numbers are fine where a float is meant, and so are numbers of numpy; what is
declared as `Any` may be anything but a number that is not finite.
"""

import enum
import functools
import types
from collections.abc import Callable
from math import isfinite
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from pushrod.config.structure import named
from pushrod.core.quantity import Q

Check = Callable[[str, Any], str | None]  # (path of a value, the value) -> what is wrong with it


def number(name: str, x: Any) -> str | None:
    if type(x) is float and x - x == 0.0:  # so is every finite float, and nothing else: the quick answer to the usual case
        return None
    if isinstance(x, bool) or not isinstance(x, Real):
        return f"{name} must be a number, got {x!r}"
    try:
        return None if isfinite(x) else f"{name} must be finite, got {x}"
    except OverflowError:
        return f"{name} must be finite, got a whole number that no float can hold"
    except (TypeError, ValueError):  # a duration of NumPy claims to be a number
        return f"{name} must be a number, got {x!r}"


def whole(name: str, x: Any) -> str | None:
    return None if isinstance(x, Integral) and not isinstance(x, bool) else f"{name} must be a whole number, got {x!r}"


def text(name: str, x: Any) -> str | None:
    """Return what is wrong with a text. One that UTF-8 cannot encode (a lone surrogate) can be neither sent nor recorded."""
    if not isinstance(x, str):
        return f"{name} must be text, got {x!r:.80}"
    if x.isascii():
        return None
    try:
        x.encode()
    except UnicodeEncodeError as error:
        return f"{name} must be text that UTF-8 can encode, got {x!a:.80}: {error.reason}"
    return None


def anything(name: str, x: Any) -> str | None:
    """Numbers finite and texts encodable, however deep in tuples, lists and mappings."""
    if isinstance(x, float):
        return number(name, x)
    if isinstance(x, str):
        return text(name, x)
    if isinstance(x, (tuple, list)):
        return _each(anything, name, x)
    if not isinstance(x, dict):
        return None
    return next((found for key, value in x.items() if (found := anything(f"key of {name}", key) or anything(f"{name}[{key!r}]", value))), None)


@functools.cache
def struct_check(kind: Any) -> Callable[[Any], str | None]:
    """The check of a struct class: the first element that is wrong and why, or None."""
    checks = [(field.name, check_of(field.type)) for field in msgspec.structs.fields(kind)]

    def check(value: Any) -> str | None:
        for name, wrong in checks:
            found = wrong(name, getattr(value, name))
            if found is not None:
                return found
        return None

    return check


def check_of(kind: Any) -> Check:
    """The check of an annotation."""
    if get_origin(kind) is Annotated:
        return _bounded(*get_args(kind))
    simple: dict[Any, Check] = {float: number, int: whole, str: text, Any: anything, object: anything}
    if kind in simple:
        return simple[kind]
    if get_origin(kind) in (Union, types.UnionType):
        return _one_of(get_args(kind))
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return _named(get_args(kind) or tuple(kind))
    if get_origin(kind) in (tuple, list):
        return _sequence(get_origin(kind), get_args(kind))
    if get_origin(kind) is dict:
        return _mapping(*map(check_of, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct(kind)
    return _instance(get_origin(kind) or kind)


def _bounded(kind: Any, *extra: Any) -> Check:
    """A type with the bounds that `Q` or `msgspec.Meta` gives it."""
    check = check_of(kind)
    rules: list[tuple[Callable[[Any], bool], str]] = []
    for meta in extra:
        if isinstance(meta, Q):
            rules.append((meta.allows, f"must be within {meta.legal().removesuffix(' -')}"))
        elif isinstance(meta, msgspec.Meta):
            rules += [rule for rule in _of_meta(meta) if rule is not None]

    def bounded(name: str, x: Any) -> str | None:
        found = check(name, x)
        if found is not None or x is None:
            return found
        return next((f"{name} {text}, got {x!r}" for allows, text in rules if not allows(x)), None)

    return bounded


def _of_meta(meta: msgspec.Meta) -> tuple[tuple[Callable[[Any], bool], str] | None, ...]:
    ge, gt, le, lt, fewest, most = meta.ge, meta.gt, meta.le, meta.lt, meta.min_length, meta.max_length
    return (
        None if ge is None else (lambda x: x >= ge, f"must be at least {ge}"),
        None if gt is None else (lambda x: x > gt, f"must be above {gt}"),
        None if le is None else (lambda x: x <= le, f"must be at most {le}"),
        None if lt is None else (lambda x: x < lt, f"must be below {lt}"),
        None if fewest is None else (lambda x: len(x) >= fewest, f"must hold at least {fewest}"),
        None if most is None else (lambda x: len(x) <= most, f"must hold at most {most}"),
    )


def _one_of(kinds: tuple[Any, ...]) -> Check:
    checks = [check_of(kind) for kind in kinds if kind is not type(None)]
    optional = len(checks) < len(kinds)

    def union(name: str, x: Any) -> str | None:
        if x is None and optional:
            return None
        found = [check(name, x) for check in checks]
        if None in found:
            return None
        return found[0] if len(found) == 1 else f"{name} fits none of {' | '.join(_name(kind) for kind in kinds)}: {found[0]}"

    return union


def _named(allowed: tuple[Any, ...]) -> Check:
    said = ", ".join(repr(value.name if isinstance(value, enum.Enum) else value) for value in allowed)

    def one(name: str, x: Any) -> str | None:
        return None if any(x is value or (type(x) is type(value) and x == value) for value in allowed) else f"{name} must be one of {said}, got {x!r}"

    return one


def _sequence(kind: Any, items: tuple[Any, ...]) -> Check:
    alike = kind is list or items[1:] == (Ellipsis,)
    checks = [check_of(item) for item in items if item is not Ellipsis]

    def sequence(name: str, x: Any) -> str | None:
        if not isinstance(x, kind):
            return f"{name} must be a {kind.__name__}, got {named(x)}"
        if alike:
            return _each(checks[0], name, x)
        if len(x) != len(checks):
            return f"{name} must hold {len(checks)} values, got {len(x)}"
        return next((found for i, check in enumerate(checks) if (found := check(f"{name}[{i}]", x[i]))), None)

    return sequence


def _each(check: Check, name: str, values: Any) -> str | None:
    return next((found for i, x in enumerate(values) if (found := check(f"{name}[{i}]", x))), None)


def _mapping(of_keys: Check, of_values: Check) -> Check:
    def mapping(name: str, x: Any) -> str | None:
        if not isinstance(x, dict):
            return f"{name} must be a dict, got {named(x)}"
        return next((found for key, value in x.items() if (found := of_keys(f"key of {name}", key) or of_values(f"{name}[{key!r}]", value))), None)

    return mapping


def _struct(kind: Any) -> Check:
    def struct(name: str, x: Any) -> str | None:
        if not isinstance(x, kind):
            return f"{name} must be a {kind.__name__}, got {x!r}"
        own = getattr(x, "problem", None)  # one that knows better says so itself
        made: Any = type(x)
        found = own() if callable(own) else struct_check(made)(x)
        return f"{name}.{found}" if found else None

    return struct


def _instance(kind: Any) -> Check:
    def instance(name: str, x: Any) -> str | None:
        if not isinstance(kind, type):
            return anything(name, x)  # a type variable and the like
        return anything(name, x) if isinstance(x, kind) else f"{name} must be {_name(kind)}, got {x!r}"

    return instance


def _name(kind: Any) -> str:
    words = {str: "text", bool: "true or false", type(None): "None", float: "a number", int: "a whole number"}
    return words.get(kind) or (kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind).replace("typing.", ""))
