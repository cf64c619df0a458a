"""A slider with its number: where it stands follows the machine until somebody takes it, and a number that is being typed is left alone.

A spring is a slider that acts only while it is held, and stands at 0 otherwise. Held is what is between a press and a release, by hand or by key: a
place that is told late, after the release, moves nothing.
"""

from collections.abc import Callable
from typing import Any, Literal

from nicegui import ui

from pushrod.dash.element import box, text

STEPS = 400  # of a slider
THROTTLE = 0.05  # [s] between two places that are told while it is dragged


class Slide:
    """`moved(value)` by hand, or by Enter in the number, which may lie beyond the ends: the gate says what it does then."""

    def __init__(
        self, label: str, low: float, high: float, unit: str, moved: Callable[[float], None], at_first: float = 0.0, typed: bool = True
    ) -> None:
        self._low, self._high = low, high
        self._typing = False
        with box("pr-slider"):
            text(label, "pr-slider-name")
            self.slider = ui.slider(min=low, max=high, step=(high - low) / STEPS, value=self._within(at_first), on_change=self._show)
            self.slider.props(f'dense aria-label="{label}"').on("update:model-value", lambda e: moved(float(e.args)), throttle=THROTTLE)
            self._number = ui.number(value=self.value, precision=4, format="%.3f").classes("pr-number")
            self._number.props("dense borderless hide-bottom-space" + ("" if typed else " readonly"))
            text(unit if unit != "-" else "", "pr-unit")
        if typed:
            self._number.on("focus", self._begin).on("blur", self._end).on("keydown.enter", lambda: self._entered(moved))

    @property
    def value(self) -> float:
        return float(self.slider.value)

    def stand(self, value: float) -> None:
        """There, without a command; not while a number is being typed."""
        if not self._typing:
            self.slider.set_value(self._within(value))

    def _within(self, value: float) -> float:
        return min(max(value, self._low), self._high)

    def _show(self) -> None:
        if not self._typing:
            self._number.set_value(self.value)

    def _begin(self) -> None:
        self._typing = True

    def _end(self) -> None:
        """What was typed and not entered is forgotten."""
        self._typing = False
        self._number.set_value(self.value)

    def _entered(self, moved: Callable[[float], None]) -> None:
        if self._number.value is None:  # nothing is there
            return
        value = float(self._number.value)
        self.slider.set_value(self._within(value))
        moved(value)


class Spring:
    """`value` is None while it is not held; `moved()` whenever it has become another one."""

    def __init__(self, label: str, low: float, high: float, unit: str, moved: Callable[[], None]) -> None:
        self.value: float | None = None
        self._pressed: Literal["", "hand", "key"] = ""
        self._moved = moved
        self._slide = Slide(label, low, high, unit, self._to, typed=False)
        slider: Any = self._slide.slider
        slider.on("pointerdown", lambda: self._press("hand")).on("keydown", lambda: self._press("key"))
        for end in ("change", "pointerup", "pointercancel"):
            slider.on(end, self.release)
        for end in ("keyup", "focusout"):  # a hand that takes it moves the focus, too
            slider.on(end, self._release_key)

    def _press(self, how: Literal["hand", "key"]) -> None:
        self._pressed = self._pressed or how

    def _to(self, value: float) -> None:
        if self._pressed:
            self.value = value
            self._moved()
        else:
            self._slide.stand(0.0)

    def release(self) -> None:
        self._pressed, self.value = "", None
        self._slide.stand(0.0)

    def _release_key(self) -> None:
        if self._pressed == "key":
            self.release()
