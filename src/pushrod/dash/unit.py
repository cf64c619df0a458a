"""Units as one browser shows them: angles in degrees, or in radians on request. Everything behind the page stays in SI."""

from collections.abc import Callable
from math import floor, log10, pi
from typing import Any, NamedTuple

from pushrod.dash.told import figure

DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2"}
SHAFT_SPEEDS = (".n", ".n_max")
EXACT = 12  # significant digits of a value that can be edited: more are rounding errors of the conversion


class Scale(NamedTuple):
    """A value is shown as factor * value [unit], with so many digits after the point."""

    factor: float
    unit: str
    digits: int

    def figure(self, value: float | None) -> str:
        return figure(None if value is None else self.factor * value, self.unit, self.digits)

    def number(self, value: float) -> float:
        """Return it rounded to its digits, with no sign at zero."""
        return round(self.factor * value, self.digits) + 0.0

    def editable(self, value: Any) -> Any:
        """Return a number as it is shown for editing, with all its digits; any other value as it is."""
        if self.factor == 1.0 or isinstance(value, bool) or not isinstance(value, (int, float)):
            return value
        return float(f"{self.factor * value:.{EXACT}g}")

    def entered(self, value: Any, before: Any = None, low: float | None = None, high: float | None = None) -> Any:
        """Return the SI value of what was typed. A bound typed as it is shown, with six digits, is that bound; an unchanged value stays `before`."""
        if self.factor == 1.0 or isinstance(value, bool) or not isinstance(value, (int, float)):
            return value
        if value == self.editable(before):
            return before
        given = value / self.factor
        return next((end for end in (low, high) if end is not None and f"{self.factor * end:g}" == f"{value:g}"), given)

    def for_size(self, size: float) -> "Scale":
        """Return it with as many digits as a quantity of this size [SI] needs for three of them to count."""
        shown = abs(self.factor * size)
        return self._replace(digits=max(self.digits, 2 - floor(log10(shown)))) if shown > 0.0 else self


class Units:
    def __init__(self) -> None:
        self.degrees = True
        self._changed: list[Callable[[], None]] = []

    def of(self, unit: str) -> Scale:
        if self.degrees and unit in DEGREES:
            return Scale(180.0 / pi, DEGREES[unit], 1)
        return Scale(1.0, unit, 3)

    def of_channel(self, name: str, unit: str) -> Scale:
        """Return the scale of a channel or parameter by its name; the speed of a shaft (n, n_max) stays in rad/s."""
        return Scale(1.0, unit, 3) if name.endswith(SHAFT_SPEEDS) else self.of(unit)

    def figure(self, value: float | None, unit: str) -> str:
        return self.of(unit).figure(value)

    def on_change(self, changed: Callable[[], None]) -> None:
        self._changed.append(changed)

    def switch(self, degrees: bool) -> None:
        self.degrees = degrees
        for changed in self._changed:
            changed()
