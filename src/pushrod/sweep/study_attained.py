"""The sets that the report of a study draws: `attained: {across: X, up: N, columns: faults.right.effectiveness, rows: faults.left.effectiveness}`."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from pushrod.config.structure import WRONG
from pushrod.config.yaml_file import Document
from pushrod.core.names import unknown
from pushrod.sim.scenario import Scenario
from pushrod.sim.tracked import signals_of


class Attained(NamedTuple):
    """Two signals, looked at from a time on, and two parameters with few values. `about`: what the signals are."""

    across: str
    up: str
    since: float
    columns: str
    rows: str
    units: tuple[str, str]
    about: tuple[str, str]


def read_attained(entry: Any, scenarios: Sequence[Scenario], varied: Collection[str], document: Document) -> Attained | None:
    """None where nothing is asked for, or with the problems noted."""
    if entry is None or entry is WRONG:
        return None
    before = len(document.problems)
    signals = signals_of(scenarios[0].world)
    for key, known, what in (
        ("across", signals, "signal"),
        ("up", signals, "signal"),
        ("columns", varied, "parameter that varies in this study"),
        ("rows", varied, "parameter that varies in this study"),
    ):
        name = getattr(entry, key)
        if name not in known:
            document.add(("attained", key), unknown(dict.fromkeys(known), name, what))
    end = scenarios[0].steps * scenarios[0].dt
    if entry.since >= end:
        document.add(("attained", "from"), f"from {entry.since:g} s is not before the end of the run at {end:g} s: there is nothing to look at")
    if len(document.problems) > before:
        return None
    metas: list[Any] = [signals[name].meta for name in (entry.across, entry.up)]
    units, about = (str(metas[0].unit), str(metas[1].unit)), (metas[0].about, metas[1].about)
    return Attained(entry.across, entry.up, entry.since, entry.columns, entry.rows, units, about)
