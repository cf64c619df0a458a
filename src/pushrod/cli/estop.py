"""`pushrod estop`: disarm served robots, and keep them from arming until they are reset. Whatever is written, something is stopped."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

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
        return await _stop_one(await place(words[0], net, tls), " ".join(words[1:]) or CAUSE, operator)
    found = {one.robot: one for one in await places(net, tls)}
    if words and words[0] in found:
        return await _stop_one(found[words[0]], " ".join(words[1:]) or CAUSE, operator)
    cause = " ".join(words) or CAUSE
    if words and len(found) > 1:
        typer.echo(f"no robot there is named {words[0]!r}: all are stopped, for {cause!r}", err=True)
    codes = await asyncio.gather(*(_stop_one(one, cause, operator) for one in found.values()))
    unreached = sorted({one.robot for one in nearby} - found.keys())
    for robot in unreached:
        typer.echo(
            f"{robot}: NOT STOPPED: it is still being started, or is served with certificates: give its --net tls/NAME:PORT and --tls", err=True
        )
    return max(*codes, UNREACHED if unreached else 0, 0)


async def _stop_one(at: "Place", cause: str, operator: str) -> int:
    from pushrod.cli.disarm import told
    from pushrod.cli.reach import REFUSED, connect
    from pushrod.core.errors import PushrodError
    from pushrod.net import AccessError

    try:
        async with await connect(at, operator) as remote:
            return told(remote.robot, await remote.estop(cause))
    except AccessError as error:
        typer.echo(f"{at.robot}: NOT STOPPED: {error.answer}", err=True)
        return REFUSED
    except PushrodError as error:  # the others are stopped all the same
        typer.echo(f"{at.robot}: NOT STOPPED: {error}", err=True)
        return UNREACHED if isinstance(error, (ConnectionError, TimeoutError)) else 2
