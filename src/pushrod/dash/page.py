"""The page of one browser: the safety strip on top, then a tab for each thing there is to see. Ten times a second it is told what is new."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from nicegui import Client, ui

from pushrod.core.errors import PushrodError
from pushrod.dash.card import Card
from pushrod.dash.element import Feed, box, live, needs, shown
from pushrod.dash.fault import injected
from pushrod.dash.faults_panel import FaultsPanel
from pushrod.dash.helm_card import HelmCard
from pushrod.dash.log_panel import EventsPanel, TimingPanel
from pushrod.dash.motion_card import MotionCard, names
from pushrod.dash.parameters_panel import ParametersPanel, parameters
from pushrod.dash.pipeline_panel import PipelinePanel
from pushrod.dash.plots import Plots
from pushrod.dash.scene_panel import ScenePanel
from pushrod.dash.seat import Desk, Seat
from pushrod.dash.stages import axes
from pushrod.dash.strip import Strip
from pushrod.dash.told import Told
from pushrod.dash.tree_panel import TreePanel
from pushrod.dash.unit import Units
from pushrod.dash.watch import Watch

TICK = 0.1  # [s]
ICONS = {"Control": "tune", "Pipeline": "account_tree", "Parameters": "list_alt", "Faults": "bolt", "Events": "history", "Timing": "timer"}
BEHIND = 10  # ticks that a browser may not have answered before it gets fewer
STYLE = Path(__file__).parent / "page.css"


class Panel(Protocol):
    def tell(self, told: Told) -> None: ...


class Page:
    def __init__(self, desk: Desk, client: Client) -> None:
        self.desk = desk
        self.seat: Seat = desk.sit()
        self.units = Units()
        self._n = 0
        self._sent = 0
        self._answered = 0
        self._before = Told()
        self._generation = desk.watch.generation
        self._note = ""
        self._noted: Seat | None = None  # who had control when it was noted
        self._before_reload = ""  # the key of the seat this browser had control at
        client.on_disconnect(self._gone)
        client.on_delete(lambda: desk.leave(self.seat))
        ui.colors(primary="#2f81c6", positive="#1e8e4e", warning="#b26a00", negative="#c62828")
        self._feed = Feed(self.seat.key)
        self._feed.on("beat", self._beat)
        self._feed.on("had", self._had)
        self._feed.on("ready", self._start)
        self._panels: list[Panel] = []
        self._build()
        self._timer = ui.timer(TICK, self._tick, active=False)

    def _start(self) -> None:
        """Send everything, now that the browser has built the page: messages that arrive earlier are lost."""
        self._before = Told()
        self._timer.activate()

    def _build(self) -> None:
        watch = self.desk.watch
        box("pr-banner").props("id=pr-banner hidden role=alert")
        with box("pr-top"):
            self._panels.append(Strip(self.seat, self.units, lambda: self._open("Faults")))
            self._control_bar()
            shown_tabs = tabs_of(watch)
            with ui.tabs().props("dense no-caps inline-label align=left").classes("pr-tabs") as self._tabs:
                for name in shown_tabs:
                    ui.tab(name, icon=ICONS[name])
        pages: dict[str, Callable[[], Panel]] = {
            "Pipeline": lambda: PipelinePanel(self.seat, self.units),
            "Parameters": lambda: ParametersPanel(self.seat, self.units),
            "Faults": lambda: FaultsPanel(self.seat, self.units),
            "Events": lambda: EventsPanel(self.seat),
            "Timing": lambda: TimingPanel(self.seat),
        }
        with ui.tab_panels(self._tabs, value=shown_tabs[0], animated=False).classes("pr-panels"):
            with ui.tab_panel("Control"), box("pr-main"):
                with box("pr-side"):
                    self._cards()
                with box("pr-wide"):
                    with box("pr-views"):
                        self._panels.append(ScenePanel(watch))
                        self._panels.append(TreePanel(watch.described))
                    self._panels.append(Plots(watch, self.units))
            for name in shown_tabs[1:]:
                with ui.tab_panel(name), box("pr-page"):
                    self._panels.append(pages[name]())

    def _open(self, tab: str) -> None:
        if tab in tabs_of(self.desk.watch):
            self._tabs.set_value(tab)

    def _cards(self) -> None:
        remote = self.desk.watch.remote
        if remote is None:
            return
        if names(self.desk.watch):
            self._panels.append(MotionCard(self.seat, self.units))
        if "pipeline" in remote.description.nodes:
            self._panels.append(HelmCard(self.seat, self.units, "autopilot" in remote.description.nodes))
        self._panels += [Card(self.seat, told, self.units) for told in remote.description.actuators]

    def _control_bar(self) -> None:
        with box("pr-bar-line"):
            live("who", "pr-who", stale="Who has control is not known while the page is stale")
            with shown("may_take"), needs("alive"):
                ui.button("Take control", on_click=self._take, color=None).props("no-caps unelevated dense size=sm").classes("pr-take")
            with shown("control"), needs("alive"):
                ui.button("Give back", on_click=self._give_back).props("no-caps outline dense size=sm").classes("pr-give")
            live("note", "pr-refusal")
            box("pr-space")
            live("link", "pr-soft pr-operators")
            angles = ui.toggle({True: "deg", False: "rad"}, value=True, on_change=lambda event: self.units.switch(bool(event.value)))
            angles.props('dense unelevated no-caps size=sm aria-label="Unit of angles"').classes("pr-toggle").tooltip("Unit of angles")
            dark = ui.dark_mode(None)
            ui.button(icon="contrast", on_click=lambda: dark.set_value(not dark.value)).props("flat dense round size=sm").tooltip("Light or dark")
        with shown("lost", "pr-lost"):
            live("lost")
            ui.button("Dismiss", on_click=self._dismiss).props("no-caps flat dense size=sm color=warning")

    def _dismiss(self) -> None:
        self.seat.lost = ""

    async def _take(self) -> None:
        await self._try(self.seat.take)

    async def _give_back(self) -> None:
        await self._try(self.seat.give_back)

    async def _try(self, deed: Callable[[], Any]) -> None:
        try:
            self._note = await deed() or ""
        except (PushrodError, TimeoutError) as error:
            self._note = str(error)
        self._noted = self.desk.holder

    def _beat(self, event: Any) -> None:
        self._answered = int(event.args)
        self.seat.beat()

    def _had(self, event: Any) -> None:
        """The page was loaded anew by a browser that had control."""
        self._before_reload = str(event.args)

    async def _gone(self) -> None:
        self.seat.here = False
        await self.seat.vanish()

    def _tick(self) -> None:
        watch, seat = self.desk.watch, self.seat
        if watch.generation != self._generation:
            ui.navigate.reload()  # it is another robot, or the same anew
            return
        self._n += 1
        if self._n - self._answered > BEHIND and self._n % BEHIND:
            return
        told = Told()
        holder = self.desk.holder
        if holder is not self._noted:
            self._note, self._noted = "", holder
        if self._before_reload and (why := self.desk.why_lost(self._before_reload)) is not None:
            self._before_reload = ""
            seat.lost = seat.lost or ("" if seat.in_control else why)
        told.texts["lost"] = seat.lost
        told.flags["lost"] = bool(seat.lost)
        told.flags["may_take"] = seat.remote is None
        told.texts["note"] = self._note
        others = f", {self.desk.seats} browsers" if self.desk.seats > 1 else ""
        who = f"You have control as {seat.name}" if seat.in_control else f"{holder.name} has control; view only" if holder else "View only"
        told.texts["who"] = f"{who}{others}"
        now = watch.overview
        told.texts["link"] = f"operators: {', '.join(now.operators)}" if now is not None else ""
        for panel in self._panels:
            panel.tell(told)
        gone = "" if watch.alive else watch.why_gone or "its host does not answer"
        news = told.news(self._before)
        self._sent += 1
        news |= {"n": self._n, "sent": self._sent}
        news |= {"gone": gone, "since": round(watch.silence, 1), "state": watch.state, "now": round(time.time() * 1e3)}
        self._before = told
        self._feed.run_method("feed", news)


def tabs_of(watch: Watch) -> list[str]:
    """The tabs that have content for this robot."""
    nodes = watch.remote.description.nodes if watch.remote is not None else ()
    content = {
        "Pipeline": "pipeline" in nodes or bool(axes(watch)),
        "Parameters": bool(parameters(watch.parameters)),
        "Faults": bool(injected(watch)),
    }
    return [name for name in ICONS if content.get(name, True)]
