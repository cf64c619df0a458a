"""The JSON Schema of a quantity: `unit`, `minimum` and `maximum`, and in words in `description`."""

from typing import Any

from pushrod.config.unit import NUMBER
from pushrod.core.quantity import INF, Q

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WITH_UNIT = rf"^\s*{NUMBER}\s*(\S.*)?$"
Schema = dict[str, Any]


def quantity(q: Q) -> Schema:
    """A number in SI or a text with a unit; bounds speak of numbers only, the pattern of texts only."""
    bounds = {key: x for key, x in (("minimum", q.lo), ("maximum", q.hi)) if abs(x) != INF}
    return {"type": ["number", "string"], "unit": q.unit, "description": words(q), "pattern": WITH_UNIT, **bounds}


def words(meta: Any) -> str:
    return f"{meta.about} [{meta.unit}{span(meta)}]".strip()


def span(meta: Any) -> str:
    """The legal range in words, after the unit: ", 0 to 5"; empty where all numbers are legal."""
    if not isinstance(meta, Q) or (meta.lo == -INF and meta.hi == INF):
        return ""
    return f", at least {meta.lo:g}" if meta.hi == INF else f", at most {meta.hi:g}" if meta.lo == -INF else f", {meta.lo:g} to {meta.hi:g}"
