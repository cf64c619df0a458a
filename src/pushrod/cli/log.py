"""`pushrod log`: what is in a recording of any kind, and some of it as CSV."""

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.folding import fits, folded, full_width, least_room
from pushrod.cli.output import answer, as_json, console, say
from pushrod.cli.read_log import read_all
from pushrod.core.errors import InputError
from pushrod.core.names import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table as Sheet

    from pushrod.log.events import Event
    from pushrod.log.table import Channel, Table

# columns, the fullest first; and the most letters for which a column gives way to names
SHEETS = (
    ("unit", "values", "rate", "first", "last", "min", "max"),
    ("unit", "values", "rate", "min", "max"),
    ("unit", "min", "max"),
    ("unit",),
)
MOST = 30
TOLD = 10  # warnings and errors at most


def log(
    file: A[Path, typer.Argument(metavar="FILE", help="A recording: .mcap, .csv, .mat, .json, or a ROS 2 bag.")],
    channel: A[list[str] | None, typer.Argument(metavar="[CHANNEL]...", help="Only these; * stands for anything. All if left out.")] = None,
    csv: A[Path | None, typer.Option("--csv", metavar="OUT", help="Write the channels there as CSV; - is stdout, and goes without --json.")] = None,
) -> None:
    """Say what is in a recording: channels with units, rates and spans, topics, what it says of its run, whether it is torn, and the
    warnings and errors of the run.

    Exit codes: 0 fine, torn or not; 2 wrong input.
    """
    from pushrod.log.events import TROUBLE, events

    if csv is not None and str(csv) == "-" and as_json():
        raise InputError("--csv - and --json: stdout is for one of both; give a file (--csv OUT), or leave --json out")
    table = read_all(file)
    chosen = _chosen(table, channel or [])
    trouble = [event for event in events(table) if event.level in TROUBLE]
    answer(
        file=file,
        format=table.format,
        torn=table.torn,
        notes=table.notes,
        start=table.start,
        span=table.span,
        metadata=table.metadata,
        attachments={name: len(attached.data) for name, attached in table.attachments.items()},
        topics={t.name: {"schema": t.schema, "encoding": t.encoding, "messages": t.messages, "read": t.read} for t in table.topics.values()},
        channels={c.name: _figures(c) for c in chosen},
        trouble=[event._asdict() for event in trouble],
    )
    if csv is not None:
        _write(table, chosen, csv)
    else:
        _print(table, chosen)
        _print_trouble(trouble)


def _figures(c: "Channel") -> dict[str, object]:
    import numpy as np

    finite = c.values[np.isfinite(c.values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (None, None)
    first, last = (float(c.t[0]), float(c.t[-1])) if len(c) else (None, None)
    about = {"unit": c.unit, "about": c.about, "topic": c.source, "count": len(c), "rate": c.rate}
    return {**about, "first": first, "last": last, "min": low, "max": high, "not_finite": len(c) - len(finite)}


def _chosen(table: "Table", wanted: list[str]) -> "list[Channel]":
    from fnmatch import fnmatchcase

    from pushrod.core.errors import UnknownNameError

    if not wanted:
        return list(table.channels.values())
    for name in wanted:
        if not any(known == name or fnmatchcase(known, name) for known in table.channels):
            raise UnknownNameError(_unknown(table, name))
    return [channel for known, channel in table.channels.items() if any(known == name or fnmatchcase(known, name) for name in wanted)]


def _unknown(table: "Table", name: str) -> str:
    """The sentence for a name or a pattern that no channel has; where the file is torn, that may be why."""
    from pushrod.core.names import count, unknown

    if any(sign in name for sign in "*?["):
        there = f"{count(len(table.channels), 'channel')} {'is' if len(table.channels) == 1 else 'are'} there" if table.channels else "there are none"
        said = f"no channel fits the pattern {name!r}; {there}: `pushrod log {table.file}` lists them"
    else:
        said = unknown(table.channels, name, "channel")
    return f"{table.file}: {said}" + (f"; the file is torn: {table.torn}" if table.torn else "")


def _write(table: "Table", chosen: "list[Channel]", out: Path) -> None:
    import sys

    from pushrod.core.errors import LogError
    from pushrod.log.csv_file import write

    if table.torn:
        say(f"{table.file}: torn: {table.torn}", err=True)
    if str(out) == "-":
        write(chosen, sys.stdout)
        return
    try:
        with out.open("x", encoding="utf-8", newline="") as target:
            lines = write(chosen, target)
    except FileExistsError:
        raise LogError(f"{out}: there is a file of that name already; it was not touched") from None
    except OSError as e:
        raise LogError(f"{out}: cannot be written: {e.strerror or e}") from e
    answer(csv=out, lines=lines)
    how = _lines(chosen)
    answer(time=how)
    say(f"{out}: {count(len(chosen), 'channel')}, {count(lines, 'line')}{how and '; '}{how}")


def _lines(channels: "Sequence[Channel]") -> str:
    """Describe how channels of different times share one table. Times stay as they are in the log: a fit of the table equals one of the log."""
    import numpy as np

    apart = any(not np.array_equal(c.t, channels[0].t) for c in channels[1:])
    return "each value has its own time (inputs: start of a tick, outputs: end); cells without a value are empty" if apart else ""


def _print(table: "Table", chosen: "list[Channel]") -> None:
    from datetime import UTC, datetime

    from rich.markup import escape

    at = console()
    first, last = table.span
    began = f", since {datetime.fromtimestamp(table.start // 10**9, UTC):%Y-%m-%d %H:%M:%S} UTC" if 0 < table.start < 2**62 else ""
    at.print(f"{table.file} ({table.format}): {count(len(table.channels), 'channel')}, {first:g} s to {last:g} s{began}", markup=False)
    if table.torn:
        at.print(f"[bold red]torn[/]: {escape(table.torn)}")
    for note in table.notes:
        at.print(f"note: {note}", markup=False)
    told = {key: text for key, text in table.about.items() if "\n" not in text}
    if told:
        at.print(", ".join(f"{key} {text}" for key, text in told.items()), markup=False)
    if table.attachments:
        at.print(f"files: {', '.join(f'{name} ({len(a.data)} B)' for name, a in table.attachments.items())}", markup=False)
    if not table.channels:
        at.print("[bold]nothing is in it[/]: no channel with a number" if table.topics else "[bold]nothing is in it[/]: no message at all")
        if not table.topics:
            return
    else:
        _print_sheet(at, chosen)
    other = [t for t in table.topics.values() if not table.of(t.name)]
    if other and len(chosen) == len(table.channels):
        at.print("without numbers: " + ", ".join(f"{t.name} ({t.messages})" for t in other), markup=False)


def _print_trouble(trouble: "Sequence[Event]") -> None:
    """The last of it: how a run ended is asked for most."""
    from rich.markup import escape

    if not trouble:
        return
    at, left = console(), len(trouble) - TOLD
    at.print("warnings and errors" + (f", the last {TOLD} of {len(trouble)}: --json has all" if left > 0 else "") + ":")
    for event in trouble[-TOLD:]:
        colour = "yellow" if event.level == "warning" else "bold red"
        at.print(f"  {event.t:.3f} s [{colour}]{event.level}[/] {escape(f'{event.source}: ' if event.source else '')}{escape(event.text)}")


def _print_sheet(at: "Console", chosen: "list[Channel]") -> None:
    """The figures of the channels; those that have no room are named."""
    sheet = _sheet_for(at, chosen)
    at.print(sheet)
    shown = {column.header for column in sheet.columns}
    left = [head for head in SHEETS[0] if head not in shown]
    if left:
        width = full_width(at, _sheet(chosen, SHEETS[0]))
        at.print(f"no room for {', '.join(left)}: a terminal of {width} columns shows all, and so does --json", markup=False)


def _sheet_for(at: "Console", chosen: "list[Channel]") -> "Sheet":
    """The one with most columns that leaves names room: unfolded, else folded where they have a joint."""
    names = max((len(c.name) for c in chosen), default=0)
    needed = min(least_room(c.name for c in chosen), MOST)
    for heads in SHEETS:
        sheet = _sheet(chosen, heads)
        if fits(at, sheet):
            return sheet
        room = names - (full_width(at, sheet) - at.width)
        if heads is not SHEETS[0] and room >= needed:
            return _sheet(chosen, heads, room)
    return _sheet(chosen, heads, max(room, 1))


def _sheet(chosen: "list[Channel]", heads: tuple[str, ...], room: int | None = None) -> "Sheet":
    """A line for each channel; `room` for names, where they are to be folded."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table as Sheet

    sheet = Sheet(box=box.SIMPLE_HEAD, pad_edge=False)
    sheet.add_column("channel", overflow="fold")
    for head in heads:
        sheet.add_column(head, justify="right", no_wrap=True)
    for c in chosen:
        f = _figures(c)
        cells = {key: "-" if f[key] is None else f"{f[key]:.4g}" for key in ("first", "last", "min", "max")}
        cells |= {"unit": escape(c.unit), "values": str(len(c)), "rate": "-" if c.rate is None else f"{c.rate:.4g} Hz"}
        name = escape(c.name if room is None else folded(c.name, room))
        sheet.add_row(name, *(cells[head] for head in heads))
    return sheet
