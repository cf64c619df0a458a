"""`pushrod estop`: disarm served robots, and keep them from arming until they are reset. Whatever is written, something is stopped."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, plain_error, say
from pushrod.cli.reach import UNREACHED, As, Net, TlsFiles

if TYPE_CHECKING:
    from pushrod.cli.reach import Place
    from pushrod.net import Hello

CAUSE = "pushrod estop"
Files = tuple[Path, Path, Path]


def estop(
    robot: A[str | None, typer.Argument(metavar="ROBOT", help="Its name; without one all robots there are stopped.")] = None,
    cause: A[list[str] | None, typer.Argument(metavar="CAUSE", help="Why, for whoever resets it.")] = None,
    net: Net = None,
    tls: TlsFiles = None,
    as_: As = "",
) -> None:
    """Stop served robots at once and latch them: they do not arm before `pushrod reset`. Not a certified emergency stop.

    Of several hosts of one name each is stopped.

    Exit codes: 0 all is safe; 2 wrong input; 3 something is not safe; 4 one was not reached, or gave no answer.
    """
    from pushrod.cli.reach import network, run

    network()
    run(_stop([*([] if robot is None else [robot]), *(cause or [])], net, tls, as_))


async def _stop(words: list[str], net: list[str] | None, tls: Files | None, operator: str) -> int:
    """The first word is a robot's name if there is one of that name; all else is the cause."""
    from pushrod.cli.nearby import served
    from pushrod.cli.reach import place, places
    from pushrod.core.errors import NetworkError

    nearby = [] if net else served()
    if words and words[0] in {one.robot for one in nearby}:
        return await _stop_all([await place(words[0], net, tls)], " ".join(words[1:]) or CAUSE, operator)
    try:
        found = {one.robot: one for one in await places(net, tls)}
    except NetworkError:
        if not nearby:
            raise
        found = {}
    if words and words[0] in found:
        return await _stop_all([found[words[0]]], " ".join(words[1:]) or CAUSE, operator)
    cause = " ".join(words) or CAUSE
    if words and len(found) > 1:
        say(f"no robot there is named {words[0]!r}: all are stopped, for {cause!r}", err=True)
    unreached = sorted({one.robot for one in nearby} - found.keys())
    return await _stop_all(list(found.values()), cause, operator, unreached)


async def _stop_all(places: list["Place"], cause: str, operator: str, unreached: Sequence[str] = ()) -> int:
    stopped = [host for hosts in await asyncio.gather(*(_stop_one(one, cause, operator) for one in places)) for host in hosts]
    why = "it is still being started, or is served with certificates: give its --net tls/NAME:PORT and --tls"
    for robot in unreached:
        say(f"{robot}: NOT STOPPED: {why}", err=True)
    lost = [{"robot": robot, "ok": False, "error": {"type": "NetworkError", "message": why}} for robot in unreached]
    answer(cause=cause, robots=[*(found for found, _ in stopped), *lost])
    return max((*(code for _, code in stopped), UNREACHED if unreached else 0))


async def _stop_one(at: "Place", cause: str, operator: str, host: "Hello | None" = None) -> list[tuple[dict[str, Any], int]]:
    """What came of it and the exit code, of each host of that name."""
    from pushrod.cli.disarm import named, plain, told
    from pushrod.cli.reach import REFUSED, connect
    from pushrod.core.errors import PushrodError
    from pushrod.net import AccessError, SeveralHostsError

    name = named(at.robot, host)
    try:
        async with await connect(at, operator, host) as remote:
            got = await remote.estop(cause)
            return [(plain(remote.robot, got, host), told(name, got))]
    except SeveralHostsError as several:
        say(f"{several}; each is stopped", err=True)
        each = await asyncio.gather(*(_stop_one(at, cause, operator, one) for one in several.hosts))
        return [one for found in each for one in found]
    except PushrodError as error:  # the others are stopped all the same
        say(f"{name}: NOT STOPPED: {error}", err=True)
        refused, unreached = isinstance(error, AccessError), isinstance(error, (ConnectionError, TimeoutError))
        code = REFUSED if refused else UNREACHED if unreached else 2
        where = {} if host is None else {"host": host.where}
        return [({"robot": at.robot, **where, "ok": False, "error": plain_error(error, str(error))}, code)]
