"""`pushrod sweep report`: what a study found, as one HTML page."""

from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, as_json, say
from pushrod.cli.trust import Trust


def sweep_report(
    folder: A[Path, typer.Argument(metavar="DIR", help="Folder of a study's results.")],
    out: A[Path | None, typer.Option(metavar="FILE", help="Where to write the page; DIR/report.html if left out.")] = None,
    open_: A[bool, typer.Option("--open", help="Show it in the browser.")] = False,
    trust: Trust = False,
) -> None:
    """Write what a study found as one HTML page that works offline: the share that passes, what decides over it, the worst runs.

    A study that is not done yet is reported as far as it is. With --json the figures are printed and no page is written.

    Exit codes: 0 fine, however many pass; 2 wrong input, or a folder that cannot be used.
    """
    from pushrod.sweep.findings import find
    from pushrod.sweep.results import results

    found = find(results(folder, trust=trust))
    if as_json():
        from pushrod.sweep.figure import figures

        answer(**figures(found))
        return
    from pushrod.report.html_page import write
    from pushrod.sweep.page import notes, page, verdict

    file = out or folder / "report.html"
    write(page(found), file)
    told = verdict(found)
    say(f"{found.results.study}: {told['head']} ({told['why']})".replace("\u202f", ""))  # narrow blanks are for the page
    for note in notes(found):
        say(f"note: {note}", err=True)
    say(f"report: {file} ({file.stat().st_size / 1e6:.1f} MB)")
    if open_:
        typer.launch(file.resolve().as_uri())
