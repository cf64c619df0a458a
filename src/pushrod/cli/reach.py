"""How a verb reaches a robot: its address, the operator, and the exit code of each outcome.

Without --net it is a robot that is served on this machine by the same user (`nearby`).
"""

import asyncio
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from typing import Annotated as A

import typer

from pushrod.cli.extras import require
from pushrod.core.errors import InputError, NetworkError

if TYPE_CHECKING:
    from types import ModuleType

    from pushrod.cli.nearby import Served
    from pushrod.net import Hello, Link, RemoteRobot

REFUSED = 3  # the robot answers, and does not do it
UNREACHED = 4  # it is not there, or does not answer
PATIENCE = 3.0  # [s] for a robot to be found

Net = A[
    list[str] | None,
    typer.Option(
        "--net",
        metavar="ENDPOINT",
        envvar="PUSHROD_NET",
        help="Address of the robot: tcp/127.0.0.1:7447, tls/HOST:PORT; default: the robots of this machine and user.",
    ),
]
TlsFiles = A[tuple[Path, Path, Path] | None, typer.Option("--tls", metavar="AUTHORITY CERTIFICATE KEY", help="PEM files, for tls/ endpoints.")]
As = A[
    str,
    typer.Option("--as", metavar="NAME", help="Name of the operator in leases and logs; default: the user, with --tls the name in the certificate."),
]
OneRobot = A[str | None, typer.Argument(metavar="ROBOT", help="Name of the robot; optional if only one is served.")]

# what is wrong with a link, in the words of the command line
FLAGS = {"listen": "--net", "tls.authority": "--tls AUTHORITY", "tls.certificate": "--tls CERTIFICATE", "tls.key": "--tls KEY", "access": "--via"}
MENDS = {
    "tls/": "write it as tls/HOST:PORT",
    "tls": "give --tls AUTHORITY CERTIFICATE KEY",
    "access": "give --allow-command NAME for each operator that may command, --allow-watch NAME for each observer",
}


class Place(NamedTuple):
    robot: str
    link: "Link"


def network(*extras: str) -> "ModuleType":
    """Return `pushrod.net`. Raise InputError that names all that is missing of it and of these further extras."""
    require("net", *extras)
    from pushrod import net

    return net


def said(error: Exception, verb: str) -> str:
    """An error of any verb; one about a link names options, not arguments of Python."""
    needs: tuple[str, ...] | None = getattr(error, "needs", None)
    if needs is None:
        return str(error)
    field, what = str(getattr(error, "field", "")), str(getattr(error, "what", ""))
    flag = "ENDPOINT" if verb == "router" and field == "listen" else FLAGS.get(field, "--via" if verb in ("serve", "router") else "--net")
    mends = ", and ".join(MENDS[need] for need in needs)
    return f"{flag}: {what}{f': {mends}' if mends else ''}{', or stay on 127.0.0.1' if 'tls/' in needs else ''}"


def link_to(net: list[str], tls: tuple[Path, Path, Path] | None) -> "Link":
    from pushrod.net import Link, Tls

    return Link(connect=tuple(net), tls=None if tls is None else Tls(*tls))


def run(main: Coroutine[Any, Any, int], failure: str = "") -> None:
    """Run a verb; its result is the exit code. A host that denies this operator access refuses; `failure` begins that message."""
    from pushrod.cli.output import answer, plain_error, say
    from pushrod.net import AccessError

    try:
        code = asyncio.run(main)
    except AccessError as error:
        answer(error=plain_error(error, str(error.answer)))
        say(f"{failure}{error.answer}", err=True)
        code = REFUSED
    if code:
        raise typer.Exit(code)


def run_stop(main: Coroutine[Any, Any, int]) -> None:
    """Run a stop; its result is the exit code. Needs no network where the robot has a stop socket."""
    if code := asyncio.run(main):
        raise typer.Exit(code)


async def places(net: list[str] | None, tls: tuple[Path, Path, Path] | None) -> list[Place]:
    """Every robot there is. NetworkError where there is none."""
    if net:
        link, end = link_to(net, tls), time.monotonic() + PATIENCE
        while not (found := await network().robots(link)) and time.monotonic() < end:
            await asyncio.sleep(0.3)
        if not found:
            hint = ", and that the name in this certificate is on its access list" if tls else ""
            raise NetworkError(f"no robot answers at {', '.join(net)} within {PATIENCE:g} s. Check that one is served there{hint}")
        return [Place(hello.robot, link) for hello in found]
    from pushrod.cli.nearby import folder, served

    here = [one for one in served() if one.endpoint]
    if not here:
        raise NetworkError(f"no robot is served on this machine ({folder()}): start one with `pushrod serve MACHINE`, or give its address with --net")
    found = [Place(one.robot, link_to([one.endpoint], None)) for one in here if not with_certificates(one)]
    if not found:
        raise NetworkError("; ".join(with_certificates(one) for one in here))
    return found


def with_certificates(one: "Served") -> str:
    """What to give to reach a robot nearby that wants a certificate; "" where it wants none. Its own endpoint may be no address to call, 0.0.0.0."""
    if not one.endpoint.startswith("tls/"):
        return ""
    return f"{one.robot} is served at {one.endpoint}, with certificates: give --net tls/NAME:PORT and --tls AUTHORITY CERTIFICATE KEY"


async def place(robot: str | None, net: list[str] | None, tls: tuple[Path, Path, Path] | None) -> Place:
    """Of one robot; of the only one there is, where none is named."""
    if robot is not None and not net:
        await _until_served(robot)
    found = await places(net, tls)
    names = sorted({one.robot for one in found})
    if robot is None and len(names) != 1:
        raise InputError(f"{len(names)} robots found: {', '.join(names)}. Name one of them")
    chosen = [one for one in found if robot in (None, one.robot)]
    if not chosen:
        where = f"at {', '.join(net)}" if net else "on this machine"
        raise NetworkError(f"no robot {robot!r} is served {where}; robots found: {', '.join(names) or 'none'}")
    return chosen[0]


async def _until_served(robot: str) -> None:
    """One that is being started is waited for; of one that can only be reached with certificates it is said how."""
    from pushrod.cli.nearby import served

    end = time.monotonic() + PATIENCE
    while (one := next((s for s in served() if s.robot == robot), None)) and not one.endpoint and time.monotonic() < end:
        await asyncio.sleep(0.1)
    if one is not None and not one.endpoint:
        raise NetworkError(f"{robot} (pid {one.pid}) is still starting; try again")
    if one is not None and with_certificates(one):
        raise NetworkError(with_certificates(one))


async def addressed(text: str, net: list[str] | None, tls: tuple[Path, Path, Path] | None) -> tuple[Place, str]:
    """ROBOT/ACTUATOR, or the actuator alone where there is one robot: where that is, and the address of the actuator in it."""
    first, slash, rest = text.partition("/")
    if not text.strip("/") or (slash and not rest):
        raise InputError(f"{text!r} names no actuator: write ROBOT/ACTUATOR, such as arm/shoulder_motor")
    if slash and not net:
        await _until_served(first)
    names = {one.robot for one in await places(net, tls)}
    if slash and (first in names or len(names) != 1):
        return await place(first, net, tls), rest
    return await place(None, net, tls), text


async def connect(at: Place, operator: str, host: "Hello | None" = None) -> "RemoteRobot":
    """`host`: one of several of this name. SeveralHostsError where there are such, and none was named."""
    from pushrod.net import connect

    if operator and at.link.tls is not None and operator != at.link.tls.name:
        raise InputError(f"--as {operator}: with --tls an operator has the name in its certificate, {at.link.tls.name!r}; leave --as out")
    return await connect(at.robot, at.link, operator=operator, host=host)
