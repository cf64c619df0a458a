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

    Exit codes: 0 all is safe; 2 wrong input; 3 something is not safe; 4 one was not reached, or gave no answer.
    """
    from pushrod.cli.reach import network, run

    network()
    run(_stop([*([] if robot is None else [robot]), *(cause or [])], net, tls, as_))


async def _stop(words: list[str], net: list[str] | None, tls: Files | None, operator: str) -> int:
    """The first word is a robot's name if there is one of that name; all else is the cause."""
    from pushrod.cli.nearby import served
    from pushrod.cli.reach import place, places

    nearby = [] if net else served()
    if words and words[0] in {one.robot for one in nearby}:
        return await _stop_all([await place(words[0], net, tls)], " ".join(words[1:]) or CAUSE, operator)
    found = {one.robot: one for one in await places(net, tls)}
    if words and words[0] in found:
        return await _stop_all([found[words[0]]], " ".join(words[1:]) or CAUSE, operator)
    cause = " ".join(words) or CAUSE
    if words and len(found) > 1:
        say(f"no robot there is named {words[0]!r}: all are stopped, for {cause!r}", err=True)
    unreached = sorted({one.robot for one in nearby} - found.keys())
    return await _stop_all(list(found.values()), cause, operator, unreached)


async def _stop_all(places: list["Place"], cause: str, operator: str, unreached: Sequence[str] = ()) -> int:
    stopped = await asyncio.gather(*(_stop_one(one, cause, operator) for one in places))
    why = "it is still being started, or is served with certificates: give its --net tls/NAME:PORT and --tls"
    for robot in unreached:
        say(f"{robot}: NOT STOPPED: {why}", err=True)
    lost = [{"robot": robot, "ok": False, "error": {"type": "NetworkError", "message": why}} for robot in unreached]
    answer(cause=cause, robots=[*(found for found, _ in stopped), *lost])
    return max((*(code for _, code in stopped), UNREACHED if unreached else 0))


async def _stop_one(at: "Place", cause: str, operator: str) -> tuple[dict[str, Any], int]:
    from pushrod.cli.disarm import plain, told
    from pushrod.cli.reach import REFUSED, connect
    from pushrod.core.errors import PushrodError
    from pushrod.net import AccessError

    try:
        async with await connect(at, operator) as remote:
            got = await remote.estop(cause)
            return plain(remote.robot, got), told(remote.robot, got)
    except PushrodError as error:  # the others are stopped all the same
        say(f"{at.robot}: NOT STOPPED: {error}", err=True)
        refused, unreached = isinstance(error, AccessError), isinstance(error, (ConnectionError, TimeoutError))
        return {"robot": at.robot, "ok": False, "error": plain_error(error, str(error))}, REFUSED if refused else UNREACHED if unreached else 2
