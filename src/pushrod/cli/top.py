"""`pushrod top`: show the state of the served robots."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, as_json, console
from pushrod.cli.reach import UNREACHED, Net, TlsFiles

if TYPE_CHECKING:
    from pushrod.net.watcher import Seen, Watcher

PERIOD = 0.5  # [s] between two looks
Files = tuple[Path, Path, Path]


def top(
    robot: A[str | None, typer.Argument(metavar="ROBOT", help="Show only this robot; default: all.")] = None,
    once: A[bool, typer.Option("--once", help="Print once and exit; implied by --json and if stdout is not a terminal.")] = False,
    net: Net = None,
    tls: TlsFiles = None,
) -> None:
    """Show the served robots twice a second until Ctrl-C: state, what blocks arming, actuators, topics with rates and drops, loops with lateness.

    Exit codes: 0 fine; 2 wrong input; 4 no robots found, or with --once one does not answer; 130 ended by Ctrl-C.
    """
    import sys

    from pushrod.cli.reach import network, run

    network()
    one_look = once or as_json() or not sys.stdout.isatty()
    run(_once(robot, net, tls) if one_look else _live(robot, net, tls))


class Looking:
    """At all robots there are, or at one, again and again; each link is kept."""

    def __init__(self, robot: str | None, net: list[str] | None, tls: Files | None) -> None:
        self._robot, self._net, self._tls = robot, net, tls
        self._watchers: dict[tuple[str, ...], Watcher] = {}

    async def look(self) -> list["Seen"]:
        """NetworkError where there never was any."""
        from pushrod.cli.nearby import served
        from pushrod.cli.reach import link_to, place, places, with_certificates
        from pushrod.core.errors import NetworkError
        from pushrod.net.watcher import Seen, Watcher

        if not self._watchers:
            _ = await place(self._robot, self._net, self._tls) if self._robot else await places(self._net, self._tls)
        here = [] if self._net else [one for one in served() if one.endpoint]
        ends: dict[tuple[str, ...], set[str]] = {tuple(self._net): set()} if self._net else {}
        for one in here:  # several may meet at one router
            ends.setdefault((one.endpoint,), set()).add(one.robot)
        closed = {one.robot: why for one in here if (why := with_certificates(one))}
        lost: list[Seen] = []
        for end, names in ends.items():
            if self._robot is not None and names and self._robot not in names:
                continue
            if names & closed.keys():
                lost += [Seen(name, None, None, closed[name]) for name in names]
            elif end not in self._watchers:
                try:
                    self._watchers[end] = await asyncio.to_thread(Watcher, link_to(list(end), self._tls if self._net else None))
                except NetworkError as error:
                    if self._net:
                        raise
                    lost += [Seen(name, None, None, str(error)) for name in names]
        seen = [one for found in await asyncio.gather(*(w.look(self._robot or "") for w in self._watchers.values())) for one in found]
        seen += lost
        known = {one.robot for one in seen}
        missing = [name for name in (self._robot,) if name and name not in known]
        return sorted([*seen, *(Seen(name, None, None, "its host does not answer") for name in missing)], key=lambda one: one.robot)

    def close(self) -> None:
        for watcher in self._watchers.values():
            watcher.close()


async def _once(robot: str | None, net: list[str] | None, tls: Files | None) -> int:
    from pushrod.cli.overview import print_overview

    looking = Looking(robot, net, tls)
    try:
        seen = await looking.look()
    finally:
        await asyncio.to_thread(looking.close)
    answer(robots=[{"robot": one.robot, "host": one.where, "gone": one.gone, "missing": one.missing, "overview": one.overview} for one in seen])
    print_overview(seen, console())
    return UNREACHED if not seen or any(one.overview is None for one in seen) else 0


async def _live(robot: str | None, net: list[str] | None, tls: Files | None) -> int:
    from rich.console import Console
    from rich.live import Live

    from pushrod.cli.overview import overview_of

    console = Console(highlight=False)
    looking = Looking(robot, net, tls)
    try:
        seen = await looking.look()
        with Live(
            overview_of(seen, console.width, console.height), console=console, auto_refresh=False, screen=True, vertical_overflow="crop"
        ) as live:
            while True:
                await asyncio.sleep(PERIOD)
                seen = await looking.look()
                live.update(overview_of(seen, console.width, console.height), refresh=True)
    finally:
        await asyncio.to_thread(looking.close)
