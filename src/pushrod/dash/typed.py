"""What is moved or typed in the browser: a slider and a field that keep the operator's hand free of late messages, see slide.js and field.js."""

from collections.abc import Callable
from math import isfinite
from typing import Any

from nicegui.element import Element

STEPS = 400  # of a slider


class Slider(Element, component="slide.js"):
    """`spring`: it acts only while it is held."""

    def __init__(self, label: str, spring: bool = False) -> None:
        super().__init__()
        self._props |= {"label": label, "spring": spring, "at": [0.0, 0], "low": 0.0, "high": 1.0, "step": 1.0 / STEPS}

    def set_range(self, low: float, high: float) -> None:
        self._props |= {"low": low, "high": high, "step": (high - low) / STEPS}
        self.update()

    def place(self, value: float, moves: int) -> None:
        """Show a value, unless this browser has made more moves than so many."""
        if self._props["at"] != [value, moves]:
            self._props["at"] = [value, moves]
            self.update()


class Field(Element, component="field.js"):
    """`entered(value)` when Enter is pressed: a finite number, or a text."""

    def __init__(
        self,
        label: str,
        entered: Callable[[Any], Any] | None,
        value: Any = None,
        numeric: bool = True,
        outlined: bool = False,
    ) -> None:
        super().__init__()
        self._props |= {"label": label, "numeric": numeric, "outlined": outlined, "readonly": entered is None}
        self.show(value)
        if entered is not None:
            self.on("entered", lambda event: entered(event.args) if not numeric or is_number(event.args) else None)

    def show(self, value: Any, digits: int | None = None) -> None:
        """Show a value with so many digits, or as it is."""
        if (self._props.get("value"), self._props.get("digits")) != (value, digits):
            self._props |= {"value": value, "digits": digits}
            self.update()


def is_number(value: Any) -> bool:
    """Whether what a browser sent is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
