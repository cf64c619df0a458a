"""An actuator on the page: what it reports, whose it is, the verbs it takes as sliders within its limits, and what became of the last commands.

A position slider sends while it is dragged, at most 20 times a second. A velocity or effort slider moves the joint only while it is held: it is sent
again and again with a short duration, and springs back to 0. What an actuator with a watchdog was told is told again as long as this browser is
heard, has control, and nothing has ended it: a stop of whoever, a watchdog, a disarming. Then the sliders stand at rest, so that none brings back
what was.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from math import pi
from typing import Any

from nicegui import background_tasks, ui

from pushrod.core.errors import InputError, PushrodError
from pushrod.dash.control import KNOBS, Knob
from pushrod.dash.element import bar, box, live, needs, rows, shown, text
from pushrod.dash.payload_words import payload_words
from pushrod.dash.seat import VALIDITY, Seat
from pushrod.dash.slide import Slide, Spring
from pushrod.dash.told import Told, figure, span
from pushrod.dash.watch import Noted
from pushrod.net.told import ActuatorNow, ActuatorTold
from pushrod.robot.joint import units
from pushrod.runtime.payload import Effort, Hold, Payload, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.result import Clamped, Refused

HELD = 0.3  # [s] that a velocity or an effort lasts by itself
AGAIN = 0.1  # [s] between two of them
FOLLOW = 0.4  # [s] between two times a slider follows its joint


class Card:
    def __init__(self, seat: Seat, told: ActuatorTold) -> None:
        self._seat = seat
        self.told = told
        self.name = told.name
        self._si = units(told.kind) if told.kind else units("revolute")
        self._position: Slide | None = None
        self._asked = False  # whether this browser has said where it shall be, since it may
        self._followed = 0.0
        self._holding: Any = None  # what tells it again and again while a spring is held
        self._again: Payload | None = None  # what is told again and again, for the watchdog's sake
        self._told_at = 0.0
        self._stops = 0  # that were seen when it was told first
        self._to_rest: list[Callable[[], None]] = []  # the sliders of its own payloads
        with box("pr-card pr-actuator").props(f'id="card-{told.name}"' if told.name.isidentifier() else ""):
            with box("pr-card-head"):
                text(told.name, "pr-name")
                text(f"joint {told.joint}", "pr-soft")
                live(f"{self.name}:owner", "pr-owner")
            with box("pr-figures"):
                for what in ("position", "velocity", "effort"):
                    with shown(f"{self.name}:{what}", "pr-figure"):
                        text(what, "pr-soft")
                        live(f"{self.name}:{what}", "pr-value")
                for what in ("last command", "by", "acted", "refused"):
                    with box("pr-figure"):
                        text(what, "pr-soft")
                        live(f"{self.name}:{what}", "pr-value")
            live(f"{self.name}:said", "pr-said", "div")
            if told.lower is not None and told.upper is not None and "Position" in told.payloads:
                bar(f"{self.name}:bar")
            with needs(f"lease:{self.name}", "pr-controls"):
                self._verbs()
            with box("pr-card-foot"):
                if "Hold" in told.payloads:
                    with needs(f"lease:{self.name}"):
                        ui.button("Hold", on_click=lambda: self._send(Hold())).props("no-caps outline dense size=sm")
                with needs("alive", "pr-row"):
                    ui.button("Stop", on_click=lambda: self._send(Stop("decelerate"))).props("no-caps outline dense size=sm color=warning")
                    ui.button("Stop now", on_click=lambda: self._send(Stop())).props("no-caps outline dense size=sm color=negative")
                with shown(f"free:{self.name}"), needs("control"):
                    ui.button("Take again", on_click=self._take).props("no-caps outline dense size=sm")
                with shown(f"bitten:{self.name}"), needs("control"):
                    ui.button("Clear watchdog", on_click=self._clear).props("no-caps outline dense size=sm")
            rows(f"{self.name}:results", "pr-results")

    def _verbs(self) -> None:
        told = self.told
        for kind in told.payloads:
            if kind in KNOBS:
                self._own(kind)
        if "Position" in told.payloads:
            low, high = (told.lower, told.upper) if told.lower is not None and told.upper is not None else (-2 * pi, 2 * pi)
            self._position = Slide("position", low, high, self._si["position"], self._to_position)
        if "Velocity" in told.payloads or "Effort" in told.payloads or "Trajectory" in told.payloads:
            with ui.expansion("Velocity, effort, trajectory").props("dense").classes("pr-more"):
                if "Velocity" in told.payloads:
                    self._spring(Velocity, "velocity (while held)", told.velocity or 1.0, self._si["velocity"])
                if "Effort" in told.payloads:
                    self._spring(Effort, "effort (while held)", told.effort or 1.0, self._si["effort"])
                if "Trajectory" in told.payloads:
                    self._trajectory()

    def _spring(self, make: Any, label: str, most: float, unit: str) -> None:
        def moved() -> None:
            if self._holding is None or self._holding.done():
                self._holding = background_tasks.create(self._while_held(spring, make))

        spring = Spring(label, -most, most, unit, moved)

    async def _while_held(self, spring: Spring, make: Any) -> None:
        """Until it is let go, or anybody has stopped the actuator: then it must be taken anew."""
        watch, stops = self._seat.watch, self._seat.watch.stops.get(self.name, 0)
        while spring.value is not None:
            self._send(make(spring.value, HELD), VALIDITY)
            await asyncio.sleep(AGAIN)
            if not self._seat.in_control or watch.state != "armed" or watch.stops.get(self.name, 0) != stops:
                spring.release()

    def _trajectory(self) -> None:
        with box("pr-slider"):
            text("trajectory", "pr-slider-name")
            field = ui.input(placeholder=f"s, {self._si['position']}; ...   1 0.5; 2 0").props("dense outlined").classes("pr-trajectory")
            ui.button("Follow", on_click=lambda: self._follow(field)).props("no-caps outline dense size=sm")

    def _follow(self, field: Any) -> None:
        try:
            self._send(Trajectory(waypoints(field.value or "")))
            field.props(remove="error error-message")
        except InputError as error:
            field.props["error"] = True
            field.props["error-message"] = str(error)

    def _own(self, kind: str) -> None:
        make, knobs = KNOBS[kind][0], KNOBS[kind][1](self.told)
        values = {knob.field: knob.at_first for knob in knobs}

        def moved(field: str, value: float) -> None:
            values[field] = value
            self._keep(make(**values))

        def rest() -> None:
            values.update((knob.field, knob.at_first) for knob in knobs)
            for knob in knobs:
                if knob.words:
                    choices[knob.field].set_value(int(knob.at_first))
                else:
                    slides[knob.field].stand(knob.at_first)

        text(kind, "pr-kind")
        choices: dict[str, Any] = {}
        slides: dict[str, Slide] = {}
        for knob in knobs:
            if knob.words:
                choices[knob.field] = self._choice(knob, moved)
            else:
                slides[knob.field] = Slide(knob.field, knob.low, knob.high, knob.unit, partial(moved, knob.field), knob.at_first)
        self._to_rest.append(rest)

    def _choice(self, knob: Knob, moved: Any) -> Any:
        with box("pr-slider"):
            text(knob.field, "pr-slider-name")
            words = dict(enumerate(knob.words))
            choice = ui.select(words, value=int(knob.at_first)).props("dense outlined options-dense")
            choice.on("update:model-value", lambda: moved(knob.field, float(choice.value)))  # by hand alone, not when it is set here
        return choice

    def _to_position(self, value: float) -> None:
        self._asked = True
        self._keep(Position(value))

    def _keep(self, payload: Payload) -> None:
        """Send it, and again and again where a watchdog would miss it."""
        self._send(payload, VALIDITY)
        if self.told.watchdog is not None:
            self._again, self._told_at, self._stops = payload, time.monotonic(), self._seat.watch.stops.get(self.name, 0)

    def _keep_on(self, mine: bool) -> None:
        if self._again is None:
            return
        watch, now = self._seat.watch, time.monotonic()
        if not mine or watch.state != "armed" or watch.stops.get(self.name, 0) != self._stops:
            self._again = None
            for rest in self._to_rest:
                rest()
        elif now - self._told_at >= AGAIN:
            again, self._told_at = self._again, now
            self._seat.send("/".join(self.told.path), again, VALIDITY)

    def _send(self, payload: Payload, validity: float = 0.0) -> None:
        self._again = None
        self._seat.send("/".join(self.told.path), payload, validity)

    async def _take(self) -> None:
        try:
            await self._seat.take_again()
        except (PushrodError, TimeoutError) as error:
            self._seat.watch.events.add(time.time(), "warning", self.name, f"it was not taken: {error}")

    async def _clear(self) -> None:
        try:
            await self._seat.clear_watchdog("/".join(self.told.path))
        except (PushrodError, TimeoutError) as error:
            self._seat.watch.events.add(time.time(), "warning", self.name, f"the watchdog was not cleared: {error}")

    def _follow_joint(self, position: float | None) -> None:
        """Until it is moved, the slider stands where the joint is: whoever takes it then starts from there."""
        if self._seat.watch.state != "armed" or not self._seat.holds(self.name):
            self._asked = False
        now = time.monotonic()
        if self._position is None or self._asked or position is None or now < self._followed + FOLLOW:
            return
        self._followed = now
        if abs(position - self._position.value) > 1e-3:
            self._position.stand(round(position, 4))

    def tell(self, told: Told) -> None:
        watch, name = self._seat.watch, self.name
        now: ActuatorNow | None = next((a for a in watch.overview.actuators if a.name == name), None) if watch.overview is not None else None
        state = watch.joints.get(self.told.joint)
        for what, values in (("position", state and state.positions), ("velocity", state and state.velocities), ("effort", state and state.efforts)):
            told.texts[f"{name}:{what}"] = figure(values[0] if values else None, self._si[what])
            told.flags[f"{name}:{what}"] = bool(values)
        if state and state.positions and self.told.lower is not None and self.told.upper is not None:
            told.bar(f"{name}:bar", state.positions[0], self.told.lower, self.told.upper)
        self._follow_joint(state.positions[0] if state and state.positions else None)
        owner = watch.leases.get(name)
        mine = self._seat.holds(name)
        driven = f"driven by {self.told.driven_by}" if self.told.driven_by else "free"
        told.texts[f"{name}:owner"] = "yours" if mine else f"held by {owner}" if owner else driven
        told.flags[f"lease:{name}"] = mine
        self._keep_on(mine)
        told.flags[f"bitten:{name}"] = owner == "watchdog"
        told.flags[f"free:{name}"] = self._seat.in_control and not self._seat.busy and owner is None and not self.told.driven_by
        if now is not None:
            told.texts[f"{name}:last command"] = span(now.silence)
            told.texts[f"{name}:by"] = now.commander or "-"
            told.texts[f"{name}:acted"] = str(now.acted)
            told.texts[f"{name}:refused"] = str(sum(now.refused.values()))
        said_of_itself = watch.said.get(name, {})
        told.texts[f"{name}:said"] = "   ".join(f"{key} {_plain(value)}" for key, value in said_of_itself.items() if value is not None)
        told.rows[f"{name}:results"] = [_line(noted, self.told) for noted in watch.results.get(name, ())]


def waypoints(words: str) -> tuple[Waypoint, ...]:
    """'1 0.5; 2 0' as points: time [s] and position."""
    points = []
    for part in filter(None, (piece.strip() for piece in words.split(";"))):
        try:
            time_, position = map(float, part.replace(",", " ").split())
        except ValueError:
            raise InputError(f"{part!r}: write a time and a position, such as 1 0.5; 2 0") from None
        points.append(Waypoint(position, time_))
    if not points:
        raise InputError("write times and positions, such as 1 0.5; 2 0")
    return tuple(points)


def _line(noted: Noted, told: ActuatorTold) -> list[str]:
    """Its class, when, what became of it, whose it was."""
    result, again = noted.result, f", the last of {noted.n}" if noted.n > 1 else ""
    when = time.strftime("%H:%M:%S", time.localtime(noted.time))
    if isinstance(result, Refused):
        detail = f" ({result.detail})" if result.detail else ""
        words = f"REFUSED {result.command}: {result.reason.replace('_', ' ')}{detail}; {result.advice}"
        return ["warning", when, f"{words}  [{noted.source}]{again}"]
    if isinstance(result, Clamped):
        asked, done = (payload_words(payload, told) for payload in (result.asked, result.done))
        return ["clamped", when, f"clamped to the limits: {done}; asked was {asked}{_info(result)}  [{noted.source}]{again}"]
    return ["", when, f"{payload_words(noted.payload, told)} accepted{_info(result)}  [{noted.source}]{again}"]


def _info(result: Any) -> str:
    """What the driver had to say."""
    info = result.info
    if info is None:
        return ""
    return f" ({', '.join(f'{key} {_plain(value)}' for key, value in info.items())})" if isinstance(info, dict) else f" ({_plain(info)})"


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
