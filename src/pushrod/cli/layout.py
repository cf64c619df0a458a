"""`pushrod layout`: a ready-made layout of a machine or a log for Foxglove or PlotJuggler."""

from enum import StrEnum
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.read_log import read_all
from pushrod.cli.trust import Trust

if TYPE_CHECKING:
    from pushrod.layout.page import Page


class Viewer(StrEnum):
    foxglove = "foxglove"
    plotjuggler = "plotjuggler"


def layout(
    viewer: A[Viewer, typer.Argument(help="For which viewer.")],
    what: A[str, typer.Argument(metavar="MACHINE|LOG", help="A shipped machine, a machine file, or a log.")] = "car",
    trust: Trust = False,
) -> None:
    """Print a layout: request, command and achieved together, pipeline stages, joints, commands, events.

    Exit codes: 0 fine; 2 wrong input.
    """
    from pushrod.layout import foxglove, plotjuggler

    pages = _pages(what, trust)
    text = (foxglove if viewer is Viewer.foxglove else plotjuggler).layout(pages)
    answer(viewer=viewer.value, of=what, pages=[page.title for page in pages], layout=text)
    say(text)


def _pages(what: str, trust: bool) -> "list[Page]":
    from pathlib import Path

    from pushrod.core.errors import LogError
    from pushrod.layout.page import of_machine, of_table
    from pushrod.log.reader import SUFFIXES
    from pushrod.sim import machine as machines

    if Path(what).suffix.lower() not in SUFFIXES and not Path(what).is_dir():
        return of_machine(machines.load(what, trust=trust))
    from pushrod.replay.rebuilding import rebuild

    table = read_all(Path(what))
    try:
        return of_machine(rebuild(table).machine)
    except LogError:  # a log of others, or one whose machine is code of its own: by what is in it
        return of_table(table)
