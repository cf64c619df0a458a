"""What happened, newest first; and how the loops and topics keep their time."""

import time

from pushrod.dash.element import box, rows, text
from pushrod.dash.seat import Seat
from pushrod.dash.told import Told, span

SHOWN = 120


class EventsPanel:
    def __init__(self, seat: Seat) -> None:
        self._watch = seat.watch
        text("Events", "pr-heading")
        with box("pr-card"):
            rows("events", "pr-rows pr-events", ("time", "about", "what happened"))

    def tell(self, told: Told) -> None:
        told.rows["events"] = [
            [
                event.level,
                time.strftime("%H:%M:%S", time.localtime(event.time)) + f".{int(event.time % 1 * 1e3):03d}",
                event.what,
                event.text + (", repeatedly" if event.n > 1 else ""),
            ]
            for event in self._watch.events.newest(SHOWN)
        ]


class TimingPanel:
    def __init__(self, seat: Seat) -> None:
        self._watch = seat.watch
        text("Loops: how late their ticks begin", "pr-heading")
        with box("pr-card"):
            rows("loops", "pr-rows pr-loops", ("loop", "ticks", "missed", "late p50", "late p99", "worst"))
        text("Topics", "pr-heading")
        with box("pr-card"):
            rows("topics", "pr-rows pr-topics", ("topic", "rate", "age", "messages", "dropped"))

    def tell(self, told: Told) -> None:
        now = self._watch.overview
        if now is None:
            return
        told.rows["loops"] = [
            ["warning" if loop.missed else "", loop.name, str(loop.ticks), str(loop.missed), span(loop.p50), span(loop.p99), span(loop.worst)]
            for loop in now.loops
        ]
        told.rows["topics"] = [
            ["warning" if t.dropped else "", "/".join(t.topic), f"{t.rate:.1f}/s", span(t.age), str(t.messages), str(t.dropped)] for t in now.topics
        ]
