"""Lines over time: which channels each plot shows, how far it looks back, and what it is told in each tick."""

import re
from collections.abc import Callable
from typing import Any

from nicegui import ui

from pushrod.dash.element import Plot, box, text
from pushrod.dash.history import Group
from pushrod.dash.told import Told
from pushrod.dash.unit import Units
from pushrod.dash.watch import Watch

WINDOWS = {10: "10 s", 30: "30 s", 120: "2 min", 600: "10 min"}
MOST = 4  # plots at first
LINES = 6  # in one plot
PLOTS = 12  # on one page
COURSE = "autopilot/STEERING"  # what an autopilot was asked, and saw
_PIPELINE = [[f"pipeline/ACTUATOR_REQ.u_{axis}_req", f"pipeline/ACTUATOR_CMD.u_{axis}_cmd", f"pipeline/MIXER_FEEDBACK.u_{axis}_ach"] for axis in "sd"]
ASKS = re.compile(r"(^|[._/])(req|cmd)([._]|$)")  # names of what is asked for, not of what is


class Lines:
    """One plot."""

    def __init__(self, watch: Watch, units: Units, channels: list[str], window: int, remove: Callable[["Lines"], None]) -> None:
        self._watch = watch
        self._units = units
        self._channels = [name for name in channels if name in watch.channels()]
        self._seen: dict[Group, int] = {}
        with box("pr-card pr-plot") as self.card:
            with box("pr-plot-head"):
                known = list(watch.channels())
                self._select = ui.select(known, value=self._channels, multiple=True, on_change=self._chosen)
                self._select.props('dense options-dense borderless dropdown-icon=tune aria-label="Which channels"').classes("pr-select")
                self._select.tooltip("Which channels")
                self._pause = (
                    ui.button(icon="pause", on_click=self._toggle).props("flat dense round size=sm").tooltip("Pause, then drag and zoom back")
                )
                ui.button(icon="close", on_click=lambda: remove(self)).props('flat dense round size=sm aria-label="Remove plot"').tooltip("Remove")
            self.plot = Plot(self._series(), window).classes("pr-plot-box")
            self.plot.on("history", self._history)
        self.paused = False

    def set_window(self, window: int) -> None:
        self.plot.set_window(window)

    def pause(self, paused: bool) -> None:
        self.paused = paused
        self._pause.props(f"icon={'play_arrow' if paused else 'pause'}")
        self.plot.run_method("pause", paused)

    def tell(self, told: Told) -> None:
        groups = {name: group for name in self._channels if (group := self._watch.group_of(name)) is not None}
        new: dict[str, tuple[list[float], list[float | None]]] = {}
        for group in set(groups.values()):
            names = [name for name, its in groups.items() if its is group]
            n, t, columns = group.since(self._seen.get(group, group.n), names)
            self._seen[group] = n
            new |= {name: (_times(t), _values(y, self._factor(name))) for name, y in zip(names, columns, strict=True)}
        if any(times for times, _ in new.values()):
            told.plots[self.plot.id] = [new.get(name, ([], [])) for name in self._channels]

    def _series(self) -> list[dict[str, Any]]:
        known = self._watch.channels()
        shown = [(known[name], name.partition("/")[2]) for name in self._channels]
        return [
            {
                "name": c.name,
                "label": label,
                "unit": self._units.of_channel(c.name, c.unit).unit,
                "digits": self._units.of_channel(c.name, c.unit).digits,
                "request": _asks(c.name),
                "step": c.name.startswith("command/"),
            }
            for c, label in shown
        ]

    def _factor(self, name: str) -> float:
        return self._units.of_channel(name, self._watch.channels()[name].unit).factor

    def rescale(self) -> None:
        """Draw everything anew in the units of the page."""
        self._seen = {}
        self.plot.set_series(self._series())

    def _chosen(self, event: Any) -> None:
        self._channels = [name for name in event.value if name in self._watch.channels()][:LINES]
        self._seen = {}
        self.plot.set_series(self._series())

    def _toggle(self) -> None:
        self.pause(not self.paused)

    def _history(self, event: Any) -> None:
        start, end = float(event.args["from"]) / 1e3, float(event.args["to"]) / 1e3
        lines = []
        for name in self._channels:
            group = self._watch.group_of(name)
            t, y = group.between(start, end, name) if group is not None else ((), ())
            lines.append((_times(t), _values(y, self._factor(name))))
        self.plot.run_method("show", lines)


class Plots:
    """All of them, with one window."""

    def __init__(self, watch: Watch, units: Units) -> None:
        self._watch = watch
        self._units = units
        units.on_change(self._rescale)
        self._all: list[Lines] = []
        self._window = 30
        with box("pr-toolbar"):
            text("Plots", "pr-heading")
            ui.toggle(dict(WINDOWS), value=self._window, on_change=self._set_window).props("dense unelevated no-caps size=sm").classes("pr-toggle")
            ui.button("Pause all", on_click=lambda: self._pause_all(True)).props("flat dense no-caps size=sm")
            ui.button("Live", on_click=lambda: self._pause_all(False)).props("flat dense no-caps size=sm")
            ui.button("Add plot", icon="add", on_click=lambda: self._add([])).props("flat dense no-caps size=sm")
        self._place = box("pr-plots")
        for channels in first_choice(watch):
            self._add(channels)

    def tell(self, told: Told) -> None:
        for one in self._all:
            one.tell(told)

    def _add(self, channels: list[str]) -> None:
        if len(self._all) >= PLOTS:
            ui.notify(f"{PLOTS} plots are the most that a page shows. Remove one first.")
            return
        with self._place:
            self._all.append(Lines(self._watch, self._units, channels, self._window, self._remove))

    def _rescale(self) -> None:
        for one in self._all:
            one.rescale()

    def _remove(self, lines: Lines) -> None:
        if lines not in self._all:  # a second click before the plot disappeared
            return
        self._all.remove(lines)
        lines.card.delete()

    def _set_window(self, event: Any) -> None:
        self._window = int(event.value)
        for one in self._all:
            one.set_window(self._window)

    def _pause_all(self, paused: bool) -> None:
        for one in self._all:
            one.pause(paused)


def first_choice(watch: Watch) -> list[list[str]]:
    """What a machine says belongs together, request beside achieved; else its joints; else the first things there are."""
    known = watch.channels()
    pairs = [[f"world/{a}", f"world/{b}"] for a, b in watch.world.pairs] if watch.world is not None else []
    if f"{COURSE}.v_req" in known:  # a vessel: its world knows no request
        pairs = [*([f"{COURSE}.{name}_req", f"{COURSE}.{name}"] for name in ("v", "psi")), *(row for row in _PIPELINE if row[0] in known), *pairs]
    if pairs:
        return pairs[:MOST]
    joints = [[name] for name in known if name.startswith("joint/") and name.endswith(".position")]
    found = joints + [row for row in _PIPELINE if row[0] in known]
    found += [[name] for name in known if name.startswith("world/")]
    return (found or [[name] for name in known])[:MOST]


def _asks(name: str) -> bool:
    return name.startswith("command/") or ASKS.search(name) is not None


def _times(t: Any) -> list[float]:
    return [round(float(x) * 1e3) for x in t]


def _values(y: Any, factor: float) -> list[float | None]:
    return [None if x != x else float(f"{factor * x:.6g}") for x in y]
