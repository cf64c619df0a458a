"""`pushrod router`: a meeting point of robots and operators, until it is told to end."""

from typing import Annotated as A

import typer

from pushrod.cli.output import answer, event, say
from pushrod.cli.reach import TlsFiles
from pushrod.core.outlet import unblock_streams

Names = list[str] | None


def router(
    listen: A[list[str], typer.Argument(metavar="ENDPOINT...", help="Where it listens: tcp/127.0.0.1:7447, tls/0.0.0.0:7447.")],
    via: A[list[str] | None, typer.Option(metavar="ENDPOINT", help="Another router to join, such as one in the middle; may be repeated.")] = None,
    tls: TlsFiles = None,
    allow_command: A[Names, typer.Option(metavar="NAME", help="Whose certificate may ask robots to do something; may be repeated.")] = None,
    allow_watch: A[Names, typer.Option(metavar="NAME", help="Whose certificate may only watch; may be repeated.")] = None,
    allow_host: A[
        Names,
        typer.Option(
            metavar="NAME[=ROBOT]", help="Certificate of a robot's host, with the robot's name where that is another; speaks for that robot only."
        ),
    ] = None,
    allow_router: A[Names, typer.Option(metavar="NAME", help="Certificate of another router that is joined to this one; may be repeated.")] = None,
    verbose: A[bool, typer.Option("--verbose", "-v", help="Say more.")] = False,
) -> None:
    """Let robots (`pushrod serve --via`) and operators (`--net`) meet at one place, until Ctrl-C or SIGTERM.

    Who may command which robot, each robot decides by a list of its own. Exit codes: 0 ended by SIGTERM; 130 by Ctrl-C; 2 wrong input; 4 the network
    failed.
    """
    import logging
    import signal

    from pushrod.cli.reach import network

    network()
    from pushrod.net import Access, Link, Tls
    from pushrod.net import router as opened

    unblock_streams()
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    lists = [tuple(names or ()) for names in (allow_command, allow_watch, allow_host, allow_router)]
    link = Link(tuple(listen), tuple(via or ()), None if tls is None else Tls(*tls), Access(*lists) if any(lists) else None)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)  # threads of zenoh inherit it: the signal is for this one
    try:
        with opened(link):
            at = [link.tls.call(end) if link.tls is not None and end.startswith("tls/") else end for end in link.listen]
            event("listens", at=list(link.listen), via=list(link.connect))
            files = " --tls AUTHORITY CERTIFICATE KEY" if link.tls is not None else ""
            meet = f"a robot: pushrod serve MACHINE --via {at[0]}{files}; an operator: pushrod top --net {at[0]}{files}"
            say(f"router at {', '.join(link.listen)}; {meet}")
            ended = signal.sigwait(numbers)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    why = signal.Signals(ended).name
    answer(at=list(link.listen), why=why)
    say(f"router: ended ({why})")
    if ended == signal.SIGINT:
        raise typer.Exit(130)
