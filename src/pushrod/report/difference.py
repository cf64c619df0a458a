"""Two runs against each other: the figures of both, what differs in parameters and in what they say of themselves, how far signals are apart."""

import math
import re
from typing import Any, NamedTuple

import numpy as np

from pushrod.core.names import count as count_of
from pushrod.report import tables
from pushrod.report.cell import Cell, Grid, amount, text
from pushrod.report.figure import OF_RESPONSE, finite, response
from pushrod.report.findings import Findings
from pushrod.report.logged import Logged
from pushrod.report.number import quantity, signed_share

SAID = ("machine", "robot", "scenario", "world", "kind", "started", "seed", "dt", "ticks", "pushrod", "numba", "numpy", "python")


MADE_OF = ("machine.yaml", "scenario.yaml", "robot.yaml", "robot.urdf")
SHOWN, LONG = 12, 100  # lines of a file, and letters of one, that are shown


class Apart(NamedTuple):
    """How far a signal of B is from that of A, while there are both: B - A. `share` is the most as a share of the range of A."""

    name: str
    unit: str
    rms: float | None = None
    most: float | None = None
    when: float | None = None
    end: float | None = None
    share: float = 0.0


@np.errstate(all="ignore")
def apart(a: Logged, b: Logged) -> list[Apart]:
    """Of every signal that both have. Where they were sampled at other times, B is read between its samples at the times of A."""
    found = []
    for name in a.channels:
        if name not in b.channels or (name in a.renamed and name in b.renamed):
            continue
        one, other = a.channels[name], b.channels[name]
        inside = (one.t >= other.t[0]) & (one.t <= other.t[-1])
        t, y = one.t[inside], one.values[inside]
        same = len(t) == len(other.t) and np.array_equal(t, other.t)
        far = (other.values if same else np.interp(t, other.t, other.values)) - y
        sound = np.isfinite(far)
        t, far = t[sound], far[sound]
        if not len(far):
            found.append(Apart(name, one.unit))
            continue
        k = int(np.argmax(np.abs(far)))
        most, span = float(abs(far[k])), float(np.ptp(y[sound]))
        rms = float(np.sqrt(np.mean(far * far)))
        found.append(Apart(name, one.unit, rms, most, float(t[k]), float(far[-1]), most / span if span > 0.0 else math.inf if most else 0.0))
    return found


def differences(a: Findings, b: Findings) -> dict[str, Any]:
    """As plain data."""
    return {
        "warnings": warnings(a, b),
        "metadata": {key: list(pair) for key, pair in said(a, b).items()},
        "files": {name: lines._asdict() for name, lines in files(a, b).items()},
        "verdict": [None if found.log.verdict is None else found.log.verdict.held for found in (a, b)],
        "parameters": {path: list(pair) for path, pair in parameters(a, b).items()},
        "responses": [
            {"request": one.pair.request, "achieved": one.pair.achieved, "unit": one.unit, **{key: _change(one, other, key) for key in OF_RESPONSE}}
            for one, other in _pairs(a, b)
        ],
        "signals": {one.name: {key: getattr(one, key) for key in ("unit", "rms", "most", "when", "end")} for one in apart(a.log, b.log)},
        "only_a": [name for name in a.log.listed if name not in b.log.channels],
        "only_b": [name for name in b.log.listed if name not in a.log.channels],
    }


def warnings(a: Findings, b: Findings) -> list[str]:
    """What makes a comparison doubtful: two different machines, or worlds, or robots."""
    for key in ("machine", "world", "robot"):
        one, other = a.log.about.get(key, ""), b.log.about.get(key, "")
        if one != other and one and other:
            shared = sum(name in b.log.channels for name in a.log.listed)
            return [f"Two different {key}s are compared: A is {one}, B is {other}. They share {count_of(shared, 'channel')} by name."]
    return []


def said(a: Findings, b: Findings) -> dict[str, tuple[str, str]]:
    both = {key: (a.log.about.get(key, ""), b.log.about.get(key, "")) for key in SAID}
    return {key: pair for key, pair in both.items() if pair[0] != pair[1]}


class Lines(NamedTuple):
    """Lines of a file that only one of two runs has, but for comments."""

    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def files(a: Findings, b: Findings) -> dict[str, Lines]:
    """By name, those the two were made of that are not the same; a run by hand has none, and differs in nothing."""
    one, other = ({file.name: file.text for file in found.log.table.attachments.values() if file.name in MADE_OF} for found in (a, b))
    found = {}
    for name in MADE_OF:
        if name in one and name in other and one[name] != other[name]:
            found[name] = Lines(_without(one[name], other[name]), _without(other[name], one[name]))
    return found


def _without(one: str, other: str) -> tuple[str, ...]:
    known = set(_uncommented(other))
    return tuple(line for line in _uncommented(one) if line and line not in known)


def _uncommented(content: str) -> list[str]:
    """The lines of a YAML file, each without its comment; one with a quoted text keeps it, as that may hold the sign of one."""
    return [line.strip() if "'" in line or '"' in line else re.sub(r"(^|\s)#.*", "", line).strip() for line in content.splitlines()]


def parameters(a: Findings, b: Findings) -> dict[str, tuple[Any, Any]]:
    first, second = ({p.path: p for p in found.parameters} for found in (a, b))
    values = {path: (first[path].value if path in first else None, second[path].value if path in second else None) for path in first | second}
    return {path: (x, y) for path, (x, y) in values.items() if x != y and not (x != x and y != y)}  # what could not be read is nan


def _pairs(a: Findings, b: Findings) -> list[tuple[Any, Any]]:
    return [(one, other) for one in a.followings for other in b.followings if one.names == other.names]


def _change(one: Any, other: Any, key: str) -> list[float | None]:
    x, y = response(one)[key], response(other)[key]
    return [x, y, finite(y - x) if x is not None and y is not None else None]


def grids(a: Findings, b: Findings) -> list[dict[str, Any]]:
    """The tables, those with anything in them."""
    farthest = sorted(apart(a.log, b.log), key=lambda one: -one.share)
    units = {p.path: p.unit for found in (a, b) for p in found.parameters}
    verdicts = [_verdict(found) for found in (a, b)]
    rows = {
        "What ran": Grid(("", "A", "B"), [(text("verdict"), *verdicts), *((text(key), text(x), text(y)) for key, (x, y) in said(a, b).items())]),
        "Files that differ": Grid(
            ("File", "only in A (removed)", "only in B (added)"),
            [(text(name), *_sides(lines)) for name, lines in files(a, b).items()],
        ),
        "Parameters that differ": Grid(
            ("Parameter", "A", "B"), [(text(path), *(_value(x, units[path]) for x in pair)) for path, pair in parameters(a, b).items()]
        ),
        "How well it followed": Grid(("Request → achieved", "figure", "A", "B", "B − A"), _followed(a, b)),
        "Signals, farthest apart first": Grid(
            ("Channel", "rms of B − A", "most", "at", "at the end"),
            [_apart(one) for one in farthest],
            fold=20,
        ),
    }
    return [{"title": title, "grid": grid} for title, grid in rows.items() if grid.rows]


def _verdict(found: Findings) -> Cell:
    verdict = found.log.verdict
    if verdict is None or not verdict.judged:
        return text("not judged", "dim")
    if verdict.held and found.log.table.torn:
        return Cell("held when it ran; data are missing", 1.0, "warn")
    return Cell("held", 1.0, "good") if verdict.held else Cell(f"{verdict.failed} of {verdict.judged} FAILED", 0.0, "bad")


def _sides(lines: Lines) -> tuple[Cell, Cell]:
    if not any(lines):
        return text("only comments, blank lines or the order differ", "dim"), text("–", "dim")
    return _lines(lines.only_a), _lines(lines.only_b)


def _lines(lines: tuple[str, ...]) -> Cell:
    """One below the other, as they stand in the file."""
    more = [f"… and {count_of(len(lines) - SHOWN, 'more line')}"] if len(lines) > SHOWN else []
    return text("\n".join([line if len(line) <= LONG else f"{line[:LONG]}…" for line in lines[:SHOWN]] + more)) if lines else text("–", "dim")


def _value(value: Any, unit: str) -> Cell:
    return text("–", "dim") if value is None else amount(value, unit, 6) if isinstance(value, float) else text(value)


def _followed(a: Findings, b: Findings) -> list[tuple[Cell, ...]]:
    made: list[tuple[Cell, ...]] = []
    for one, other in _pairs(a, b):
        name = tables.pair_name(one)
        for head, x, y in zip(tables.RESPONSE, tables.response_cells(one), tables.response_cells(other), strict=True):
            if x.value is None and y.value is None:
                continue
            unit = one.unit if head.startswith("error") else "-" if head == "overshoot" else "s"
            gap = None if x.value is None or y.value is None else y.value - x.value
            shown = "–" if gap is None else signed_share(gap) if head == "overshoot" else _signed(gap, unit)
            made.append((text(name), text(head), x, y, Cell(shown, gap, "dim" if not gap else "", "right")))
    return made


def _signed(gap: float, unit: str) -> str:
    return ("+" if gap > 0.0 else "") + quantity(gap, unit)


def _apart(one: Apart) -> tuple[Cell, ...]:
    if one.most == 0.0:
        return (text(one.name), Cell("equal", 0.0, "dim", "right"), text(""), text(""), text(""))
    return (text(one.name), amount(one.rms, one.unit), amount(one.most, one.unit), amount(one.when, "s", 5), amount(one.end, one.unit))
