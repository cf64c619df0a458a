"""Robots as they are now, as tables on the terminal: a row of columns where there is room, a line of words where there is not."""

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pushrod.safety.lease import WATCHDOG

if TYPE_CHECKING:
    from pushrod.net.told import ActuatorNow, LoopNow, TopicNow
    from pushrod.net.watcher import Seen

WIDE = 110  # letters from which one column for every figure is readable
GAP, EDGES, NAME = 2, 2, 8  # letters between two columns, at both ends, and of the narrowest first one
LEAST = ("acted", "effort")  # the first to go where there is no room
COLOURS = {"armed": "bold green", "error": "bold red", "estopped": "bold red"}
TABLES = ("actuator", "loop", "topic")
TRIPPED = "its watchdog has tripped. Find out why, then run:"
NEXT_STEP = {
    "estopped": "once the cause is gone, run: pushrod reset {}",
    "error": "inspect the robot, then run: pushrod disarm {} --force",
}
Rows = list[tuple[str, dict[str, str]]]  # each a name, and what there is to say of it, by heading


def print_overview(seen: Iterable["Seen"], console: Console) -> None:
    console.print(overview_of(seen, console.width))


def overview_of(seen: Iterable["Seen"], width: int, height: int | None = None) -> Group:
    """All there is to see; or, within so many lines, the robots first, then their actuators and loops, then topics, and how much was left out."""
    seen = list(seen)
    hosts = Counter(one.robot for one in seen if one.where)
    robots = [_Robot(one, hosts[one.robot]) for one in seen]
    if not robots:
        return Group(Text("no robots found"))
    most = sum(len(rows) for robot in robots for rows in robot.tables.values())
    if height is None or _lines(_drawn(robots, most, width), width) <= height:
        return _drawn(robots, most, width)
    least = 0
    while most - least > 1:  # so many rows fit, so many do not
        n = (least + most) // 2
        least, most = (n, most) if _lines(_drawn(robots, n, width), width) <= height else (least, n)
    found = _drawn(robots, least, width)
    return found if _lines(found, width) <= height else _heads(robots, width, height)


class _Robot:
    """Its head line, notes with what to do, and the rows of its tables."""

    def __init__(self, seen: "Seen", hosts: int) -> None:
        now = seen.overview
        self.head = Text(seen.robot, style="bold")
        self.tables: dict[str, Rows] = {what: [] for what in TABLES}
        self.notes: list[str] = []
        if hosts > 1:
            self.head.append(f"  one of {hosts} hosts of this name ({seen.where}): end all but one;", "bold red")
        if now is None:
            self.head.append("  not reached" if seen.description is None else "  gone", "bold red").append(f": {seen.gone}", "not bold")
            return
        self.head.append(f"  {now.state}", COLOURS.get(now.state, "yellow"))
        why = now.why.removeprefix(now.state).removeprefix(", ")
        self.head.append(f"{f' ({why})' if why else ''}; operators: {', '.join(now.operators) or 'none'}", "not bold")
        kinds = {told.name: told.kind for told in seen.description.actuators} if seen.description is not None else {}
        held = [a.name for a in now.actuators if _is_held(a)]
        self.notes = [
            *(f"arming is blocked: {text}" for text in seen.missing),
            *(f"{name}: {TRIPPED} pushrod cmd {seen.robot}/{name} clear_watchdog" for name in held if not seen.missing),
            *([NEXT_STEP[now.state].format(seen.robot)] if now.state in NEXT_STEP else []),
        ]
        self.tables["actuator"] = [_actuator(a, kinds.get(a.name, "")) for a in now.actuators]
        self.tables["loop"] = [_loop(loop) for loop in now.loops]
        self.tables["topic"] = [_topic(t) for t in now.topics]


def _drawn(robots: list[_Robot], n: int, width: int) -> Group:
    """With the n most important rows: actuators and loops by turns, so that neither hides the other, then topics."""
    turns = [(j, k, what) for k, robot in enumerate(robots) for what in ("actuator", "loop") for j in range(len(robot.tables[what]))]
    topics = [(j, k, "topic") for k, robot in enumerate(robots) for j in range(len(robot.tables["topic"]))]
    taken = Counter((k, what) for _, k, what in [*sorted(turns), *topics][:n])
    parts: list[RenderableType] = []
    missing: Counter[str] = Counter()
    for k, robot in enumerate(robots):
        parts += [robot.head, *(Padding(Text(note, "yellow"), (0, 0, 0, 2), expand=False) for note in robot.notes)]
        for what, rows in robot.tables.items():
            shown = rows[: taken[k, what]]
            parts += [_table(what, shown, width)] if shown else []
            missing[what] += len(rows) - len(shown)
    out = ", ".join(f"{n} {what}{'s' if n > 1 else ''}" for what, n in missing.items() if n)
    return Group(*parts, *([Text(f"not shown: {out}; make the terminal larger, or: pushrod top --once", "yellow")] if out else []))


def _heads(robots: list[_Robot], width: int, height: int) -> Group:
    """Where not even all robots fit: those that do."""
    shown = list(robots)
    while shown and _lines(Group(*(robot.head for robot in shown)), width) > height - 2:
        shown.pop()
    return Group(*(robot.head for robot in shown), Text(f"not shown: {len(robots) - len(shown)} robots and all actuators", "yellow"))


def _lines(group: Group, width: int) -> int:
    console = Console(width=width, highlight=False, file=io.StringIO())
    return len(console.render_lines(group))


def _actuator(a: "ActuatorNow", kind: str) -> tuple[str, dict[str, str]]:
    from pushrod.robot.joint import units

    si = units(kind) if kind else {}
    refused = sum(a.refused.values())
    return a.name, {
        "state": a.stopped or ("held by watchdog" if _is_held(a) else "armed" if a.armed else "not armed"),
        "position": _figure(a.position, si.get("position", "")),
        "velocity": _figure(a.velocity, si.get("velocity", "")),
        "effort": _figure(a.effort, si.get("effort", "")),
        "commander": a.commander or "-",
        "lease": "-" if _is_held(a) else a.lease or "-",
        "silence": _span(a.silence),
        "acted": str(a.acted),
        "refused": str(refused),
        "restarts": str(a.restarts),
    }


def _is_held(a: "ActuatorNow") -> bool:
    """Return whether its watchdog has tripped and holds it."""
    return a.lease == WATCHDOG


def _topic(t: "TopicNow") -> tuple[str, dict[str, str]]:
    rate = f"{t.rate:.1f}/s" if t.rate else "-"  # it came once, or has fallen silent
    return "/".join(t.topic), {"rate": rate, "age": _span(t.age), "messages": str(t.messages), "dropped": str(t.dropped)}


def _loop(loop: "LoopNow") -> tuple[str, dict[str, str]]:
    late = {f"late {name}": _span(x) for name, x in (("p50", loop.p50), ("p99", loop.p99), ("worst", loop.worst))}
    return loop.name, {"ticks": str(loop.ticks), "missed": str(loop.missed), **late}


def _table(what: str, rows: Rows, width: int) -> Table:
    """One column for each figure where there is room; else of those that say something; else without the least of them, which is said; else words."""
    headings = list(rows[0][1])
    telling = [heading for heading in headings if heading == "missed" or any(cells[heading] not in ("-", "0") for _, cells in rows)]
    if width >= WIDE or _fits(rows, headings, width):
        return _columns(what, rows, headings)
    for n in range(len(LEAST) + 1):
        chosen = [heading for heading in telling if heading not in LEAST[:n]]
        if _fits(rows, chosen, width):
            return _columns(what, rows, chosen, [heading for heading in telling if heading not in chosen])
    return _words(what, rows)


def _fits(rows: Rows, headings: list[str], width: int) -> bool:
    columns = [[heading, *(cells[heading] for _, cells in rows)] for heading in headings]
    return sum(GAP + max(map(len, texts)) for texts in columns) + max(max(len(name) for name, _ in rows), NAME) + EDGES <= width


def _columns(what: str, rows: Rows, headings: list[str], left_out: Sequence[str] = ()) -> Table:
    caption = f"without {' and '.join(left_out)}, for which there is no room" if left_out else None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), caption=caption, caption_justify="left")
    table.add_column(what, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "state" else "right", overflow="fold")
    for name, cells in rows:
        table.add_row(Text(name), *(Text(cells[heading], _style(heading, cells[heading])) for heading in headings))
    return table


def _words(what: str, rows: Rows) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(what, overflow="fold")
    table.add_column("", overflow="fold")
    for name, cells in rows:
        said = [
            text if heading == "state" else f"{heading} {text}" for heading, text in cells.items() if text not in ("-", "0") or heading == "missed"
        ]
        table.add_row(Text(name), Text(", ".join(said)))
    return table


def _style(heading: str, text: str) -> str:
    bad = heading in ("dropped", "missed", "refused", "restarts") and text != "0"
    return "yellow" if bad or (heading == "state" and text != "armed") else ""


def _figure(value: float | None, unit: str) -> str:
    """Never -0.000: what rounds to nothing has no sign."""
    return "-" if value is None else f"{value:z.3f} {unit}".rstrip()


def _span(seconds: Any) -> str:
    """A time with three digits or so, in the unit that suits."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1e3 else f"{seconds:.0f} s"
    return "0 s" if seconds == 0.0 else f"{seconds / 1e-6:.2g} us"
