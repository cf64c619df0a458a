"""A robot that meets its operators at a router: it waits for one that is not up yet, and sees whether it can be seen there."""

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pushrod.cli.output import event, say
from pushrod.core.errors import InputError, NetworkError

if TYPE_CHECKING:
    from pushrod.net import Link, ZenohBus

AGAIN = 1.0  # [s] for one call
SEEN = 3.0  # [s] in which a router has told of a robot


def patience_of(text: str) -> float:
    from pushrod.config.unit import to_si

    try:
        seconds = to_si(text, "s")
    except ValueError as error:
        raise InputError(f"--patience: {error}") from None
    if not 0.0 < seconds <= 3600.0:
        raise InputError(f"--patience: {text}: allowed are times above 0, up to an hour")
    return seconds


async def opened(link: "Link", robot: str, ending: "asyncio.Future[Any]") -> "ZenohBus | None":
    """The bus on this link; a router is called again until `link.patience` is over. None where the program is told to end meanwhile."""
    from pushrod.net import ZenohBus

    if not link.connect:
        return ZenohBus(link)
    end, waiting = time.monotonic() + link.patience, False
    while not ending.done():
        try:
            return await asyncio.to_thread(ZenohBus, replace(link, patience=min(AGAIN, link.patience)))
        except NetworkError as error:
            if time.monotonic() >= end:
                raise NetworkError(f"{error}; gave up after {link.patience:g} s (--patience)") from error
            if not waiting:
                say(f"{robot}: waiting up to {link.patience:g} s for the router: {error}", err=True)
            waiting = True
        await asyncio.wait([ending], timeout=0.1)
    return None


async def look(link: "Link", robot: str, instance: str) -> None:
    """Warn where another program with the same certificate does not see this host through the router: then nobody does."""
    if await asyncio.to_thread(_is_seen, link, robot, instance):
        return
    what = f"NOT SEEN through the router at {', '.join(link.connect)}, so that nobody can reach it"
    name = ""
    if link.tls is not None:
        certificate = link.tls.name
        entry = certificate if certificate == robot else f"{certificate}={robot}"
        name = f": check that the router's list has {certificate!r} as the host of {robot!r} (pushrod router --allow-host {entry})"
    event("unseen", robot=robot, at=list(link.connect))
    say(f"{robot}: {what}{name}", err=True)


def _is_seen(link: "Link", robot: str, instance: str) -> bool:
    from pushrod.net import Session
    from pushrod.net.connecting import hellos

    end = time.monotonic() + SEEN
    try:
        with Session(replace(link, patience=AGAIN)) as session:
            while time.monotonic() < end:
                if any(hello.instance == instance for hello in hellos(session, robot, 0.5)):
                    return True
                time.sleep(0.1)
    except NetworkError:  # the router has gone: its own link says so
        pass
    return False
