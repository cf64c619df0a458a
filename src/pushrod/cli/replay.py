"""`pushrod replay`: a log once more through the same machine: equal to the last bit, or where not; or what if."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import STOPPED, answer, console, say
from pushrod.cli.read_log import read_all
from pushrod.cli.trust import Trust
from pushrod.core.names import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console
    from rich.table import Table

    from pushrod.replay.difference import Deviation, Difference
    from pushrod.replay.run import Replay

SHOWN = 20  # rows of a table of differences
BETWEEN = 6  # letters beside and between two columns


def replay(
    log: A[Path, typer.Argument(help="A log of a run (.mcap).", metavar="LOG")],
    at: A[str, typer.Option(help="Begin there by the log's own time, such as 2.5 or '500 ms': what is before is run, not judged.")] = "0",
    speed: A[float | None, typer.Option(help="So many times as fast as it was; as fast as it can if left out.")] = None,
    set_: A[list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="What if: put a value over a parameter; may be repeated.")] = None,
    machine: A[Path | None, typer.Option(help="The machine file, where it has code of its own: none is taken from a log.")] = None,
    out: A[Path, typer.Option(help="Folder for the log of the replay.")] = Path("runs"),
    log_: A[bool, typer.Option("--log/--no-log", help="Write a log of the replay.")] = True,
    trust: Trust = False,
) -> None:
    """Run a log once more and compare every bit; with --set, see what would have been otherwise.

    Exit codes: 0 all is as it was, or --set; 1 something differs; 2 wrong input; 130 stopped by Ctrl-C.
    """
    from pushrod.config.unit import to_si
    from pushrod.core.errors import InputError

    try:
        begin = to_si(at, "s")
    except ValueError as e:
        raise InputError(f"--at: {e}") from None
    if log_:
        from pushrod.log.folder import prepare

        prepare(out)
    from pushrod.cli.stopping import postponed

    found, stopped = _behind_bar(log, begin, speed, tuple(set_ or ()), machine, trust)
    with postponed() as pressed:
        if stopped:
            text = f"stopped by Ctrl-C after {count(len(found.data), 'tick')} of {found.log.ticks}; what follows holds until then"
            say(f"\n{text}", err=True)
        answer(**_plain(found, None))
        if stopped:
            answer(error={"type": "Interrupted", "message": text}, identical=None if found.identical else False)
        _print(found, console())
        if log_:
            _log(found, out, pressed)
    if stopped or pressed():
        raise typer.Exit(STOPPED)
    if not found.identical:
        raise typer.Exit(1)


def _log(found: "Replay", out: Path, pressed: "Callable[[], int]") -> None:
    from pushrod.cli.stopping import written
    from pushrod.log.writer import CutShort
    from pushrod.replay.recording import record

    try:
        file = written(lambda going: record(found, out, going), pressed)
    except CutShort as cut:
        say(f"the log was cut by Ctrl-C: it has the first {count(cut.ticks, 'tick')} of {len(found.data)}", err=True)
        file = cut.file
    answer(replay=str(file))
    say(f"log: {file}")


def _behind_bar(log: Path, at: float, speed: float | None, settings: tuple[str, ...], machine: Path | None, trust: bool) -> "tuple[Replay, bool]":
    """What was found, and whether Ctrl-C came before its end."""
    from pushrod.cli.progress import COMPILING, progress
    from pushrod.replay.run import Interrupted
    from pushrod.replay.run import replay as run_again

    table = read_all(log)  # what is torn is in the notes
    try:
        with progress("replaying", "ticks", before=COMPILING) as show:
            return run_again(table, at=at, speed=speed, settings=settings, machine=machine, trust=trust, progress=show), False
    except Interrupted as stop:
        return stop.found, True


def _print(found: "Replay", console: "Console") -> None:
    about, rebuilt = found.table.about, found.rebuilt
    name = about.get("scenario") or about.get("robot", "")
    console.print(f"{rebuilt.machine.name}{f', {name}' if name else ''} ({rebuilt.kind}): {found.table.file}", markup=False)
    for note in found.notes:
        console.print(f"note: {note}", markup=False)
    if found.settings:
        console.print(f"what if {', '.join(found.settings)}" + (f" from {found.log.begin[found.at]:g} s on" if found.at else ""), markup=False)
        _print_deviations(found.deviations, console)
        return
    compared = f"{count(len(found.log.outputs), 'signal')}, {count(found.ticks, 'tick')}"
    answers = f", {count(found.answers, 'answer')} to commands" if found.answers else ""
    answers += f", {count(found.messages, 'other message')} of the runtime" if found.messages else ""
    if not found.identical:
        _print_difference(found, console)
    elif found.ticks:
        console.print(f"{compared}{answers}: equal to the last bit", markup=False)
    if found.measured:
        console.print("the model, given the recorded commands, against what was measured:")
        _print_deviations(found.measured, console, delay=True)


def _print_difference(found: "Replay", console: "Console") -> None:
    from pushrod.config.unit import bracketed

    difference, answer = found.difference, found.answer
    if difference is not None:
        console.print(
            f"[bold red]differs[/] from tick {difference.k}, t = {difference.t:g} s, on: {difference.signal}{_safe(bracketed(difference.unit))}"
        )
        _print_samples(difference, console)
        if difference.also:
            more = f" and {len(difference.also) - 8} more" if len(difference.also) > 8 else ""
            console.print(f"at the same tick also: {', '.join(difference.also[:8])}{more}", markup=False)
        told = {name: float(values[difference.k]) for name, values in found.log.inputs.items()}
        console.print(f"told in that tick: {', '.join(f'{name} = {value!r}' for name, value in list(told.items())[:12])}", markup=False)
    if answer is not None:
        console.print(f"{'an answer' if 'command' in answer.topic else 'a message'} differs: {answer}", markup=False)
    other = ", ".join(f"{name} {then} then, {now} now" for name, (then, now) in (found.versions or {}).items())
    console.print(f"versions: {other or 'all as they were'}", markup=False)


def _print_samples(difference: "Difference", console: "Console") -> None:
    """Every digit is to be seen, and the last ones most of all: where there is no room for columns they go, then rows are blocks."""
    from pushrod.cli.folding import fits, stacked

    rows = []
    for k, t, a, b in (*difference.before, (difference.k, difference.t, difference.recorded, difference.replayed)):
        rows.append({"tick": str(k), "t": f"{t:g}", "recorded": repr(a), "replayed": repr(b), "difference": "" if a == b else f"{b - a:.3g}"})
    whole, some = (_samples(rows, heads) for heads in (("tick", "t", "recorded", "replayed", "difference"), ("tick", "recorded", "replayed")))
    if fits(console, whole):
        console.print(whole)
        return
    blocks = stacked("tick", ((row["tick"], {head: row[head] for head in ("recorded", "replayed")}) for row in rows))
    console.print(some if fits(console, some) else blocks)
    console.print(f"replayed - recorded = {difference.replayed - difference.recorded:.3g}", markup=False)


def _samples(rows: list[dict[str, str]], shown: tuple[str, ...]) -> "Table":
    """The last row is the one that differs."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in shown:
        table.add_column(head, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*(row[head] for head in shown), style="bold" if row is rows[-1] else "")
    return table


def _print_deviations(deviations: "tuple[Deviation, ...]", console: "Console", delay: bool = False) -> None:
    from rich import box
    from rich.table import Table

    from pushrod.cli.folding import fits, folded, stacked
    from pushrod.config.unit import bracketed

    if not deviations:
        console.print("nothing would have been otherwise: equal to the last bit")
        return
    rows = [(d.signal, bracketed(d.unit), _figures(d, delay)) for d in deviations[:SHOWN]]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("signal")
    for head in rows[0][2]:
        table.add_column(head, justify="right", no_wrap=True)
    for name, unit, cells in rows:
        table.add_row(_safe(name + unit), *cells.values())
    room = console.width - max(len(text) for *_, cells in rows for text in cells.values()) - BETWEEN
    blocks = stacked("signal", ((_safe(folded(name, room - len(unit)) + unit), cells) for name, unit, cells in rows))
    console.print(table if fits(console, table) else blocks)
    if len(deviations) > SHOWN:
        console.print(f"and {len(deviations) - SHOWN} more signals")


def _figures(d: "Deviation", delay: bool) -> dict[str, str]:
    late = {"measured later": "-" if d.delay is None else f"{d.delay:.3g} s"} if delay else {}
    return {"rms": f"{d.rms:.3g}", "most": f"{d.most:.3g}", "at": f"{d.when:.4g} s", "end": f"{d.end:+.3g}", **late}


def _safe(text: str) -> str:
    return text.replace("[", "\\[")


def _plain(found: "Replay", file: Path | None) -> dict[str, Any]:
    return {
        "log": str(found.table.file),
        "kind": found.rebuilt.kind,
        "machine": found.rebuilt.machine.name,
        "identical": None if found.settings else found.identical,
        "signals": len(found.log.outputs),
        "ticks": found.ticks,
        "answers": found.answers,
        "messages": found.messages,
        "difference": None if found.difference is None else found.difference._asdict(),
        "answer": None if found.answer is None else found.answer._asdict() | {"fields": [field._asdict() for field in found.answer.fields]},
        "settings": list(found.settings),
        "deviations": [d._asdict() for d in found.deviations],
        "measured": [d._asdict() for d in found.measured],
        "versions": found.versions,
        "notes": list(found.notes),
        "replay": None if file is None else str(file),
    }
