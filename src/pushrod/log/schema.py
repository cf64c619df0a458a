"""The JSON Schema of a topic, made from the record whose values it carries: every signal with its unit, twice.

`unit` is for programs, the text in brackets at the end of `description` for people and for viewers that show descriptions only.
"""

from typing import Any

from pushrod.core.quantity import INF, Choice, Q
from pushrod.core.record import Field, fields, is_record, leaves


def topic_schema(record: Any, title: str) -> dict[str, Any]:
    """The schema of one message: an object nested as the record. A lone scalar becomes an object with the one field `y`."""
    if not is_record(record):
        return _object({"y": _number(leaves(record)[0].meta)}, title)
    return _object(_properties(record), title)


def _object(properties: dict[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "object", "properties": properties}


def _properties(record: Any) -> dict[str, Any]:
    return {f.name: _field(f) for f in fields(record) if is_record(f.type) or isinstance(f.meta, (Q, Choice))}


def _field(f: Field) -> dict[str, Any]:
    if is_record(f.type):
        return {"type": "object", "properties": _properties(f.type)}
    return _number(f.meta)


def _number(meta: Any) -> dict[str, Any]:
    about = meta.about
    if isinstance(meta, Choice):
        about = f"{about}; {meta.legal()}" if about else meta.legal()
    made: dict[str, Any] = {"type": "number", "unit": meta.unit, "description": f"{about} [{meta.unit}]".strip()}
    if isinstance(meta, Q):
        made |= {key: x for key, x in (("minimum", meta.lo), ("maximum", meta.hi)) if abs(x) != INF}
    return made
