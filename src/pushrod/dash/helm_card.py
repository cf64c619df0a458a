"""A robot whose motors are driven by a command pipeline: who may ask it, and the course its autopilot keeps."""

import time
from math import pi
from typing import Any

from nicegui import ui

from pushrod.core.errors import PushrodError
from pushrod.dash.element import box, live, needs, text
from pushrod.dash.seat import Seat
from pushrod.dash.told import Told
from pushrod.live.autopilot import Steering
from pushrod.pipeline.names import MODES

FASTEST = 3.0  # [m/s] that a slider goes to
STEPS = 400
SETTLE = 1.0  # [s] that a slider stays where it was moved to, before it shows what is kept
NEAR = 0.02  # a step of a slider
BY = "operator"  # as the rules of a pipeline call whoever commands by hand


class HelmCard:
    """For a robot with controllers of the names `pipeline` and, for a course, `autopilot`."""

    def __init__(self, seat: Seat, with_autopilot: bool) -> None:
        self._seat = seat
        self._wrong = ""
        self._course = {"v_req": 0.0, "psi_req": 0.0}
        self._sliders: dict[str, Any] = {}
        self._moved = 0.0
        with box("pr-card").props("id=card-helm"):
            with box("pr-card-head"):
                text("Helm", "pr-name")
                live("helm:mode", "pr-owner")
            with needs("control"), box("pr-card-foot"):
                for mode in MODES:
                    bad = "color=negative" if mode == "abort" else ""
                    ui.button(mode, on_click=lambda mode=mode: self._switch(mode)).props(f"no-caps outline dense size=sm {bad}")
            if with_autopilot:
                with needs("helm:steers"):
                    self._slider("speed", "v_req", -FASTEST / 3, FASTEST, "m/s")
                    self._slider("heading", "psi_req", -pi, pi, "rad")
                live("helm:hint", "pr-soft", "div")
            live("helm:wrong", "pr-refusal", "div")

    def _slider(self, label: str, field: str, low: float, high: float, unit: str) -> None:
        async def moved(event: Any) -> None:
            self._moved = time.monotonic()
            self._course[field] = float(event.args)
            await self._ask("autopilot", {"type": "Course", **self._course})

        with box("pr-slider"):
            text(label, "pr-slider-name")
            slider = ui.slider(min=low, max=high, step=(high - low) / STEPS, value=0.0).props(f'dense aria-label="{label}"')
            self._sliders[field] = slider
            slider.on("update:model-value", moved, throttle=0.1)
            live(f"helm:{field}", "pr-value pr-right")
            text(unit, "pr-unit")

    async def _switch(self, mode: str) -> None:
        answer = await self._ask("pipeline", {"type": "Switch", "mode": mode, "by": BY})
        if isinstance(answer, dict) and not answer.get("ok", True):
            self._wrong = str(answer.get("why", "refused"))

    async def _ask(self, part: str, request: Any) -> Any:
        self._wrong = ""
        try:
            return await self._seat.request(part, request)
        except (PushrodError, LookupError, TimeoutError) as error:
            self._wrong = str(error)
        return None

    def _follow(self) -> None:
        """The sliders stand at the course that is kept, but for a moment after they were moved."""
        kept = self._seat.watch.records.get(Steering)
        if kept is None or time.monotonic() - self._moved < SETTLE:
            return
        for field, slider in self._sliders.items():
            self._course[field] = getattr(kept, field)
            if abs(self._course[field] - slider.value) > NEAR:
                slider.set_value(round(self._course[field], 4))

    def tell(self, told: Told) -> None:
        status = self._seat.watch.status
        mode = "" if status is None else status.mode
        told.flags["helm:steers"] = self._seat.in_control and mode == "autopilot"
        told.texts["helm:hint"] = "" if mode in ("", "autopilot") else f"{mode}: choose autopilot to set a course"
        self._follow()
        told.texts["helm:mode"] = "" if status is None else f"{status.mode}; owner {status.owner}"
        told.texts["helm:wrong"] = self._wrong
        for field, value in self._course.items():
            told.texts[f"helm:{field}"] = f"{value:.2f}"
