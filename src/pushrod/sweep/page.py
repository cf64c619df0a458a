"""What a study found as one HTML page that needs nothing else, made of the pieces of `report`. It holds counts, not runs, and so stays small."""

import math
import shlex
from pathlib import Path
from typing import Any

from pushrod.report.cell import Cell, Grid, amount, plain, text
from pushrod.report.drawing import Drawing
from pushrod.report.html_page import filled
from pushrod.report.number import number, quantity, unit_text, whole
from pushrod.sweep.attained import Sets
from pushrod.sweep.findings import PASSING, Findings, Worst
from pushrod.sweep.histogram import QUANTILES
from pushrod.sweep.influence import Influence
from pushrod.sweep.number import Number
from pushrod.sweep.over_two import Map
from pushrod.sweep.page_panel import histogram_panel, map_panel, sets_panel, share_panel
from pushrod.sweep.pass_rate import Share
from pushrod.sweep.worst import Bound

FOLDER = Path(__file__).parent / "template"
SHARES = 6  # parameters that are drawn: the most important
UNUSUAL = 3  # of what was drawn for a run, so many that are furthest out
STEPS = (0.01, 0.05, 0.15, 0.35, 0.6)  # of S, from which on a cell is tinted darker


def page(found: Findings) -> str:
    results = found.results
    sheet = Drawing([results.study], (0.0, 1.0))
    mixed = found.share is not None and any(0 < int(one.passed.sum()) < int(one.runs.sum()) for one in found.metrics)
    content = {
        "title": results.study,
        "verdict": verdict(found),
        "notes": notes(found),
        "facts": results.facts,
        "criteria": _criteria(found) if found.missed else None,
        "scenarios": _scenarios(found) if len(found.by_scenario) > 1 else None,
        "sets": _sets(results.sets, sheet) if results.sets is not None else None,
        "metrics": _metrics(found),
        "judged": found.share is not None,
        "histograms": [_panel(sheet, histogram_panel(one, found), one.column.name, one.column.about) for one in found.metrics],
        "influence": _influence(found) if found.parameters else None,
        "totals": _totals(found) if found.parameters and results.rows > 1 else None,
        "influence_hint": _influence_hint(found),
        "shares": [_panel(sheet, share_panel(one, results.rows), one.column.name) for one in _deciding(found)] if mixed else [],
        "maps": [_panel(sheet, map_panel(one), one.metric.name if one.metric else "share that passes", _over(one)) for one in found.maps],
        "worst": _worst(found) if found.worst else None,
        "worst_hint": _worst_hint(found),
        "varied": _varied(found),
    }
    return filled("sweep.html", content, sheet, FOLDER, "sweep.js")


def _panel(sheet: Drawing, panel: dict[str, Any], title: str, about: str = "") -> dict[str, Any]:
    return {"panel": sheet.add(panel), "title": title, "about": about}


def _sets(one: Sets, sheet: Drawing) -> dict[str, Any]:
    (across, up), (across_is, up_is) = (one.wanted.across, one.wanted.up), one.wanted.about
    about = (
        f"All that was attained of {up} ({up_is}) over {across} ({across_is}) while a request was led once round outside of it: one run for each "
        "pair of values, to one scale. Dotted: the largest of the sets; the figure is the share of its area."
    )
    return _panel(sheet, sets_panel(one), f"{up} over {across}") | {"about": about}


def _deciding(found: Findings) -> list[Number]:
    """The parameters that are seen to decide over passing, the most important first; the first two in any case."""
    seen = [one for i, one in enumerate(found.parameters) if i < 2 or found.influence[PASSING][one.column.name].is_seen]
    return seen[:SHARES]


def _over(one: Map) -> str:
    return f"over {one.x.column.name} and {one.y.column.name}"


def percent(one: Share) -> str:
    """With as many digits as its interval bears."""
    half = max(50.0 * (one.hi - one.lo), 1e-6)
    return _percent(one.value, max(0, min(5, math.ceil(-math.log10(half)))))


def percent_within(one: Share) -> str:
    half = max(50.0 * (one.hi - one.lo), 1e-6)
    digits = max(0, min(5, math.ceil(-math.log10(half)) + 1))
    return f"{_percent(one.lo, digits).removesuffix(' %')} … {_percent(one.hi, digits)}"


def _percent(value: float, digits: int) -> str:
    """Nothing that is short of all is rounded up to all, and nothing that is some down to none."""
    if not math.isfinite(value):
        return "–"
    shown = f"{100.0 * value:.{digits}f}"
    edge = 10.0**-digits
    if value < 1.0 and float(shown) >= 100.0:
        shown = f"{100.0 - edge:.{digits}f}"
    if value > 0.0 and float(shown) <= 0.0:
        shown = f"{edge:.{digits}f}"
    return f"{shown} %"


def verdict(found: Findings) -> dict[str, str]:
    one = found.share
    if one is None:
        return {"state": "none", "head": f"{whole(found.found)} runs", "why": "The study does not say what passes."}
    scenarios = len(found.results.scenarios)
    where = "" if scenarios == 1 else f" in all {scenarios} scenarios"
    sure = f"; 95 % interval {percent_within(one)}" if found.results.is_sample else ""
    state = "held" if one.passed == one.of else "failed" if one.passed == 0 else "partly"
    what = "samples" if found.results.is_sample else "points of the grid"
    return {"state": state, "head": f"{percent(one)} pass", "why": f"{whole(one.passed)} of {whole(one.of)} {what}{where}{sure}"}


def notes(found: Findings) -> list[str]:
    """What must be known to take the figures for what they are."""
    told = list(found.results.notes)
    if found.found < found.results.runs:
        told.append(
            f"{whole(found.results.runs - found.found)} of {whole(found.results.runs)} runs are still to be made: all figures are of those there are."
        )
    strange = [f"{one.column.name} ({whole(one.spread.unknown)})" for one in found.metrics if one.spread.unknown]
    if strange:
        told.append(f"Runs in which a metric is no number: {', '.join(strange)}. They fail, and are left out of the figures of that metric.")
    return told


def _criteria(found: Findings) -> Grid:
    units = {one.column.name: one.column.unit for one in found.metrics}
    rows = [
        (
            text(one.bound.metric),
            text(bounds_text(one.bound, units[one.bound.metric])),
            Cell(whole(one.runs), float(one.runs), "bad" if one.runs else "good", "right"),
            Cell(_percent(one.runs / found.found, 2) if one.runs else "–", one.runs / found.found, "" if one.runs else "dim", "right"),
            Cell(whole(one.alone), float(one.alone), "" if one.alone else "dim", "right"),
        )
        for one in found.missed
    ]
    return Grid(("criterion", "passes", "runs that miss it", "share", "miss it alone"), rows)


def bounds_text(bound: Bound, unit: str) -> str:
    if bound.low == bound.high:
        return f"= {quantity(bound.low, unit)}"
    if math.isfinite(bound.low) and math.isfinite(bound.high):
        return f"{number(bound.low)} … {quantity(bound.high, unit)}"
    return f"≤ {quantity(bound.high, unit)}" if math.isfinite(bound.high) else f"≥ {quantity(bound.low, unit)}"


def _scenarios(found: Findings) -> Grid:
    rows = [
        (
            text(name),
            Cell(whole(one.of), float(one.of), "", "right"),
            Cell(percent(one), one.value, "", "right"),
            Cell(percent_within(one) if found.results.is_sample else "–", None, "", "right"),
        )
        for name, one in found.by_scenario
    ]
    return Grid(("scenario", "runs", "pass", "95 % interval"), rows)


def _metrics(found: Findings) -> Grid:
    rows = []
    for one in found.metrics:
        s, unit = one.spread, one.column.unit
        never = Cell(whole(s.never) if s.never else "–", float(s.never), "warn" if s.never else "dim", "right")
        rows.append(
            (
                text(one.column.name),
                text(one.column.about, "dim"),
                text(unit_text(unit)),
                *(plain(v) for v in (s.mean, s.sd, s.least, *s.quantiles[1:4], s.most)),
                never,
            )
        )
    middle = tuple(f"{100 * q:g} %" for q in QUANTILES[1:4])
    return Grid(("metric", "of", "unit", "mean", "sd", "least", *middle, "most", "never"), rows)


def _influence(found: Findings) -> Grid:
    heads = tuple("passing" if on == PASSING else on for on in found.influence)
    rows = [(text(one.column.name), *(_influence_cell(found.influence[on][one.column.name]) for on in found.influence)) for one in found.parameters]
    total = (text("all of them, each alone", "dim"), *(_total(found.influence[on]) for on in found.influence))
    return Grid(("parameter", *heads), [*rows, total])


def _influence_cell(one: Influence) -> Cell:
    if not math.isfinite(one.S) and not math.isfinite(one.rho):
        return Cell("–", None, "dim", "right")
    if not one.is_seen:
        return Cell("·", one.S, "dim", "right")
    way = "" if not abs(one.rho) > one.rho_error else " ↑" if one.rho > 0.0 else " ↓"
    tint = sum(step <= one.S for step in STEPS)
    share = "" if not one.S >= 0.0005 else _percent(one.S, 0 if one.S >= 0.095 else 1)
    return Cell(f"{share}{way}".strip(), one.S, f"i{tint}" if tint else "", "right")


def _totals(found: Findings) -> Grid:
    heads = tuple("passing" if on == PASSING else on for on in found.influence)
    rows = [(text(one.column.name), *(_total_cell(found.influence[on][one.column.name]) for on in found.influence)) for one in found.parameters]
    return Grid(("parameter", *heads), rows)


def _total_cell(one: Influence) -> Cell:
    if not math.isfinite(one.ST):
        return Cell("–", None, "dim", "right")
    tint = sum(step <= one.ST for step in STEPS)
    return Cell(f"{100.0 * one.ST:.1f} ± {100.0 * one.ST_error:.1f} %", one.ST, f"i{tint}" if tint else "dim", "right")


def _total(of: dict[str, Influence]) -> Cell:
    known = [one.S for one in of.values() if math.isfinite(one.S)]
    return Cell(_percent(min(max(sum(known), 0.0), 1.0), 0), sum(known), "dim", "right") if known else Cell("–", None, "dim", "right")


def _influence_hint(found: Findings) -> str:
    taken = "" if found.ranked_of == found.found else f" Of {whole(found.ranked_of)} runs, drawn at random."
    return (
        "How much of the variance each parameter explains by itself (first-order Sobol index, estimated from these runs), and whether it rises ↑ or "
        "falls ↓ with it (rank correlation). An arrow alone: it goes that way, by less than can be told. A dot: no influence that could be told from "
        "chance. What all of them leave is what parameters do together, and noise." + taken
    )


def _worst(found: Findings) -> Grid:
    several = ("scenario",) if len(found.results.scenarios) > 1 else ()
    units = {one.name: one.unit for one in found.results.metrics}
    rows = []
    for one in found.worst:
        name = one.bound.metric
        value = one.values[name]
        shown = "never" if math.isinf(value) else quantity(value, units[name], 4)
        rows.append(
            (
                Cell(whole(one.run), float(one.run)),
                *((text(one.scenario),) if several else ()),
                text(f"{name} {shown}, passes {bounds_text(one.bound, units[name])}", "bad" if one.margin < 0.0 else ""),
                text(_unusual(found, one)),
                text(f"pushrod sweep one {shlex.quote(found.results.folder)} {one.run}", "code"),
            )
        )
    return Grid(("run", *several, "nearest criterion", "furthest out of what was drawn", "run it again"), rows)


def _unusual(found: Findings, one: Worst) -> str:
    """What was drawn furthest from its middle, as far as it matters: weighed by how much the parameter explains."""
    far = []
    for p in found.parameters:
        s, x = p.spread, one.drawn[p.column.name]
        if s.sd > 0.0 and math.isfinite(x):
            of = found.influence.get(one.bound.metric, {}).get(p.column.name)
            far.append(((of.weight if of is not None else 0.0) * abs(x - s.mean) / s.sd, p.column, x))
    far.sort(key=lambda entry: -entry[0])
    return ", ".join(f"{column.name} {column.called(x)}" for _, column, x in far[:UNUSUAL])


def _worst_hint(found: Findings) -> str:
    fails = any(one.margin < 0.0 for one in found.worst)
    first = "Those that miss a criterion by the most" if fails else "No run fails; these came nearest to it"
    scale = "in what nine of ten runs span of that metric"
    return f"{first}, {scale}. The command runs one again, alone and bit for bit, and writes its log for report and replay."


def _varied(found: Findings) -> Grid:
    rows = []
    for one in (*found.parameters, *found.constants):
        s, unit = one.spread, one.column.unit
        figures = [Cell("–", v, "dim", "right") if one.column.names else amount(v, unit, 4) for v in (s.least, s.mean, s.most, s.sd)]
        rows.append((text(one.column.name), text(one.column.about), *figures))
    return Grid(("parameter", "drawn as", "least", "mean", "most", "sd"), rows)
