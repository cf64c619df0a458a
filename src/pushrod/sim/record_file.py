"""Read the nested mapping of a file into a record, collecting every problem instead of stopping at the first."""

import re
from collections.abc import Mapping
from typing import Any

from pushrod.config import yaml_file
from pushrod.config.structure import WRONG, named, number_of, unknown_keys, within
from pushrod.config.yaml_file import Document, Keys
from pushrod.core import check
from pushrod.core.errors import ConfigError, MapError
from pushrod.core.names import did_you_mean
from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.record import Field, fields, is_record
from pushrod.core.ring import Ring

INCLUDE = "include"


def record(kind: Any, value: Any, default: Any, at: Keys, document: Document) -> Any:
    """A record from a nested mapping, and every problem with single values noted; what is not mentioned keeps its default.

    It is given back whatever was noted, so that `check_ranges` can tell what only the whole shows: with values out of their ranges as they are,
    and NaN or an empty table for what could not be read. WRONG where there is no mapping.
    """
    if not isinstance(value, dict):
        document.add(at, f"must be a mapping of {kind.__name__} fields ({', '.join(kind._fields)}), got {named(value)}")
        return WRONG
    known = {f.name: f for f in fields(kind)}
    if INCLUDE in value and at[:1] == ("parameters",):
        default = _included(kind, value[INCLUDE], default, (*at, INCLUDE), document)
        value = {name: new for name, new in value.items() if name != INCLUDE}
    unknown_keys(known, value, at, document)
    found = {name: _field(known[name], new, getattr(default, name), (*at, name), document) for name, new in value.items() if name in known}
    return default._replace(**{name: _unread(known[name]) if new is WRONG else new for name, new in found.items()})


def _included(kind: Any, name: Any, default: Any, at: Keys, document: Document) -> Any:
    """The record as `parameters` of another file have it, such as one that `pushrod fit` wrote; what stands beside the name goes over it."""
    if not isinstance(name, str):
        document.add(at, f"must be the name of a file with `parameters:`, got {named(name)}")
        return default
    try:
        other = yaml_file.load(document.folder_of(at) / name)
    except ConfigError as e:
        for problem in e.problems:
            document.add(at, problem)
        return default
    given = other.data.get("parameters")
    if not isinstance(given, dict) or INCLUDE in given:
        document.add(at, f"{other.file}: has no `parameters:` with values of its own")
        return default
    found = record(kind, given, default, ("parameters",), other)
    for _, problem in other.problems:
        document.add(at, problem)
    return found


def _field(f: Field, value: Any, default: Any, at: Keys, document: Document) -> Any:
    if is_record(f.type):
        if isinstance(value, str):
            return _map(f.type, value, at, document)
        return record(f.type, value, default, at, document)
    if isinstance(f.meta, Choice):
        return _choice(f.meta, value, at, document)
    if isinstance(f.meta, Table):
        return _table(f.meta, value, at, document)
    if isinstance(f.meta, Q):
        number = number_of(f.meta.unit, value, at, document)
        if number is not WRONG:
            within(f.meta, number, value, at, document)
        return number
    document.add(at, "this field cannot be set from a file")
    return WRONG


def _unread(f: Field) -> Any:
    """What stands for a field that could not be read."""
    if is_record(f.type):
        return f.type._make(map(_unread, fields(f.type)))
    return f.meta.empty() if isinstance(f.meta, Ring) else () if isinstance(f.meta, Table) else check.NAN


def _choice(meta: Choice, value: Any, at: Keys, document: Document) -> Any:
    text = str(value).lower() if isinstance(value, bool) else value
    if isinstance(text, str) and text in meta.names:
        return float(meta.names.index(text))
    if isinstance(value, (int, float)) and not isinstance(value, bool) and meta.allows(float(value)):
        return float(value)
    document.add(at, f"must be one of {', '.join(meta.names)}, got {named(value)}. {did_you_mean(meta.names, str(text))}".rstrip())
    return WRONG


def _table(meta: Table, value: Any, at: Keys, document: Document) -> Any:
    if not isinstance(value, list):
        document.add(at, f"must be a list of numbers [{meta.unit}], got {named(value)}")
        return WRONG
    rows = [((*at, i), v) for i, v in enumerate(value)]
    if meta.shape and all(isinstance(v, list) for v in value):  # a grid may be written row by row
        rows = [((*where, j), v) for where, row in rows for j, v in enumerate(row)]
    numbers = (number_of(meta.unit, v, where, document) for where, v in rows)
    return tuple(check.NAN if x is WRONG else x for x in numbers)


def _map(kind: Any, value: str, at: Keys, document: Document) -> Any:
    """A map by the path of its CSV file, relative to the file that names it, or to the current folder where an option does."""
    if kind._fields != ("row", "col", "z"):
        document.add(at, f"must be a mapping of {kind.__name__} fields ({', '.join(kind._fields)}), got {named(value)}")
        return WRONG
    from pushrod.vehicles import map_file

    loaders = {"AccelMap": map_file.load_accel_map, "BrakeMap": map_file.load_brake_map, "SteerMap": map_file.load_steer_map}
    try:
        return kind(*loaders.get(kind.__name__, map_file.read)(document.folder_of(at) / value)[:3])
    except MapError as e:
        document.add(at, str(e))
        return WRONG


def check_ranges(value: Any, dt: float | None, at: Keys, document: Document, elsewhere: Mapping[Keys, tuple[Document, Keys]] | None = None) -> None:
    """Note what core.check finds in a record that was read at that path, each by the line of its field.

    `elsewhere`: parts of the record that were read from another document, and where from.
    """
    path_of = re.compile(r"([A-Za-z_][\w.]*)(\[\d+\])?( =|:|)\s*(.*)", re.DOTALL)
    single = set(check.values_wrong(value))
    found: list[tuple[Document, Keys, str]] = []
    for text in check.problems(value, "", dt):
        m = path_of.match(text)
        assert m is not None
        path, what = tuple(m[1].split(".")), m[4] if m[3] and not m[2] else text
        origin, start, rest = document, at, path
        for part, (other, place) in (elsewhere or {}).items():
            if path[: len(part)] == part:
                origin, start, rest = other, place, path[len(part) :]
        if text not in single or not _noted(rest, start, origin):
            found.append((origin, (*start, *rest), what))
    for origin, where, what in found:
        origin.add(where, what, _option_beside(where, what, origin))


def _option_beside(at: Keys, what: str, document: Document) -> str | None:
    """The option that put a value over another field which the text names: the file alone may be sound."""
    for name in re.findall(r"[A-Za-z_][\w.]*", what):
        for depth in range(len(at)):
            if (*at[:depth], *name.split(".")) in document.origin:
                return document.origin[(*at[:depth], *name.split("."))]
    return None


def _noted(path: Keys, start: Keys, document: Document) -> bool:
    """Whether something was noted of a value when it was read from there: of itself, of a part of it, or of the record it is in."""
    inner = (key[len(start) :] for key in document.noted if key[: len(start)] == start)
    return any(key and key[: len(path)] == path[: len(key)] for key in inner)
