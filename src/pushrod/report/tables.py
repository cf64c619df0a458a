"""The tables of the page for one run."""

import re

from pushrod.report.cell import Cell, Grid, amount, count, percent, plain, text
from pushrod.report.figure import overrides, statistics
from pushrod.report.findings import Findings
from pushrod.report.ledger import MOST, RESULTS, Entry
from pushrod.report.number import number, quantity, short_time, unit_text, whole
from pushrod.report.pipeline import Axis
from pushrod.report.tracking import Following
from pushrod.report.verdict import Verdict

KINDS = {
    "rollout": "simulated, straight through the world",
    "stepped": "simulated, through the runtime on a stepped clock",
    "live": "live, on the wall clock",
}
TONES = {"accepted": "good", "clamped": "warn", "refused": "bad"}


def facts(found: Findings) -> list[tuple[str, str]]:
    """What ran, when, and on what."""
    log, about = found.log, found.log.about
    said = log.said
    ticks = f", {whole(len(log.t))} ticks of {quantity(log.dt, 's', 6)}" if len(log.t) else ""
    versions = ", ".join(f"{name} {about[name]}" for name in ("pushrod", "python", "numba", "numpy") if name in about)
    topics = log.table.topics.values()
    rows = {
        "Machine": _with_about(about.get("machine"), said.text("machine", "about")),
        "Robot": about.get("robot", ""),
        "Scenario": _with_about(about.get("scenario"), said.text("scenario", "about")),
        "World": about.get("world", ""),
        "Run": KINDS.get(about.get("kind", ""), about.get("kind", "")),
        "Started": about.get("started", ""),
        "Length": f"{quantity(log.duration, 's', 6)}{ticks}",
        "Seed": about.get("seed", ""),
        "Set by hand": "; ".join(overrides(about)),
        "Versions": versions,
        "Log": f"{log.table.file.name} ({log.table.format}), {whole(len(log.listed))} channels"
        + (f", {whole(sum(topic.messages for topic in topics))} messages" if topics else ""),
        "Dropped": "" if found.dropped is None else f"{whole(found.dropped)} messages" if found.dropped else "nothing",
    }
    return [(name, value) for name, value in rows.items() if value]


def _with_about(name: str | None, about: str) -> str:
    return f"{name}: {about}" if name and about else name or ""


def expectations(verdict: Verdict) -> Grid:
    rows = []
    for one in verdict.expectations:
        was = amount(one.was, one.unit, 4) if one.was is not None else text("not in this run", "dim")
        rows.append((text(one.expected), text(_pretty(one.to_be, one.unit)), was, _held(one.held)))
    return Grid(("Expected", "to be", "was", ""), rows)


def _pretty(bounds: str, unit: str) -> str:
    shown = bounds.removesuffix(unit) + unit_text(unit) if unit not in ("", "-") and bounds.endswith(f" {unit}") else bounds
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", shown)


def _held(held: bool) -> Cell:
    return Cell("held", 1.0, "good") if held else Cell("FAILED", 0.0, "bad")


RESPONSE = ("error rms", "error max", "delay", "rise time", "overshoot", "settling", "at a limit")


def responses(followings: tuple[Following, ...]) -> Grid:
    return Grid(("Request → achieved", *RESPONSE), [(text(pair_name(one)), *response_cells(one)) for one in followings])


def pair_name(one: Following) -> str:
    return f"{one.pair.request} → {one.pair.achieved}"


def response_cells(one: Following) -> tuple[Cell, ...]:
    told = one.response
    return (
        amount(told.error_rms, one.unit),
        amount(told.error_max, one.unit),
        amount(told.delay, "s"),
        amount(told.rise_time, "s"),
        percent(told.overshoot),
        amount(told.settling_time, "s"),
        amount(told.saturation_time, "s"),
    )


def losses(axis: Axis, which: str = "") -> Grid:
    """What each stage took, in all, at most, and of what was asked for; of which run, if there are two.

    The unit of all is in its head: a number of seconds without another unit would be read as how long it went on.
    """
    unit = unit_text(axis.unit)
    rows = []
    for loss in axis.losses:
        rows.append((text(loss.cause.replace("_", " ")), plain(loss.total, 3), percent(axis.share(loss.total)), amount(loss.most, axis.unit)))
    return Grid((f"{which}lost to" if which else "Lost to", f"in all [{unit or 1}·s]", "of the request", "at most"), rows)


def senders(found: Findings) -> Grid:
    rows = []
    for one in found.ledger.senders:
        why = ", ".join(f"{reason or 'no reason given'} ({n})" for reason, n in one.reasons.most_common())
        rows.append((text(one.actuator), text(one.source), *(count(one.results[result]) for result in RESULTS), text(why, "bad" if why else "")))
    return Grid(("To", "from", *RESULTS, "why refused"), rows)


def commands(found: Findings) -> Grid:
    entries = found.ledger.entries[:MOST]
    return Grid(
        ("at", "to", "from", "command", "answer", "end"),
        [_command(entry) for entry in entries],
        fold=25,
        marks=tuple(entry.result for entry in entries),
    )


def _command(entry: Entry) -> tuple[Cell, ...]:
    many = entry.count > 1
    when = f"{entry.first:.3f} s" if not many else f"{entry.first:.3f} … {entry.last:.3f} s"
    asked, done = (spread.text(entry.units, entry.kind.lower()) for spread in (entry.asked, entry.done))
    times = f" ×{whole(entry.count)}" if many else ""
    answer = ": ".join(filter(None, (f"{entry.result}{times}", entry.reason)))
    answer += f" to {done}" if done and entry.result == "clamped" else ""
    answer += f" ({entry.detail})" if entry.detail else ""
    return (
        Cell(when, entry.first, align="right"),
        text(entry.actuator),
        text(entry.source),
        text(f"{entry.kind} {asked}".strip()),
        text(answer, TONES.get(entry.result, "")),
        text(entry.end),
    )


def events(found: Findings) -> Grid:
    tones = {"warning": "warn", "error": "bad", "fatal": "bad"}
    rows = []
    for e in found.events[:MOST]:
        rows.append((Cell(f"{e.t:.3f} s", e.t, align="right"), text(e.level, tones.get(e.level, "dim")), text(e.source), text(e.text)))
    return Grid(("at", "level", "from", "what"), rows, fold=25)


def timing(found: Findings) -> Grid:
    rows = []
    for loop in found.loops:
        late = [Cell(short_time(at := loop.figures.get(key)), at, align="right") for key in ("p50", "p99", "worst", "call_p99")]
        rows.append((text(loop.name), count(loop.ticks), count(loop.missed), *late))
    return Grid(("Loop", "ticks", "missed", "late p50", "late p99", "worst", "call p99"), rows)


def parameters(found: Findings) -> Grid:
    rows = []
    for p in found.parameters:
        value = Cell(quantity(p.value, p.unit, 6), p.value, align="right") if isinstance(p.value, float) else Cell(p.value, align="right")
        low, high = (number(bound, 6) if bound is not None else "" for bound in (p.low, p.high))
        legal = f"{low or '…'} to {high or '…'}" if low or high else ""
        rows.append((text(p.path), value, text(legal, "dim"), text(p.origin, "warn" if p.is_override else "dim"), text(p.about)))
    return Grid(("Parameter", "value", "range", "from", "about"), rows, marks=tuple("set" if p.is_override else "" for p in found.parameters))


def changes(found: Findings) -> Grid:
    rows = [(Cell(f"{c.t:.3f} s", c.t, align="right"), text(c.path), text(c.old), text(c.new), text(c.source)) for c in found.changes[:MOST]]
    return Grid(("at", "parameter", "was", "became", "by"), rows, fold=25)


def channels(found: Findings) -> Grid:
    rows = []
    for name, channel in found.log.listed.items():
        told = statistics(channel)
        cells = (plain(told[key]) for key in ("min", "max", "mean", "rms", "last"))
        rows.append((text(name), text(unit_text(channel.unit)), *cells, text(channel.about)))
    return Grid(("Channel", "unit", "min", "max", "mean", "rms", "last", "about"), rows)


def comparisons(verdict: Verdict) -> Grid:
    rows = []
    for one in verdict.comparisons:
        for i, run in enumerate(one.runs):
            rows.append((text("" if i else one.compared), text(run.label), amount(run.was, one.unit, 4), text("")))
        asked = f"second ≥ {one.at_least:g} times first" if one.at_least else "second over first"
        ratio = Cell("–" if one.ratio is None else f"{number(one.ratio)} times", one.ratio, align="right")
        rows.append((text(""), text(asked), ratio, _held(one.held) if one.at_least else text("")))
    return Grid(("Compared", "with", "was", ""), rows)
