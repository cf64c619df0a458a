"""Read plain data from a file into msgspec Structs, collecting every problem instead of stopping at the first.

Fields that hold a quantity are declared as in a record, `A[float, Q("s", 0.0, 60.0)]`, and accept text with a unit.
"""

import enum
import math
import re
import types
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from pushrod.config.unit import bracketed, to_si
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.names import did_you_mean
from pushrod.core.quantity import Q

WRONG: Any = object()
KINDS = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", int: "a whole number", float: "a number", type(None): "nothing"}


def named(value: object) -> str:
    """What a value is, for a message: `text 'abc'`."""
    if isinstance(value, bool):
        return str(value).lower()
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
    if get_origin(kind) in (Union, types.UnionType) and type(None) in get_args(kind):
        if value is None:
            return None
        rest = [other for other in get_args(kind) if other is not type(None)]
        kind, whole = (rest[0], rest[0] if whole is kind else whole) if len(rest) == 1 else (kind, whole)
    if is_struct(kind):
        return _struct(kind, value, at, document)
    if get_origin(kind) is list:
        return _list(get_args(kind)[0], value, at, document)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind), value, at, document)
    if get_origin(kind) is dict:
        return _dict(get_args(kind)[1], value, at, document)
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return _choice(kind, value, at, document)
    try:
        return msgspec.convert(value, whole)
    except msgspec.ValidationError as e:
        document.add(at, _complaint(kind, value, e))
        return WRONG


def _complaint(kind: Any, value: Any, error: msgspec.ValidationError) -> str:
    kinds = [k for k in (get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)) if k is not type(None)]
    kinds = [get_args(k)[0] if get_origin(k) is Annotated else k for k in kinds]
    if all(k in KINDS for k in kinds) and not any(type(value) is k for k in kinds):
        words = list(dict.fromkeys("a number" if k is int and float in kinds else KINDS[k] for k in kinds))
        return f"must be {' or '.join(words)}, got {named(value)}"
    what = str(error).split(" - at `")[0].replace("`", "")
    return what if "got" in what else f"{what}, got {named(value)}"


def mistakes(kind: Any, value: Any, error: msgspec.ValidationError) -> list[tuple[Keys, str]]:
    """All that is wrong with data that msgspec could not convert, by its path; what msgspec says itself where no more is found."""
    aside = Aside()
    read(kind, value, (), aside)
    if aside.found:
        return aside.found
    what, _, where = str(error).partition(" - at `$")
    keys: Keys = tuple(int(part[1:-1]) if part[1:-1].isdecimal() else part.lstrip(".") for part in re.findall(r"\.\w+|\[[^]]*\]", where))
    return [(keys, what.replace("`", ""))]


class Aside(Document):
    """Data that comes from no file: problems are kept by path."""

    def __init__(self) -> None:
        super().__init__("", "", None, {})
        self.found: list[tuple[Keys, str]] = []

    def add(self, path: Keys, what: str, origin: str | None = None) -> None:
        super().add(path, what, origin)
        self.found.append((path, what))


def sound_items(kind: Any, items: Any, at: Keys, document: Document) -> list[tuple[Keys, Any]]:
    """The items of a list that can be read, each with its path; of the others nothing is noted here."""
    aside = Document(document.file, document.text, document.data, document.lines)
    found = [((*at, i), read(kind, item, (*at, i), aside)) for i, item in enumerate(items if isinstance(items, list) else ())]
    return [(path, value) for path, value in found if value is not WRONG]


def loose(kind: Any, value: Any, at: Keys, document: Document) -> Any:
    """The fields of a struct one by one, so that each that is sound can be looked at further; WRONG: is not, or is missing. Nothing is noted here."""
    aside = Document(document.file, document.text, document.data, document.lines)
    given = value if isinstance(value, dict) else {}
    found = {}
    for f in msgspec.structs.fields(kind):
        missing = WRONG if f.required else f.default if f.default is not msgspec.NODEFAULT else f.default_factory()
        found[f.name] = missing if given.get(f.encode_name) is None else read(f.type, given[f.encode_name], (*at, f.encode_name), aside)
    return types.SimpleNamespace(**found)


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
    if kind.__struct_config__.forbid_unknown_fields:
        unknown_keys(known, value, at, document)
    found = {}
    for name, f in known.items():
        if value.get(name) is not None or (name in value and f.required):  # a key with nothing after it keeps its default
            found[f.name] = read(f.type, value[name], (*at, name), document)
        elif f.required:
            document.add(at, f"{name} is missing")
    if len(document.problems) > before:
        return WRONG
    try:
        return kind(**found)
    except (ValueError, TypeError) as e:  # it may have something against its fields as a whole
        document.add(at, str(e))
        return WRONG


def _list(kind: Any, value: Any, at: Keys, document: Document) -> Any:
    if not isinstance(value, list):
        document.add(at, f"must be a list, got {named(value)}")
        return WRONG
    return [read(kind, v, (*at, i), document) for i, v in enumerate(value)]


def _tuple(kinds: tuple[Any, ...], value: Any, at: Keys, document: Document) -> Any:
    if not isinstance(value, (list, tuple)):
        document.add(at, f"must be a list, got {named(value)}")
        return WRONG
    if kinds[1:] == (...,):
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        document.add(at, f"must be a list of {len(kinds)}, got {len(value)}")
        return WRONG
    found = tuple(read(kind, v, (*at, i), document) for i, (kind, v) in enumerate(zip(kinds, value, strict=True)))
    return WRONG if WRONG in found else found


def _choice(kind: Any, value: Any, at: Keys, document: Document) -> Any:
    """One of a Literal's values, or of an Enum's."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        allowed = [str(v) for v in get_args(kind)] or [str(v.value) for v in kind]
        hint = did_you_mean(allowed, value) if isinstance(value, str) else ""
        document.add(at, f"must be one of {', '.join(allowed)}, got {named(value)}{f'; {hint}' if hint else ''}")
        return WRONG


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
    return number if within(q, number, value, at, document) else WRONG


def within(q: Q, number: float, value: Any, at: Keys, document: Document) -> bool:
    """Whether a number is in the range of q; if not, that is noted, the number as it was written."""
    if not q.allows(number):
        written = value if isinstance(value, str) else f"{value:g} {q.unit}".removesuffix(" -")
        document.add(at, f"{written} is outside its legal range; allowed {q.legal()}")
    return q.allows(number)


def number_of(unit: str, value: Any, at: Keys, document: Document) -> Any:
    """A finite number in SI, or text with a unit."""
    if isinstance(value, str):
        try:
            return to_si(value, unit)
        except ValueError as e:
            document.add(at, str(e))
            return WRONG
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        document.add(at, f"must be a number{bracketed(unit)} or text with a unit, got {named(value)}")
        return WRONG
    if not math.isfinite(value):
        document.add(at, f"{value!r} is not a finite number{bracketed(unit)}")
        return WRONG
    return float(value)
