"""What a row of like commands asked for: each number from its lowest to its highest, each word that came."""

from collections.abc import Mapping
from typing import Any

from pushrod.report.number import as_float, number, quantity

WORDS = 4  # that are shown
DIGITS = 4


class Spread:
    """Of one command, or of as many as were added. What was left open is left out."""

    def __init__(self, payload: Any) -> None:
        self._numbers: dict[str, tuple[float, float]] = {}
        self._words: dict[str, dict[str, None]] = {}
        self.add(payload)

    def add(self, payload: Any) -> None:
        fields = payload if isinstance(payload, Mapping) else {} if payload is None else {"": payload}
        for key, value in fields.items():
            if key == "type" or value is None:
                continue  # the kind says it
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                x = as_float(value)
                low, high = self._numbers.get(key, (x, x))
                self._numbers[key] = min(low, x), max(high, x)
            else:
                self._words.setdefault(key, {})[_word(value)] = None

    def text(self, units: Mapping[str, str], kind: str = "") -> str:
        """In a line. The one a command is called by needs no name: Position 0.5 rad."""
        parts = {key: _between(low, high, units.get(key, "")) for key, (low, high) in self._numbers.items()}
        parts |= {key: ", ".join([*words][:WORDS]) + (" …" if len(words) > WORDS else "") for key, words in self._words.items()}
        return ", ".join(f"{key} {shown}".strip().removeprefix(f"{kind} ") for key, shown in parts.items())


def _between(low: float, high: float, unit: str) -> str:
    first, last = number(low, DIGITS), quantity(high, unit, DIGITS)
    return last if quantity(low, unit, DIGITS) == last else f"{first} … {last}"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"({len(value)})" if isinstance(value, (list, Mapping)) else str(value)
