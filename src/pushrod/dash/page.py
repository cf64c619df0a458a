"""The page of one browser: the safety strip on top, then a tab for each thing there is to see. Ten times a second it is told what is new."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from nicegui import Client, ui

from pushrod.core.errors import PushrodError
from pushrod.dash.card import Card
from pushrod.dash.element import Feed, box, live, needs, shown
from pushrod.dash.plots import Plots
from pushrod.dash.seat import Desk, Seat
from pushrod.dash.strip import Strip
from pushrod.dash.told import Told

TICK = 0.1  # [s]
BEHIND = 10  # ticks that a browser may not have answered before it gets fewer
HERE = Path(__file__).parent


class Panel(Protocol):
    def tell(self, told: Told) -> None: ...


class Page:
    def __init__(self, desk: Desk, client: Client) -> None:
        self.desk = desk
        self.seat: Seat = desk.sit()
        self._n = 0
        self._answered = 0
        self._before = Told()
        self._generation = desk.watch.generation
        self._note = ""
        client.on_disconnect(self._gone)
        client.on_delete(lambda: desk.leave(self.seat))
        ui.add_css((HERE / "page.css").read_text())
        self._feed = Feed()
        self._feed.on("beat", self._beat)
        self._panels: list[Panel] = []
        self._build()
        ui.timer(TICK, self._tick)

    def _build(self) -> None:
        watch = self.desk.watch
        box("pr-banner").props("id=pr-banner hidden role=alert")
        with box("pr-top"):
            self._panels.append(Strip(self.seat))
            self._control_bar()
        with box("pr-main"):
            with box("pr-side"):
                for told in watch.remote.description.actuators if watch.remote is not None else ():
                    self._panels.append(Card(self.seat, told))
            with box("pr-wide"):
                self._panels.append(Plots(watch))

    def _control_bar(self) -> None:
        with box("pr-bar-line"):
            live("who", "pr-who")
            with shown("may_take"), needs("alive"):
                ui.button("Take control", on_click=self._take, color=None).props("no-caps unelevated dense size=sm").classes("pr-take")
            with shown("control"):
                ui.button("Give back", on_click=self._give_back).props("no-caps outline dense size=sm").classes("pr-give")
            live("note", "pr-refusal")
            box("pr-space")
            live("link", "pr-soft")
            dark = ui.dark_mode(None)
            ui.button(icon="contrast", on_click=lambda: dark.set_value(not dark.value)).props("flat dense round size=sm").tooltip("Light or dark")

    async def _take(self) -> None:
        await self._try(self.seat.take)

    async def _give_back(self) -> None:
        await self._try(self.seat.give_back)

    async def _try(self, deed: Callable[[], Any]) -> None:
        try:
            self._note = await deed() or ""
        except (PushrodError, TimeoutError) as error:
            self._note = str(error)

    def _beat(self, event: Any) -> None:
        self._answered = int(event.args)
        self.seat.beat = time.monotonic()

    async def _gone(self) -> None:
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
        told.flags["may_take"] = seat.remote is None
        told.texts["note"] = self._note
        others = f", {self.desk.seats} browsers" if self.desk.seats > 1 else ""
        who = f"You have control as {seat.name}" if seat.in_control else f"{holder.name} has control; you watch" if holder else "You watch"
        told.texts["who"] = f"{who}{others}"
        now = watch.overview
        told.texts["link"] = f"operators: {', '.join(now.operators)}" if now is not None else ""
        for panel in self._panels:
            panel.tell(told)
        gone = "" if watch.alive else watch.why_gone or "its host does not answer"
        news = told.news(self._before)
        news |= {"n": self._n, "gone": gone, "since": round(watch.silence, 1), "state": watch.state, "now": round(time.time() * 1e3)}
        self._before = told
        self._feed.run_method("feed", news)
