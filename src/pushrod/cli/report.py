"""`pushrod report`: a log as one HTML page, or two logs over each other."""

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, as_json, say
from pushrod.cli.read_log import read_log

if TYPE_CHECKING:
    from pushrod.report.findings import Findings


def report(
    log: A[Path, typer.Argument(metavar="LOG", help="A recording: .mcap, .csv, .mat, or a ROS 2 bag.")],
    other: A[Path | None, typer.Argument(metavar="B", help="A second one, to be laid over the first and compared with it.")] = None,
    out: A[Path | None, typer.Option(metavar="FILE", help="Where to write the page; LOG.html beside the log if left out.")] = None,
    open_: A[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write a log as one HTML page that works offline: verdict, plots, step responses, losses, commands, timing, parameters.

    With B both are in it, one over the other, and what differs between them. With --json the figures are printed and no page is written.

    Exit codes: 0 fine, whatever the verdict was; 2 wrong input.
    """
    from pushrod.core.errors import InputError
    from pushrod.report.findings import find

    runs = [find(read_log(file)) for file in (log, other) if file is not None]
    if as_json():
        _tell(runs)
        return
    from pushrod.report.difference import warnings
    from pushrod.report.html_page import page, write

    file = out or _beside(log, other)
    if any(file.resolve() == one.resolve() for one in (log, other) if one is not None):
        raise InputError(f"--out {file}: that is the log; name another file for the report")
    for warning in warnings(*runs) if len(runs) > 1 else ():
        say(f"warning: {warning}", err=True)
    write(page(runs), file)
    say(f"report: {file} ({file.stat().st_size / 1e6:.1f} MB)")
    if open_:
        typer.launch(file.resolve().as_uri())


def _tell(runs: "list[Findings]") -> None:
    from pushrod.report.difference import differences
    from pushrod.report.figure import figures

    if len(runs) == 1:
        answer(**figures(runs[0]))
    else:
        answer(a=figures(runs[0]), b=figures(runs[1]), differences=differences(runs[0], runs[1]))


def _beside(log: Path, other: Path | None) -> Path:
    return log.with_name(f"{log.stem}.html" if other is None else f"{log.stem}-{other.stem}.html")
