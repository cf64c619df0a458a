"""`pushrod estop`: disarm served robots, and keep them from arming until they are reset. Arguments that cannot be read are ignored."""

from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import answer, say
from pushrod.cli.reach import As, Net, TlsFiles

CAUSE = "pushrod estop"
Files = tuple[Path, Path, Path]


def estop(
    robot: A[str | None, typer.Argument(metavar="ROBOT", help="Name of the robot; default: all robots.")] = None,
    cause: A[list[str] | None, typer.Argument(metavar="CAUSE", help="The cause, for the log and the operator who resets it.")] = None,
    net: Net = None,
    tls: TlsFiles = None,
    as_: As = "",
) -> None:
    """Stop served robots at once and latch them: they cannot be armed before `pushrod reset`. Not a certified emergency stop.

    If several hosts serve a robot of this name, all of them are stopped. For a robot of this machine and user no network is needed. Every failure
    begins with NOT STOPPED on stderr.

    Exit codes: 0 all actuators are safe; 2 wrong input; 3 an actuator is not safe; 4 a robot was not reached, or gave no answer.
    """
    from pushrod.cli.reach import run_stop

    run_stop(_stop([*([] if robot is None else [robot]), *(cause or [])], net, tls, as_))


async def _stop(words: list[str], net: list[str] | None, tls: Files | None, operator: str) -> int:
    """Stop the robots that are named, or all; the other words are the cause."""
    from pushrod.cli.stop_robot import reachable, show, stop_each, stop_one

    robots = await reachable(net, tls)
    names = [*robots.nearby, *robots.distant]
    named = [name for name in dict.fromkeys(words) if name in names]
    chosen = named or names
    cause = " ".join(word for word in words if word not in named) or CAUSE
    stops = {name: stop_one(robots, name, "estop", operator, {"cause": cause}) for name in chosen}
    outcomes = await stop_each(stops, "estop")
    if words and not named and len(chosen) > 1:
        say(f"no robot named {words[0]!r} found: stopped all robots. Cause: {cause}", err=True)
    for notice in robots.notices:
        say(notice, err=True)
    answer(cause=cause, robots=[outcome.plain for outcome in outcomes])
    return show(outcomes)
