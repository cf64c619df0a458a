"""A robot whose motors are driven by a command pipeline: its mode, and the course its autopilot keeps."""

import time
from functools import partial
from math import pi
from typing import Any

from nicegui import background_tasks, ui

from pushrod.core.errors import PushrodError
from pushrod.dash.element import box, live, marked, needs, text
from pushrod.dash.motion_card import wrapped
from pushrod.dash.seat import Seat
from pushrod.dash.slide import Slide
from pushrod.dash.told import Told
from pushrod.dash.unit import Units
from pushrod.live.autopilot import Steering
from pushrod.pipeline.names import MODES

FASTEST = 3.0  # [m/s] that a slider goes to
SETTLE = 1.0  # [s] that a slider stays where it was moved to, before it shows what is kept
FOLLOW = 0.4  # [s] between two times it does
BY = "operator"  # as the rules of a pipeline call whoever commands by hand
COURSE = {"v_req": ("speed", "v", "m/s", -FASTEST / 3, FASTEST), "psi_req": ("heading", "psi", "rad", -pi, pi)}


class HelmCard:
    """For a robot with controllers of the names `pipeline` and, for a course, `autopilot`."""

    def __init__(self, seat: Seat, units: Units, with_autopilot: bool) -> None:
        self._seat = seat
        self._units = units
        self._refusal = ""
        self._course = dict.fromkeys(COURSE, 0.0)
        self._slides: dict[str, Slide] = {}
        self._moved = self._followed = 0.0
        with box("pr-card").props("id=card-helm"):
            with box("pr-card-head"):
                text("Helm", "pr-name")
                live("helm:mode", "pr-owner")
            with needs("control"), box("pr-card-foot"):
                for mode in MODES:
                    button = ui.button(mode, on_click=partial(self._switch, mode), color=None).props("no-caps unelevated dense size=sm")
                    marked(f"helm:{mode}", button.classes(f"pr-mode pr-mode-{mode}"))
            if with_autopilot:
                with needs("helm:steers", "pr-controls"):
                    with box("pr-slider pr-slider-head"):
                        for words in ("Course", "", "requested", "actual"):
                            text(words, "pr-soft pr-right" if words in ("requested", "actual") else "pr-kind")
                    for field, (label, _, unit, low, high) in COURSE.items():
                        self._slides[field] = Slide(label, low, high, unit, units, f"helm:{field}", partial(self._steer, field))
                live("helm:hint", "pr-soft", "div")
            live("helm:refusal", "pr-refusal", "div")

    def _steer(self, field: str, value: float) -> None:
        self._moved = time.monotonic()
        self._course[field] = value
        background_tasks.create(self._ask("autopilot", {"type": "Course", **self._course}))

    async def _switch(self, mode: str) -> None:
        answer = await self._ask("pipeline", {"type": "Switch", "mode": mode, "by": BY})
        if isinstance(answer, dict) and not answer.get("ok", True):
            self._refusal = str(answer.get("why", "refused"))

    async def _ask(self, part: str, request: Any) -> Any:
        self._refusal = ""
        try:
            return await self._seat.request(part, request)
        except (PushrodError, LookupError, TimeoutError) as error:
            self._refusal = str(error)
        return None

    def _follow(self, kept: Steering | None, is_steering: bool) -> None:
        """Place the sliders at the course of the autopilot, but for a moment after they were moved. Outside its mode nothing is requested."""
        now = time.monotonic()
        if kept is None or now < max(self._moved + SETTLE, self._followed + FOLLOW):
            return
        self._followed = now
        for field, slide in self._slides.items():
            self._course[field] = getattr(kept, field)
            slide.stand(wrapped(field.removesuffix("_req"), self._course[field]) or 0.0, is_steering)

    def tell(self, told: Told) -> None:
        status, kept = self._seat.watch.status, self._seat.watch.records.get(Steering)
        mode = "" if status is None else status.mode
        told.flags["helm:steers"] = self._seat.in_control and mode == "autopilot"
        told.texts["helm:hint"] = "" if mode in ("", "autopilot") else f"{mode}: choose autopilot to set a course"
        self._follow(kept, mode == "autopilot")
        told.texts["helm:mode"] = "" if status is None else f"{status.mode}; owner {status.owner}"
        told.flags |= {f"helm:{one}": one == mode for one in MODES}
        told.texts["helm:refusal"] = self._refusal
        for field, (_, actual, unit, _, _) in COURSE.items():
            told.texts[f"helm:{field}"] = self._units.figure(None if kept is None else wrapped(actual, getattr(kept, actual)), unit)
