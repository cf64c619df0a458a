"""The JSON Schema of a channel, made from the table of kinds: what a scenario file may hold for one signal."""

from typing import Any

from pushrod.core.quantity import INF, Choice, Q
from pushrod.core.record import Field, fields
from pushrod.signals.forms import SHARED_FIELDS, SHARED_KINDS, SHORT_TIMES, TIMES
from pushrod.signals.kind import Kind
from pushrod.signals.table import KINDS

NUMBER = {"type": "number"}


def schema(at: str = "#") -> dict[str, Any]:
    """Its own references assume that it stands at `at` in the whole schema, for example "#/$defs/signal"."""
    item = {"$ref": f"{at}/$defs/interval"}
    term = [
        NUMBER | {"description": "a constant, at all times"},
        item,
        {"type": "array", "items": item, "description": "intervals in time"},
        {"$ref": f"{at}/$defs/parameters"},
    ]
    parameters = {
        "type": "object",
        "description": "intervals as numbered parameters",
        "required": ["num_intervals"],
        "properties": {"num_intervals": {"type": "integer", "minimum": 0}},
        "patternProperties": {"^interval_[0-9]+$": {"type": "object"}},
        "additionalProperties": False,
    }
    total = {"sum": {"type": "array", "items": {"anyOf": term}, "description": "signals to add up"}}
    return {
        "description": "a signal over time",
        "anyOf": [*term, _object(total, ["sum"], "a sum of signals")],
        "$defs": {"interval": {"anyOf": [*map(_short, KINDS.values()), *map(_typed, KINDS.values())]}, "parameters": parameters},
    }


def _short(kind: Kind) -> dict[str, Any]:
    times = {name: NUMBER | {"description": f"{about} [s]"} for name, about in SHORT_TIMES.items()}
    return _object({**times, kind.name: _body(kind)}, [kind.name], kind.about)


def _typed(kind: Kind) -> dict[str, Any]:
    times = {name: NUMBER | {"description": f"{about} [s]"} for name, about in TIMES.items()}
    own, required = _fields(kind)
    if kind.name in SHARED_KINDS:
        own = {**dict.fromkeys(SHARED_FIELDS, NUMBER), **own}
    return _object({"type": {"const": kind.name}, **times, **own}, ["type", *required], kind.about)


def _body(kind: Kind) -> dict[str, Any]:
    own, required = _fields(kind)
    forms = [_object(own, required, kind.about)]
    declared = fields(kind.Fields)
    if all(isinstance(f.meta, (Q, Choice)) for f in declared):
        forms.append({"type": "array", "maxItems": len(declared), "description": f"[{', '.join(f.name for f in declared)}]"})
        if len(required) <= 1:
            forms.append(NUMBER | {"description": declared[0].name})
    elif [f.name for f in declared][:2] == ["t", "y"]:
        pair = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
        forms.append({"type": "array", "items": pair, "description": "[[t, y], ...]"})
    return {"anyOf": forms} if len(forms) > 1 else forms[0]


def _fields(kind: Kind) -> tuple[dict[str, Any], list[str]]:
    defaults = kind.Fields._field_defaults
    own = {f.name: _field(f, defaults.get(f.name)) for f in fields(kind.Fields)}
    words = {name: {"type": "string", "description": about} for name, about in kind.words.items()}
    return {**own, **words}, [name for name in own if name not in defaults]


def _field(f: Field, default: Any) -> dict[str, Any]:
    if isinstance(f.meta, Choice):
        return {"enum": list(f.meta.names), "description": f.meta.about, "default": f.meta.names[int(default or 0.0)]}
    assert f.meta is not None
    unit = "unit of the channel" if f.meta.unit == "y" else f.meta.unit  # type: ignore[union-attr]
    text = {"description": f"{f.meta.about} [{unit}]".strip()}  # type: ignore[union-attr]
    if not isinstance(f.meta, Q):
        return {"type": "array", "items": NUMBER, **text}
    bounds = {key: x for key, x in (("minimum", f.meta.lo), ("maximum", f.meta.hi)) if abs(x) != INF}
    return {**NUMBER, **text, **bounds, **({} if default is None else {"default": default})}


def _object(properties: dict[str, Any], required: list[str], about: str) -> dict[str, Any]:
    return {"type": "object", "description": about, "properties": properties, "required": required, "additionalProperties": False}
