"""`pushrod verify`: replay reference trajectories against the models."""

import os
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, console

if TYPE_CHECKING:
    from rich.console import Console

    from pushrod.sim.verify.verdict import Verdict

WIDE = 80  # columns from which one line per file is readable
GAP = 2  # between two columns


def verify(paths: A[list[Path], typer.Argument(help="Reference files, or folders that hold some.")]) -> None:
    """Replay reference trajectories against the models and say how far off each is.

    Files marked `info` do not bind.

    Exit codes: 0 fine; 1 a file is past its tolerance; 2 one cannot be understood; 130 stopped by Ctrl-C, after telling what was replayed.
    """
    from pushrod.cli.progress import progress
    from pushrod.core.errors import VerifyError
    from pushrod.sim.verify.table import find, replay

    references = find(paths)
    every: list[Verdict] = []
    broken: list[str] = []
    stopped = False
    try:
        with progress("replaying", "files", len(references)) as show:
            for done, reference in enumerate(references, 1):
                try:
                    every.append(replay(reference))
                except VerifyError as e:
                    broken.append(str(e))
                show(done, len(references))
    except KeyboardInterrupt:
        stopped = True
    _tell(every, len(broken), len(references))
    if stopped:
        raise KeyboardInterrupt
    if broken:
        raise VerifyError("\n".join(broken))
    if any(verdict.failed for verdict in every):
        raise typer.Exit(1)


def _tell(every: "list[Verdict]", broken: int, asked: int) -> None:
    """A table for each folder, what is off, and how many of what."""
    at = console()
    by_folder: dict[Path, list[Verdict]] = {}
    for verdict in every:
        by_folder.setdefault(Path(verdict.file).parent, []).append(verdict)
    for folder, verdicts in by_folder.items():
        at.print(f"{folder}{os.sep}", markup=False, soft_wrap=True)
        (_wide if at.width >= WIDE else _narrow)(verdicts, at)
    for verdict in every:
        if not verdict.passed:
            at.print(f"{verdict.file}: {verdict.note}", markup=False, soft_wrap=True)
    left = asked - len(every) - broken
    summary = _summary(every, broken) + (f"; {left} not replayed" if left else "")
    at.print(summary, markup=False, soft_wrap=True)
    answer(files=[{**verdict._asdict(), "status": _status(verdict)} for verdict in every], summary=summary)


def _summary(every: "list[Verdict]", broken: int) -> str:
    """How many of what: nothing that did not bind or was not read counts as within tolerance."""
    binding = [verdict for verdict in every if verdict.binds]
    failed = sum(verdict.failed for verdict in binding)
    loose = len(every) - len(binding)
    off = sum(not verdict.passed for verdict in every if not verdict.binds)
    within = "all within tolerance" if len(binding) == len(every) and not failed and not broken else f"{len(binding) - failed} within tolerance"
    parts = [
        (within, bool(binding)),
        (f"{failed} past tolerance", failed),
        (f"{loose} do{'es' * (loose == 1)} not bind" + f" ({off} of them off)" * bool(off), loose),
        (f"{broken} could not be read", broken),
    ]
    n = len(every) + broken
    head = f"{n} file{'s' * (n != 1)}, {sum(verdict.rows for verdict in every)} rows"
    return f"{head}: {', '.join(text for text, there in parts if there)}"


def _wide(verdicts: "list[Verdict]", console: "Console") -> None:
    """One line per file. A tolerance all share is said above; names that are too long lose their middle, for they differ at both ends."""
    from rich import box
    from rich.table import Table

    heads = ["rows", "worst column", "error", "allowed"]
    rows = [[str(v.rows), _shortened(v.worst_column, 18), f"{v.worst_error:.2g}", v.tolerance] for v in verdicts]
    if len({v.tolerance for v in verdicts}) == 1:
        console.print(f"allowed: {verdicts[0].tolerance}", markup=False)
        heads, rows = heads[:-1], [cells[:-1] for cells in rows]
    taken = sum(max(map(len, column)) + GAP for column in zip(heads, *rows, strict=True)) + max(len(_status(v)) for v in verdicts) + GAP
    room = console.width - taken
    all_fit = all(len(Path(v.file).name) <= room for v in verdicts)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, GAP - 1, 0, 0))
    table.add_column("file", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right" if head in ("rows", "error") else "left", no_wrap=True)
    table.add_column("", no_wrap=True)
    for v, cells in zip(verdicts, rows, strict=True):
        name = Path(v.file).name
        table.add_row(_shortened(name if all_fit else name.removesuffix(".json"), room), *cells, _mark(v))
    console.print(table)
    console.print()


def _shortened(text: str, most: int) -> str:
    """Without its middle, where it has more than so many letters."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def _narrow(verdicts: "list[Verdict]", console: "Console") -> None:
    """Two lines per file: names are long."""
    for v in verdicts:
        console.print(f"  {Path(v.file).name}", markup=False, soft_wrap=True)
        console.print(f"    {v.rows} rows, {v.worst_column} {v.worst_error:.2g} of {v.tolerance} ", _mark(v), sep="")


def _status(verdict: "Verdict") -> str:
    if not verdict.binds:
        return "info" if verdict.passed else "info, off"
    return "ok" if verdict.passed else "FAILED"


STYLES = {"ok": "green", "FAILED": "bold red", "info": "dim", "info, off": "yellow"}


def _mark(verdict: "Verdict") -> str:
    status = _status(verdict)
    return f"[{STYLES[status]}]{status}[/]"
