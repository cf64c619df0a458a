"""The schemas of what a runtime says: JSON Schema with a unit and a description for every number, and the well-known ones of Foxglove."""

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from pushrod.core.quantity import INF, Q
from pushrod.robot.joint import units as joint_units

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE: dict[Any, str] = {int: "integer", bool: "boolean", str: "string"}
SECONDS = ("duration", "time", "expected_arrival", "until", "origin", "validity", "p50", "p99", "worst", "delay", "call_p99")
LIKE = {
    "position": ("initial_position", "target_position", "positions"),
    "velocity": ("initial_velocity", "peak_velocity", "velocities"),
    "effort": ("efforts",),
}


def quantity(unit: str, about: str = "") -> Schema:
    return {"type": "number", "unit": unit, "description": f"{about} [{unit}]".strip()}


def titled(title: str, properties: Schema, about: str = "") -> Schema:
    made = {"$schema": DRAFT, "title": title, "type": "object", "properties": properties}
    return made | ({"description": about} if about else {})


def units_of(kind: str = "") -> dict[str, str]:
    """The units of fields by their names, on a joint of this kind."""
    made = dict.fromkeys(SECONDS, "s")
    if kind:
        si = joint_units(kind)
        made |= {name: si[name] for name in ("position", "velocity", "effort", "acceleration")}
        made |= {name: si[field] for field, names in LIKE.items() for name in names}
    return made


def struct_schema(kind: Any, units: dict[str, str], title: str = "") -> Schema:
    """Of a struct class, as msgspec writes it."""
    about = (kind.__doc__ or "").split("\n")[0]
    return titled(title or kind.__name__, properties(kind, units), about if not about.startswith(f"{kind.__name__}(") else "")


def properties(kind: Any, units: dict[str, str]) -> Schema:
    made: Schema = {"type": {"type": "string"}} if kind.__struct_config__.tag is not None else {}
    return made | {field.encode_name: _property(field.type, units.get(field.name, ""), units) for field in msgspec.structs.fields(kind)}


def _property(kind: Any, unit: str, units: dict[str, str]) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        declared = next((extra for extra in arguments[1:] if isinstance(extra, Q)), None)
        made = _property(arguments[0], declared.unit if declared else unit, units)
        if declared is not None and made.get("type") == "number":
            made |= quantity(declared.unit, declared.about)
            made |= {key: x for key, x in (("minimum", declared.lo), ("maximum", declared.hi)) if abs(x) != INF}
        return made
    if origin in (Union, types.UnionType):
        rest = [one for one in arguments if one is not type(None)]
        return _property(rest[0], unit, units) if len(rest) == 1 else {}
    if kind is float:
        return quantity(unit) if unit else {"type": "number"}
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)} if all(isinstance(x, str) for x in arguments) else {}
    if origin in (tuple, list):
        return {"type": "array", "items": _property(arguments[0], unit, units) if arguments else {}}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {"type": "object", "properties": properties(kind, units)}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    return {"type": "object"} if (origin or kind) is dict else {}


STAMP = {"type": "object", "title": "time", "properties": {"sec": {"type": "integer", "unit": "s"}, "nsec": {"type": "integer", "unit": "ns"}}}

JOINT_STATES = titled(
    "foxglove.JointStates",
    {
        "timestamp": STAMP,
        "joints": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "position": quantity("rad or m"),
                    "velocity": quantity("rad/s or m/s"),
                    "effort": quantity("N.m or N"),
                },
            },
        },
    },
    "measured joints",
)

LOG = titled(
    "foxglove.Log",
    {
        "timestamp": STAMP,
        "level": {"type": "integer", "description": "1 debug, 2 info, 3 warning, 4 error, 5 fatal"},
        "message": {"type": "string"},
        "name": {"type": "string", "description": "what it is about"},
        "file": {"type": "string"},
        "line": {"type": "integer"},
    },
    "what a person wants to read",
)
