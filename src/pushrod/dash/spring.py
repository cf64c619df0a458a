"""A slider that acts only while it is held: a dead man's control. It stands at 0 otherwise.

The browser decides what is held, and confirms it ten times a second; each confirmation allows commands for CONFIRMED, and each command lasts HELD
by the clock of the host. So the joint stops where the slider is released, and where browser, page or network fall silent. A press that was ended by a
stop, a disarming or the loss of control stays ended: the slider must be pressed again.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from nicegui import background_tasks

from pushrod.dash.element import box, live, text
from pushrod.dash.typed import Field, Slider, is_number
from pushrod.dash.unit import Units

HELD = 0.3  # [s] that a command lasts by itself
CONFIRMED = 0.5  # [s] after which a browser that has not confirmed again no longer holds it
AGAIN = 0.1  # [s] between two commands


class Spring:
    """`send(value, duration)` while it is held. `permit()`: None where it may not act; a press ends where that is another value than at its begin."""

    def __init__(
        self, label: str, most: float, unit: str, units: Units, actual: str, send: Callable[[float, float], None], permit: Callable[[], int | None]
    ) -> None:
        self._most, self._unit, self._units = most, unit, units
        self._send, self._permit = send, permit
        self._value: float | None = None  # while it is held
        self._until = 0.0
        self._press = 0
        self._is_over = False  # whether this press was ended from here
        self._begun: int | None = None
        self._repeating: Any = None
        with box("pr-slider"):
            text(label, "pr-slider-name")
            self._slider = Slider(label, spring=True)
            self._slider.on("held", lambda event: self._hold(event.args)).on("released", self._release)
            self._number = Field(f"{label}, requested", None).classes("pr-number")
            live(actual, "pr-value pr-right")
        units.on_change(self._rescale)
        self._rescale()

    def _rescale(self) -> None:
        factor = self._units.of(self._unit).factor
        self._slider.set_range(-factor * self._most, factor * self._most)
        self._show()

    def _show(self) -> None:
        scale = self._units.of(self._unit)
        self._number.show(None if self._value is None else scale.number(self._value), scale.digits)

    def _hold(self, told: Any) -> None:
        """A sign that it is held, as a browser sends it."""
        if not isinstance(told, dict) or not is_number(told.get("value")) or not is_number(told.get("press")):
            return
        if told["press"] != self._press:
            self._press, self._is_over, self._begun = int(told["press"]), False, self._permit()
        if self._is_over:
            return
        value = told["value"] / self._units.of(self._unit).factor
        self._value, self._until = min(max(value, -self._most), self._most), time.monotonic() + CONFIRMED
        self._show()
        if self._repeating is None or self._repeating.done():
            self._repeating = background_tasks.create(self._repeat())

    def _release(self) -> None:
        self._value, self._is_over = None, True
        self._show()

    async def _repeat(self) -> None:
        """The first command is sent in any case, so that the operator sees why it is refused."""
        while self._value is not None and time.monotonic() < self._until:
            self._send(self._value, HELD)
            await asyncio.sleep(AGAIN)
            if self._begun is None or self._permit() != self._begun:
                self._release()
                self._slider.run_method("release")
