"""All that is found in one log, worked out once, for the page and for the figures."""

from typing import Any, NamedTuple

import numpy as np

from pushrod.log.events import Event, events
from pushrod.log.table import Table
from pushrod.report.ledger import Ledger, ledger
from pushrod.report.logged import Logged, look
from pushrod.report.mishap import Mishap, mishaps
from pushrod.report.parameters import Change, Parameter, changes, parameters
from pushrod.report.pipeline import Axis, axes
from pushrod.report.timing import Loop, loops
from pushrod.report.tracking import Following, Span, followings
from pushrod.report.trouble import faults, not_armed
from pushrod.report.way import Way, way


class Findings(NamedTuple):
    log: Logged
    followings: tuple[Following, ...]
    faults: dict[str, tuple[Span, ...]]
    not_armed: tuple[Span, ...]
    axes: tuple[Axis, ...]
    way: Way | None
    ledger: Ledger
    events: tuple[Event, ...]
    loops: tuple[Loop, ...]
    parameters: tuple[Parameter, ...]
    changes: tuple[Change, ...]
    dropped: int | None
    mishaps: tuple[Mishap, ...]

    @property
    def live(self) -> bool:
        return self.log.about.get("kind") == "live"

    @property
    def bands(self) -> list[dict[str, Any]]:
        """What is shaded behind every plot."""
        found: list[dict[str, Any]] = [{"kind": "unarmed", "label": "not armed", "spans": self.not_armed}] if self.not_armed else []
        return found + [{"kind": "fault", "label": f"fault: {name}{_when(when)}", "spans": when} for name, when in self.faults.items()]


@np.errstate(all="ignore")  # a log may hold any numbers; what comes of them is checked where it is shown
def find(table: Table) -> Findings:
    log = look(table)
    unarmed, told = not_armed(log), events(log.table)
    live = log.about.get("kind") == "live"
    return Findings(
        log,
        followings(log, unarmed if live else (), live),
        faults(log),
        unarmed,
        axes(log),
        way(log),
        ledger(log),
        told,
        loops(log),
        parameters(log),
        changes(log),
        _dropped(log),
        mishaps(log, told),
    )


def _when(spans: tuple[Span, ...]) -> str:
    return f", {spans[0][0]:.4g} … {spans[0][1]:.4g} s" if len(spans) == 1 else ""


def _dropped(log: Logged) -> int | None:
    """Messages the recorder could not keep; None where it does not say."""
    told = [message.get("dropped") for _, message in log.messages("/recording")]
    counts = [int(n) for n in told if isinstance(n, (int, float)) and abs(n) < 1e15]
    return max(counts) if counts else None
