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

WIDE = 100  # columns from which one line per file is readable


def verify(paths: A[list[Path], typer.Argument(help="Reference files, or folders that hold some.")]) -> None:
    """Replay reference trajectories against the models and say how far off each is.

    Exit code 1 where a file is past its tolerance, 2 where one cannot be understood.
    """
    from rich.console import Console

    from pushrod.core.errors import VerifyError
    from pushrod.sim.verify.table import FORMATS, find

    verdicts: list[Verdict] = []
    broken: list[str] = []
    references = find(paths)
    top = os.path.commonpath([str(reference.file.parent.absolute()) for reference in references])
    with _progress(len(references)) as advance:
        for reference in references:
            try:
                verdict: Verdict = FORMATS[reference.format].replay(reference.file)
                verdicts.append(verdict._replace(file=os.path.relpath(reference.file.absolute(), top)))
            except VerifyError as e:
                broken.append(str(e))
            advance()
    console = Console(highlight=False)
    console.print(f"in {top}", markup=False, soft_wrap=True)
    _print(verdicts, console)
    failed = sum(not verdict.passed for verdict in verdicts)
    console.print(
        f"{len(verdicts)} files, {sum(v.rows for v in verdicts)} rows: {'all within tolerance' if not failed else f'{failed} past tolerance'}"
    )
    if broken:
        raise VerifyError("\n".join(broken))
    if failed:
        raise typer.Exit(1)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    with Progress(TextColumn("replaying"), BarColumn(bar_width=24), MofNCompleteColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


def _print(verdicts: "list[Verdict]", console: "Console") -> None:
    from rich import box
    from rich.table import Table

    wide = console.width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if wide:
        table.add_column("file", overflow="fold")
    for name, justify in (("rows", "right"), ("worst column", "left"), ("worst error", "right"), ("allowed", "left")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_column("")
    if not wide:
        for v in verdicts:
            console.print(v.file, markup=False, soft_wrap=True)
            console.print(f"  {v.rows} rows, {v.worst_column} {v.worst_error:.2g} ({v.tolerance}) ", _mark(v), sep="")
    for v in verdicts if wide else ():
        table.add_row(v.file, str(v.rows), v.worst_column, f"{v.worst_error:.2g}", v.tolerance, _mark(v))
    if wide:
        console.print(table)
    for v in verdicts:
        if v.note and not v.passed:
            console.print(f"{v.file}: {v.note}", markup=False)


def _mark(verdict: "Verdict") -> str:
    return "[green]ok[/]" if verdict.passed else "[bold red]FAILED[/]"
