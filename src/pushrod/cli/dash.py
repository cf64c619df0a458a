"""`pushrod dash`: the page in the browser, for a robot that is served elsewhere."""

from pathlib import Path
from typing import Annotated as A

import typer

from pushrod.cli.output import event, say
from pushrod.cli.reach import As, Net, OneRobot, TlsFiles

Files = tuple[Path, Path, Path]


def dash(
    robot: OneRobot = None,
    port: A[int | None, typer.Option(metavar="PORT", help="Where the page is; 8321 if left out, 0 for any that is free.")] = None,
    host: A[str | None, typer.Option(metavar="HOST", help="Let other machines see the page, by the token that is printed.")] = None,
    operator: As = "",
    net: Net = None,
    tls: TlsFiles = None,
) -> None:
    """Show a served robot in the browser and command it from there, until Ctrl-C.

    Exit codes: 0 ended by SIGTERM; 130 by Ctrl-C; 2 wrong input; 4 the robot is not there.
    """
    from pushrod.cli.reach import network, run

    network("dash")
    run(_dash(robot, port, host, operator, net, tls))


async def _dash(robot: str | None, port: int | None, host: str | None, operator: str, net: list[str] | None, tls: Files | None) -> int:
    from pushrod.cli.onlookers import dash_settings
    from pushrod.cli.reach import place

    at = await place(robot, net, tls)
    settings = dash_settings(at.robot, tuple(at.link.connect), tls, port, host, operator, "--port")
    from pushrod.dash.server import serve

    def found(where: str) -> None:
        say(f"{at.robot}: until Ctrl-C there is a page at {where}")  # nothing behind it: whoever copies the token would copy that too
        event("page", robot=at.robot, at=where)

    return await serve(settings, found, until_input_ends=False)
