"""A slider with the value it requests and, beside that, the actual value. It follows what is requested of the machine until it is moved by hand."""

from collections.abc import Callable
from typing import Any

from pushrod.dash.element import box, live, text
from pushrod.dash.typed import STEPS, Field, Slider, is_number
from pushrod.dash.unit import Units


class Slide:
    """`moved(value)` by hand, or by Enter in the number, which may lie beyond the ends: the gate then decides. Values are SI; the page shows them in
    its units. `actual` is the key of the text with the actual value."""

    def __init__(
        self, label: str, low: float, high: float, unit: str, units: Units, actual: str, moved: Callable[[float], None], at_first: float = 0.0
    ) -> None:
        self._low, self._high, self._unit, self._units = low, high, unit, units
        self._scale = units.of(unit)
        self._value = self._within(at_first)
        self._is_requested = False  # whether the value is the command in force
        self._moves = 0
        self._moved = moved
        with box("pr-slider"):
            text(label, "pr-slider-name")
            self._slider = Slider(label)
            self._slider.on("moved", lambda event: self._drag(event.args))
            self._number = Field(f"{label}, requested", self._enter).classes("pr-number")
            live(actual, "pr-value pr-right")
        units.on_change(self._rescale)
        self._rescale()

    @property
    def value(self) -> float:
        return self._value

    def stand(self, value: float, is_requested: bool = True) -> None:
        """Show a value without sending it. The number stays empty where the value is no command in force."""
        is_same = abs(self._within(value) - self._value) <= 0.2 * (self._high - self._low) / STEPS
        if is_same and is_requested is self._is_requested:
            return
        self._is_requested = is_requested
        if not is_same:
            self._value = self._within(value)
        self._show()

    def _within(self, value: float) -> float:
        return min(max(value, self._low), self._high)

    def _rescale(self) -> None:
        """Convert the ends to the units of the page."""
        self._scale = self._units.of(self._unit)
        self._slider.set_range(self._scale.factor * self._low, self._scale.factor * self._high)
        self._show()

    def _show(self) -> None:
        self._slider.place(self._scale.factor * self._value, self._moves)
        self._number.show(self._scale.number(self._value) if self._is_requested else None, self._scale.digits)

    def _drag(self, told: Any) -> None:
        """A move of the slider, as a browser sends it."""
        if not isinstance(told, dict) or not is_number(told.get("value")) or not is_number(told.get("n")):
            return
        self._moves = int(told["n"])
        self._value, self._is_requested = self._within(told["value"] / self._scale.factor), True
        self._show()
        self._moved(self._value)

    def _enter(self, shown: float) -> None:
        value = shown / self._scale.factor
        self._value, self._is_requested = self._within(value), True
        self._show()
        self._moved(value)
