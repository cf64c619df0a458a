"""The JSON Schema of what a file may say of a record: every quantity with `unit`, `minimum` and `maximum`, and in words in `description`."""

from typing import Any

from pushrod.config.quantity_schema import Schema, quantity, words
from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.record import Field, fields, is_record
from pushrod.sim.record_file import INCLUDE


def record_schema(record: Any, default: Any, includes: bool = False) -> Schema:
    """Of a mapping nested as a record; delay lines cannot be written in a file and are left out. `includes`: parts may come from other files."""
    properties = {
        f.name: _field(f, getattr(default, f.name), includes) for f in fields(record) if is_record(f.type) or isinstance(f.meta, (Q, Choice, Table))
    }
    if includes:
        properties[INCLUDE] = {"type": "string", "description": "a file with `parameters:`, such as of a fit; what stands beside goes over it"}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _field(f: Field, default: Any, includes: bool) -> Schema:
    if is_record(f.type):
        nested = record_schema(f.type, default, includes)
        if f.type._fields == ("row", "col", "z"):
            return {"anyOf": [nested, {"type": "string", "description": "map CSV file, relative to this file"}]}
        return nested
    if isinstance(f.meta, Choice):
        names: list[Any] = [True, False] if f.meta.names == ("false", "true") else list(f.meta.names)
        return {"enum": [*names, *range(len(f.meta.names))], "description": f.meta.about}
    if isinstance(f.meta, Table):
        number = {"type": ["number", "string"]}
        return {"type": "array", "items": {"anyOf": [number, {"type": "array", "items": number}]}, "unit": f.meta.unit, "description": words(f.meta)}
    assert isinstance(f.meta, Q)
    return quantity(f.meta) | {"default": default}
