"""Read plain data from a file into msgspec Structs, collecting every problem instead of stopping at the first.

Fields that hold a quantity are declared as in a record, `A[float, Q("s", 0.0, 60.0)]`, and accept text with a unit.
"""

import math
import types
from collections.abc import Iterable
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from pushrod.config.unit import to_si
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.names import did_you_mean
from pushrod.core.quantity import Q

WRONG: Any = object()
KINDS = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", int: "a whole number", float: "a number", type(None): "nothing"}


def named(value: object) -> str:
    """What a value is, for a message: `text 'abc'`."""
    kind = KINDS.get(type(value), type(value).__name__)
    return kind if isinstance(value, (dict, list, type(None))) else f"{kind} {value!r}"


def is_struct(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def read(kind: Any, value: Any, at: Keys, document: Document) -> Any:
    """The value as `kind`, or WRONG with its problems noted in the document."""
    whole = kind
    if get_origin(kind) is Annotated:
        kind, *extra = get_args(kind)
        q = next((e for e in extra if isinstance(e, Q)), None)
        if q is not None:
            return None if value is None and type(None) in get_args(kind) else quantity(q, value, at, document)
    if get_origin(kind) in (Union, types.UnionType) and value is None and type(None) in get_args(kind):
        return None
    if is_struct(kind):
        return _struct(kind, value, at, document)
    if get_origin(kind) is list:
        return _list(get_args(kind)[0], value, at, document)
    if get_origin(kind) is dict:
        return _dict(get_args(kind)[1], value, at, document)
    try:
        return msgspec.convert(value, whole)
    except msgspec.ValidationError as e:
        what = str(e).split(" - at `")[0].replace("`", "")
        document.add(at, what if "got" in what else f"{what}, got {named(value)}")
        return WRONG


def sound_items(kind: Any, items: Any, at: Keys, document: Document) -> list[tuple[Keys, Any]]:
    """The items of a list that can be read, each with its path; of the others nothing is noted here."""
    aside = Document(document.file, document.text, document.data, document.lines)
    found = [((*at, i), read(kind, item, (*at, i), aside)) for i, item in enumerate(items if isinstance(items, list) else ())]
    return [(path, value) for path, value in found if value is not WRONG]


def unknown_keys(known: Iterable[str], value: dict[str, Any], at: Keys, document: Document) -> None:
    known = list(known)
    for key in value:
        if key not in known:
            document.add((*at, key), " ".join(filter(None, ("unknown key;", did_you_mean(known, key), f"known here: {', '.join(known)}"))))


def _struct(kind: Any, value: Any, at: Keys, document: Document) -> Any:
    if not isinstance(value, dict):
        document.add(at, f"must be a mapping, got {named(value)}")
        return WRONG
    known = {f.encode_name: f for f in msgspec.structs.fields(kind)}
    before = len(document.problems)
    unknown_keys(known, value, at, document)
    found = {}
    for name, f in known.items():
        if value.get(name) is not None or (name in value and f.required):  # a key with nothing after it keeps its default
            found[f.name] = read(f.type, value[name], (*at, name), document)
        elif f.required:
            document.add(at, f"{name} is missing")
    return kind(**found) if len(document.problems) == before else WRONG


def _list(kind: Any, value: Any, at: Keys, document: Document) -> Any:
    if not isinstance(value, list):
        document.add(at, f"must be a list, got {named(value)}")
        return WRONG
    return [read(kind, v, (*at, i), document) for i, v in enumerate(value)]


def _dict(kind: Any, value: Any, at: Keys, document: Document) -> Any:
    if not isinstance(value, dict):
        document.add(at, f"must be a mapping, got {named(value)}")
        return WRONG
    return {k: read(kind, v, (*at, k), document) for k, v in value.items()}


def quantity(q: Q, value: Any, at: Keys, document: Document) -> Any:
    """A number in SI, or text with a unit, within the range of q."""
    number = number_of(q.unit, value, at, document)
    if number is WRONG:
        return WRONG
    if not q.allows(number):
        document.add(
            at, f"{value if isinstance(value, str) else f'{value:g} {q.unit}'.removesuffix(' -')} is outside its legal range; allowed {q.legal()}"
        )
        return WRONG
    return number


def number_of(unit: str, value: Any, at: Keys, document: Document) -> Any:
    """A finite number in SI, or text with a unit."""
    if isinstance(value, str):
        try:
            return to_si(value, unit)
        except ValueError as e:
            document.add(at, str(e))
            return WRONG
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        got = str(value).lower() if isinstance(value, bool) else named(value)
        document.add(at, f"must be a number [{unit}] or text with a unit, got {got}")
        return WRONG
    if not math.isfinite(value):
        document.add(at, f"{value!r} is not a finite number [{unit}]")
        return WRONG
    return float(value)
