"""Plain data on one line of YAML, and a text as a name that a file may have."""

import re
from typing import Any

PLAIN = re.compile(r"[A-Za-z_](?:[\w .]*[\w.])?", re.ASCII)
WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}  # some readers take them for something else than text


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
    if data is None:
        return "null"
    if isinstance(data, str) and (not PLAIN.fullmatch(data) or data.lower() in WORDS):
        return '"' + data.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(data)


def name_of(text: str) -> str:
    """Letters, digits, _ and -, beginning with a letter."""
    made = re.sub(r"[^\w-]+", "_", text, flags=re.ASCII)
    return made if re.match(r"[A-Za-z]", made) else f"test_{made}"
