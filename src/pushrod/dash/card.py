"""An actuator on the page: requested values beside actual ones, its owner, its verbs as sliders within its limits, and the last results.

Sliders stand at the command in force, whichever operator sent it; an actuator that a controller of the robot drives has bars in their place.

A position slider sends while it is dragged, at most 20 times a second. A velocity or effort slider moves the joint only while it is held (spring.py).
What an actuator with a watchdog was told is told again as long as this browser is
heard, has control, and nothing has ended it: a stop of whoever, a watchdog, a disarming. Then the sliders stand at rest, so that none brings back
what was.
"""

import time
from collections.abc import Callable
from functools import partial
from math import pi
from typing import Any

from nicegui import ui

from pushrod.core.errors import InputError, PushrodError
from pushrod.dash.control import KNOBS, Knob
from pushrod.dash.element import bar, box, live, marked, needs, rows, shown, text
from pushrod.dash.fault import faults
from pushrod.dash.output import actual_output
from pushrod.dash.payload_words import number, payload_words
from pushrod.dash.seat import VALIDITY, Seat
from pushrod.dash.slide import Slide
from pushrod.dash.spring import AGAIN, Spring
from pushrod.dash.told import Told, span
from pushrod.dash.unit import Units
from pushrod.dash.watch import Noted, Watch
from pushrod.net.told import ActuatorNow, ActuatorTold
from pushrod.net.wire import Foreign
from pushrod.robot.joint import units as joint_units
from pushrod.runtime.payload import Effort, Hold, Payload, Position, Stop, Trajectory, Velocity, Waypoint
from pushrod.runtime.result import Clamped, Refused

FOLLOW = 0.4  # [s] between two times a slider follows its joint
SETTLE = 1.0  # [s] that a slider stays where it was moved to, before it follows the command in force


class Card:
    def __init__(self, seat: Seat, told: ActuatorTold, units: Units) -> None:
        self._seat = seat
        self._units = units
        self.told = told
        self.name = told.name
        self._si = joint_units(told.kind or "revolute")
        self._position: Slide | None = None
        self._followed = 0.0
        self._again: Payload | None = None  # what is told again and again, for the watchdog's sake
        self._told_at = 0.0
        self._stops = 0  # that were seen when it was told first
        self._moved_at = 0.0
        self._own_kinds: dict[str, Callable[[Any], None]] = {}  # for each payload of its own: stand at this one; at rest for None
        with marked(f"{self.name}:faulted", box("pr-card pr-actuator")).props(f'id="card-{told.name}"' if told.name.isidentifier() else ""):
            with box("pr-card-head"):
                text(told.name, "pr-name")
                text(f"joint {told.joint}", "pr-soft")
                live(f"{self.name}:owner", "pr-owner")
            live(f"{self.name}:fault", "pr-fault-note", "div")
            with box("pr-figures"):
                for what in ("position", "velocity", "effort"):
                    with shown(f"{self.name}:{what}", "pr-figure"):
                        text(what, "pr-soft")
                        live(f"{self.name}:{what}", "pr-value")
                for what in ("last command", "by", "accepted", "refused"):
                    with box("pr-figure"):
                        text(what, "pr-soft")
                        live(f"{self.name}:{what}", "pr-value")
            live(f"{self.name}:said", "pr-said", "div")
            if told.lower is not None and told.upper is not None and "Position" in told.payloads:
                bar(f"{self.name}:bar")
            if told.driven_by:
                self._readings()
            else:
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

    def _head(self, kind: str) -> None:
        """Which payload the rows below are, marked while it is in force, and what their two numbers are."""
        with box("pr-slider pr-slider-head"):
            marked(f"{self.name}:in force:{kind}", text(kind, "pr-kind"))
            text("")
            text("requested", "pr-soft pr-right")
            text("actual", "pr-soft pr-right")

    def _readings(self) -> None:
        for kind in (kind for kind in self.told.payloads if kind in KNOBS):
            self._head(kind)
            for knob in KNOBS[kind][1](self.told):
                with box("pr-slider"):
                    text(knob.field, "pr-slider-name")
                    bar(f"{self.name}:{kind}.{knob.field}", "pr-bar-tall")
                    live(f"{self.name}:requested {kind}.{knob.field}", "pr-value pr-right")
                    live(f"{self.name}:{kind}.{knob.field}", "pr-value pr-right")

    def _verbs(self) -> None:
        told = self.told
        for kind in told.payloads:
            if kind in KNOBS:
                self._own(kind)
        if "Position" in told.payloads:
            low, high = (told.lower, told.upper) if told.lower is not None and told.upper is not None else (-2 * pi, 2 * pi)
            self._head("Position")
            self._position = Slide("position", low, high, self._si["position"], self._units, f"{self.name}:position", self._to_position)
        if "Velocity" in told.payloads or "Effort" in told.payloads or "Trajectory" in told.payloads:
            with ui.expansion("Velocity, effort, trajectory").props("dense").classes("pr-more"):
                if "Velocity" in told.payloads:
                    self._spring(Velocity, "velocity", told.velocity or 1.0)
                if "Effort" in told.payloads:
                    self._spring(Effort, "effort", told.effort or 1.0)
                if "Trajectory" in told.payloads:
                    self._trajectory()

    def _spring(self, make: Any, what: str, most: float) -> None:
        def send(value: float, duration: float) -> None:
            self._send(make(value, duration), VALIDITY)

        Spring(f"{what} (while held)", most, self._si[what], self._units, f"{self.name}:{what}", send, self._permit)

    def _permit(self) -> int | None:
        """Return how often the actuator was stopped; None where this browser may not move it."""
        watch = self._seat.watch
        return watch.stops.get(self.name, 0) if self._seat.in_control and watch.state == "armed" else None

    def _trajectory(self) -> None:
        with box("pr-slider"):
            text("trajectory", "pr-slider-name")
            field = ui.input(placeholder=self._example()).props("dense outlined").classes("pr-trajectory")
            self._units.on_change(lambda: self._show_example(field))
            ui.button("Follow", on_click=lambda: self._follow(field)).props("no-caps outline dense size=sm")

    def _show_example(self, field: Any) -> None:
        field.props(f'placeholder="{self._example()}"')

    def _example(self) -> str:
        scale = self._units.of(self._si["position"])
        return f"s, {scale.unit}; ...   1 {30 if scale.unit == 'deg' else 0.5}; 2 0"

    def _follow(self, field: Any) -> None:
        try:
            self._send(Trajectory(waypoints(field.value or "", self._units.of(self._si["position"]).factor)))
            field.props(remove="error error-message")
        except InputError as error:
            field.props["error"] = True
            field.props["error-message"] = str(error)

    def _own(self, kind: str) -> None:
        make, knobs = KNOBS[kind][0], KNOBS[kind][1](self.told)
        values = {knob.field: knob.at_first for knob in knobs}

        def moved(field: str, value: float) -> None:
            self._moved_at = time.monotonic()
            values[field] = value
            payload = make(**values)
            for other, stand_at in self._own_kinds.items():
                stand_at(payload if other == kind else None)
            self._keep(payload)

        def stand(payload: Any) -> None:
            for knob in knobs:
                value = values[knob.field] = knob.at_first if payload is None else float(field_of(payload, knob.field, knob.at_first))
                if knob.words:
                    choices[knob.field].set_value(int(value))
                else:
                    slides[knob.field].stand(value, payload is not None)

        self._head(kind)
        choices: dict[str, Any] = {}
        slides: dict[str, Slide] = {}
        for knob in knobs:
            if knob.words:
                choices[knob.field] = self._choice(knob, moved)
            else:
                key = f"{self.name}:{kind}.{knob.field}"
                to = partial(moved, knob.field)
                slides[knob.field] = Slide(knob.field, knob.low, knob.high, knob.unit, self._units, key, to, knob.at_first)
        self._own_kinds[kind] = stand

    def _choice(self, knob: Knob, moved: Any) -> Any:
        with box("pr-slider"):
            text(knob.field, "pr-slider-name")
            words = dict(enumerate(knob.words))
            choice = ui.select(words, value=int(knob.at_first)).props("dense outlined options-dense")
            choice.on("update:model-value", lambda: moved(knob.field, float(choice.value)))  # by hand alone, not when it is set here
        return choice

    def _to_position(self, value: float) -> None:
        self._moved_at = time.monotonic()
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
            for stand in self._own_kinds.values():
                stand(None)
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

    def _follow_asked(self) -> None:
        """Sliders of its own payloads stand at the command in force, by whichever operator, unless this browser is moving them."""
        now = time.monotonic()
        if self._again is not None or now < max(self._moved_at + SETTLE, self._followed + FOLLOW) or not self._own_kinds:
            return
        self._followed = now
        asked = self._seat.watch.asked.get(self.name)
        for kind, stand in self._own_kinds.items():
            stand(asked if kind_of(asked) == kind else None)

    def _follow_joint(self, position: float | None) -> None:
        """Place the slider at the position in force, else at the joint, where the next command starts; not while this browser moves it."""
        now = time.monotonic()
        if self._position is None or position is None or now < max(self._moved_at + SETTLE, self._followed + FOLLOW):
            return
        self._followed = now
        asked = self._seat.watch.asked.get(self.name)
        self._position.stand(asked.position if isinstance(asked, Position) else position, isinstance(asked, Position))

    def tell(self, told: Told) -> None:
        watch, name = self._seat.watch, self.name
        now: ActuatorNow | None = next((a for a in watch.overview.actuators if a.name == name), None) if watch.overview is not None else None
        state = watch.joints.get(self.told.joint)
        for what, values in (("position", state and state.positions), ("velocity", state and state.velocities), ("effort", state and state.efforts)):
            told.texts[f"{name}:{what}"] = self._units.figure(values[0] if values else None, self._si[what])
            told.flags[f"{name}:{what}"] = bool(values)
        if state and state.positions and self.told.lower is not None and self.told.upper is not None:
            told.bar(f"{name}:bar", state.positions[0], self.told.lower, self.told.upper)
        self._follow_joint(state.positions[0] if state and state.positions else None)
        owner = watch.leases.get(name)
        mine = self._seat.holds(name)
        driven = f"driven by {self.told.driven_by}" if self.told.driven_by else "free"
        told.texts[f"{name}:owner"] = "yours" if mine else f"leased by {owner}" if owner else driven
        told.flags[f"lease:{name}"] = mine
        self._keep_on(mine)
        self._follow_asked()
        self._tell_asked(told)
        told.flags[f"bitten:{name}"] = owner == "watchdog"
        told.flags[f"free:{name}"] = self._seat.in_control and not self._seat.busy and owner is None and not self.told.driven_by
        if now is not None:
            told.texts[f"{name}:last command"] = span(now.silence)
            told.texts[f"{name}:by"] = now.commander or "-"
            told.texts[f"{name}:accepted"] = str(now.acted)
            told.texts[f"{name}:refused"] = str(sum(now.refused.values()))
        said_of_itself = watch.said.get(name, {})
        told.texts[f"{name}:said"] = "   ".join(f"{key} {_plain(value)}" for key, value in said_of_itself.items() if value is not None)
        told.rows[f"{name}:results"] = [_line(noted, self.told, self._units) for noted in watch.results.get(name, ())]

    def _tell_asked(self, told: Told) -> None:
        watch, name = self._seat.watch, self.name
        asked, wrong = watch.asked.get(name), faults(watch, self._units)
        alone = watch.remote is not None and len(watch.remote.description.actuators) == 1
        concerned = {channel: words for channel, words in wrong.items() if alone or channel in (name, self.told.joint)}
        told.flags[f"{name}:faulted"] = bool(concerned)
        told.texts[f"{name}:fault"] = "; ".join(f"Fault: {channel} {words}" for channel, words in concerned.items())
        for kind in (*(kind for kind in self.told.payloads if kind in KNOBS), "Position"):
            told.flags[f"{name}:in force:{kind}"] = asked is not None and kind_of(asked) == kind
        for kind in (kind for kind in self.told.payloads if kind in KNOBS):
            for knob in KNOBS[kind][1](self.told):
                key, is_now = f"{kind}.{knob.field}", actual(watch, name, knob)
                told.texts[f"{name}:{key}"] = self._units.figure(is_now, knob.unit)
                told.bar(f"{name}:{key}", is_now, knob.low, knob.high)
                value = field_of(asked, knob.field, knob.at_first) if kind_of(asked) == kind else None
                told.texts[f"{name}:requested {key}"] = self._units.figure(value, knob.unit)


def kind_of(payload: Any) -> str:
    return payload.kind if isinstance(payload, Foreign) else type(payload).__name__


def is_requested(watch: Watch, output: str) -> bool:
    """Whether a command in force has a number that becomes this output of the world."""
    actuators = watch.remote.description.actuators if watch.remote is not None else ()
    kinds = ((one, kind_of(watch.asked.get(one.name))) for one in actuators)
    return any(knob.actual == output for one, kind in kinds if kind in KNOBS for knob in KNOBS[kind][1](one))


def field_of(payload: Any, field: str, default: float) -> Any:
    """A number of a payload, also of one whose type this process does not have."""
    if isinstance(payload, Foreign):
        return payload.data.get(field, default) if isinstance(payload.data, dict) else default
    return getattr(payload, field, default)


def actual(watch: Watch, actuator: str, knob: Knob) -> float | None:
    """Return what the machine makes of this number of a command; None where it does not measure it."""
    if knob.field == "u" and actuator in watch.thrusters:
        return actual_output(watch, actuator)
    return watch.now.get(knob.actual)


def waypoints(words: str, factor: float = 1.0) -> tuple[Waypoint, ...]:
    """'1 0.5; 2 0' as points: time [s] and position, shown as `factor` times its SI value."""
    points = []
    for part in filter(None, (piece.strip() for piece in words.split(";"))):
        try:
            time_, position = map(float, part.replace(",", " ").split())
        except ValueError:
            raise InputError(f"{part!r}: write a time and a position, such as 1 0.5; 2 0") from None
        points.append(Waypoint(position / factor, time_))
    if not points:
        raise InputError("write times and positions, such as 1 0.5; 2 0")
    return tuple(points)


def _line(noted: Noted, told: ActuatorTold, units: Units) -> list[str]:
    """Its class, when, what became of it, whose it was."""
    result, again = noted.result, f", latest of {noted.n}" if noted.n > 1 else ""
    when = time.strftime("%H:%M:%S", time.localtime(noted.time))
    if isinstance(result, Refused):
        detail = f" ({result.detail})" if result.detail else ""
        words = f"REFUSED {result.command}: {result.reason.replace('_', ' ')}{detail}; {result.advice}"
        return ["warning", when, f"{words}  [{noted.source}]{again}"]
    if isinstance(result, Clamped):
        asked, done = (payload_words(payload, told, units) for payload in (result.asked, result.done))
        return ["clamped", when, f"clamped to the limits: {done}; requested {asked}{_info(result)}  [{noted.source}]{again}"]
    return ["", when, f"{payload_words(noted.payload, told, units)} accepted{_info(result)}  [{noted.source}]{again}"]


def _info(result: Any) -> str:
    """What the driver had to say."""
    info = result.info
    if info is None:
        return ""
    return f" ({', '.join(f'{key} {_plain(value)}' for key, value in info.items())})" if isinstance(info, dict) else f" ({_plain(info)})"


def _plain(value: Any) -> str:
    return number(value)
