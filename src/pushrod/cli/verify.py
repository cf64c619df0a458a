"""`pushrod verify`: replay reference trajectories against the models."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from pushrod.sim.verify.verdict import Verdict

WIDE = 112  # columns from which one line per file is readable


def verify(paths: A[list[Path], typer.Argument(help="Reference files, or folders that hold some.")]) -> None:
    """Replay reference trajectories against the models and say how far off each is.

    Exit code 1 where a file is past its tolerance, 2 where one cannot be understood.
    """
    from rich.console import Console

    from pushrod.core.errors import VerifyError
    from pushrod.sim.verify.table import find, replay

    references = find(paths)
    by_folder: dict[Path, list[Verdict]] = {}
    broken: list[str] = []
    with _progress(len(references)) as advance:
        for reference in references:
            try:
                by_folder.setdefault(reference.file.parent, []).append(replay(reference))
            except VerifyError as e:
                broken.append(str(e))
            advance()
    console = Console(highlight=False)
    for folder, verdicts in by_folder.items():
        console.print(f"{folder}{os.sep}", markup=False, soft_wrap=True)
        (_wide if console.width >= WIDE else _narrow)(verdicts, console)
    every = [verdict for verdicts in by_folder.values() for verdict in verdicts]
    failed = [verdict for verdict in every if not verdict.passed]
    for verdict in failed:
        console.print(f"{verdict.file}: {verdict.note}", markup=False, soft_wrap=True)
    ending = f"{len(failed)} past tolerance" if failed else "all within tolerance"
    console.print(f"{len(every)} file{'s' * (len(every) != 1)}, {sum(verdict.rows for verdict in every)} rows: {ending}")
    if broken:
        raise VerifyError("\n".join(broken))
    if failed:
        raise typer.Exit(1)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    with Progress(
        TextColumn("replaying"), BarColumn(bar_width=24), MofNCompleteColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


def _wide(verdicts: "list[Verdict]", console: "Console") -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("file", overflow="fold")
    table.add_column("rows", justify="right")
    table.add_column("worst column", overflow="fold")
    table.add_column("worst error", justify="right")
    table.add_column("allowed")
    table.add_column("")
    for v in verdicts:
        table.add_row(Path(v.file).name, str(v.rows), v.worst_column, f"{v.worst_error:.2g}", v.tolerance, _mark(v))
    console.print(table)


def _narrow(verdicts: "list[Verdict]", console: "Console") -> None:
    """Two lines per file: names are long."""
    for v in verdicts:
        console.print(f"  {Path(v.file).name}", markup=False, soft_wrap=True)
        console.print(f"    {v.rows} rows, {v.worst_column} {v.worst_error:.2g} of {v.tolerance} ", _mark(v), sep="")


def _mark(verdict: "Verdict") -> str:
    return "[green]ok[/]" if verdict.passed else "[bold red]FAILED[/]"
