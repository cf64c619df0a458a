"""Units and descriptions of the numbers of a topic, from the JSON Schema of its messages: `unit`, or "[m/s]" at the end of a description."""

import re
from typing import Any, NamedTuple

import msgspec

from pushrod.log.spread import MOST
from pushrod.log.topic_columns import WRONG

DEEPEST = 16
UNIT = re.compile(r"\s*\[([^\[\]]*)\]$")
ENTRY = re.compile(r"(^|\.)\d+(?=\.|$)")


class JsonUnits(NamedTuple):
    """By path; * stands for any entry of a list. `numeric` are the paths that are surely numbers."""

    found: dict[str, tuple[str, str]]
    numeric: list[str]

    def of(self, path: str) -> tuple[str, str]:
        unit, about = self.found.get(path) or self.found.get(ENTRY.sub(r"\1*", path)) or self.found.get(path.rpartition(".")[2], ("", ""))
        return unit, about


def read_units(schema: bytes, units: str = "{}") -> JsonUnits:
    """`units`: those that the channel tells besides, a JSON object by path. A schema that is none tells nothing."""
    made = JsonUnits({}, [])
    try:
        _walk(msgspec.json.decode(schema), "", made, 0)
        told = msgspec.json.decode(units.encode())
        made.found.update({str(path): (str(unit), made.found.get(path, ("", ""))[1]) for path, unit in told.items() if isinstance(unit, str)})
    except (*WRONG, AttributeError):
        pass
    return made


def _walk(node: Any, path: str, made: JsonUnits, depth: int) -> None:
    if not isinstance(node, dict) or depth > DEEPEST:
        return
    if isinstance(node.get("properties"), dict):
        for name, inner in node["properties"].items():
            _walk(inner, f"{path}.{name}" if path else str(name), made, depth + 1)
    elif isinstance(node.get("items"), dict):
        _walk(node["items"], f"{path}.*", made, depth + 1)
    elif path:
        about = str(node.get("description", ""))
        in_text = UNIT.search(about)
        unit = node.get("unit") if isinstance(node.get("unit"), str) else in_text[1] if in_text else ""
        if "*" not in path and node.get("type") in ("number", "integer") and len(made.numeric) < MOST:
            made.numeric.append(path)
        made.found[path] = (str(unit), UNIT.sub("", about) if in_text and in_text[1] == unit else about)
