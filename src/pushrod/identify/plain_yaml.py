"""Plain data on one line of YAML, and a text as a name that a file may have."""

import re
from typing import Any


def flow(data: Any) -> str:
    """{a: 1, b: [2, 3]}"""
    if isinstance(data, dict):
        return "{" + ", ".join(f"{key}: {flow(value)}" for key, value in data.items()) + "}"
    if isinstance(data, (list, tuple)):
        return "[" + ", ".join(flow(value) for value in data) + "]"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, float):
        return f"{data:.12g}"
    if isinstance(data, str) and not re.fullmatch(r"[A-Za-z_][\w .]*", data):
        return '"' + data.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(data)


def name_of(text: str) -> str:
    """Letters, digits, _ and -, beginning with a letter."""
    made = re.sub(r"[^\w-]+", "_", text, flags=re.ASCII)
    return made if re.match(r"[A-Za-z]", made) else f"test_{made}"
