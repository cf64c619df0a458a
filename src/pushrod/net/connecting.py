"""Find a robot on the network, see whether it is the one expected, and become an operator of it."""

import asyncio
import getpass
import logging
import os
from collections.abc import Iterable
from time import monotonic

import zenoh

from pushrod.core.errors import InputError, NetworkError
from pushrod.net import key
from pushrod.net.bus import ZenohBus
from pushrod.net.link import Link
from pushrod.net.quiet import Quiet
from pushrod.net.remote import RemoteRobot
from pushrod.net.session import Session
from pushrod.net.told import Description, differences, fingerprint
from pushrod.net.wire import UNREADABLE, Hello, decode
from pushrod.robot.description import Robot
from pushrod.runtime.delivery import TIMEOUT
from pushrod.runtime.stop import encodable

log = logging.getLogger("pushrod.net")
QUIET = 60.0  # [s] between two log lines about one host whose hello cannot be read
_quiet = Quiet(QUIET)


class SeveralHostsError(NetworkError):
    """More than one host answers for a robot: none can be commanded; `hosts` are those, each of which can be stopped."""

    def __init__(self, robot: str, hosts: list[Hello]) -> None:
        self.hosts = hosts
        told = "; ".join(hello.where or hello.instance for hello in hosts)
        super().__init__(f"{len(hosts)} hosts answer for the robot {robot!r} ({told}): each robot needs a name of its own; end all but one")


TOLD = 3  # differences between two descriptions that are named


async def connect(
    robot: str,
    link: Link,
    *,
    operator: str = "",
    expect: Robot | str | None = None,
    kinds: Iterable[type] = (),
    timeout: float = TIMEOUT,
    host: Hello | None = None,
) -> "RemoteRobot":
    """Be an operator of a robot elsewhere. NetworkError where it is not there, speaks another schema, or is not the robot expected.

    operator   who this is, in leases and logs; with certificates always the name in one's own
    expect     the description this program was written for, or its fingerprint; not looked at if not given
    kinds      types of messages beside those a ZenohBus knows
    host       one of several of this name, as SeveralHostsError or `robots` tells it: to stop them all, each is asked by itself
    """
    name = operator_name(link, operator)
    bus = await asyncio.to_thread(ZenohBus, link, kinds=kinds)
    try:
        remote = RemoteRobot(bus, await greet(bus, robot, timeout, host), name)
        _compare(remote.hello, expect)
        await remote.join(timeout)
    except BaseException as error:
        await asyncio.to_thread(bus.close)
        if isinstance(error, UNREADABLE):
            raise NetworkError(f"the host of {robot} sends what cannot be read: {error!s:.200}. Check its version of pushrod.") from error
        raise
    return remote


async def robots(link: Link, wait: float = 0.5) -> list[Hello]:
    """Whoever answers within so many seconds, of any schema."""
    bus = await asyncio.to_thread(ZenohBus, link)
    try:
        return sorted(await asyncio.to_thread(hellos, bus.session, "", wait), key=lambda hello: hello.robot)
    finally:
        await asyncio.to_thread(bus.close)


async def greet(bus: ZenohBus, robot: str, timeout: float, host: Hello | None = None) -> Hello:
    """Who hosts this robot. It may just be starting: it is asked until the time is up. Where several do, `host` is the one that is meant."""
    end = monotonic() + timeout
    while True:
        found = await asyncio.to_thread(hellos, bus.session, robot, max(min(1.0, end - monotonic()), 0.05))
        if host is not None:
            found = [one for one in found if one.instance == host.instance]
        if len(found) > 1:
            raise SeveralHostsError(robot, found)
        if found and found[0].schema != key.SCHEMA:
            theirs, ours = found[0].schema, key.SCHEMA
            newer = "this program" if theirs > ours else f"the host, which runs pushrod {found[0].version}"
            raise NetworkError(f"the host of {robot} speaks schema {theirs}, this program schema {ours}: bring {newer} up to date")
        if found:
            return found[0]
        if monotonic() >= end:
            others = [hello.robot for hello in await asyncio.to_thread(hellos, bus.session)]
            there = f"there are {', '.join(others)}" if others else "nor does any other robot: see whether the host runs"
            lists = f"; with certificates, see whether {bus.link.tls.name!r} is on its access list" if bus.link.tls else ""
            raise NetworkError(f"no robot {robot!r} answers at {', '.join(bus.link.connect) or 'any link'} within {timeout:g} s; {there}{lists}")
        await asyncio.sleep(0.05)


def hellos(session: Session, robot: str = "", wait: float = 0.5) -> list[Hello]:
    """Of all hosts of this robot, or of every robot, that answer within so many seconds, of any schema."""
    replies = session.zenoh.get(
        key.hello(robot),
        target=zenoh.QueryTarget.ALL,
        consolidation=zenoh.ConsolidationMode.NONE,
        timeout=wait,
        allowed_destination=zenoh.Locality.REMOTE,
    )
    return [hello for reply in replies if reply.ok is not None and (hello := _read_hello(reply.ok)) is not None]


def _read_hello(sample: zenoh.Sample) -> Hello | None:
    """Return the hello of a host; None, and a warning, where it cannot be read: it hides no other host."""
    name = str(sample.key_expr)
    try:
        hello: Hello = decode(sample.payload.to_bytes(), Hello)
        if hello.robot and name == key.hello(hello.robot):
            return hello
        problem = f"it names the robot {hello.robot!r:.60}"
    except UNREADABLE as error:
        problem = str(error)
    if _quiet.is_due(name):
        log.warning("ignored the hello of a host under %.200s: %.200s", name, problem)
    return None


def operator_name(link: Link, operator: str) -> str:
    """Return the name that an operator has on a link: that of its certificate, where there is one."""
    if link.tls is None:
        return encodable(operator or _user())
    if operator and operator != link.tls.name:
        raise InputError(f"operator = {operator!r}: with certificates an operator has the name in its own, {link.tls.name!r}; leave it out")
    return link.tls.name


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return f"user {os.getuid()}"


def _compare(hello: Hello, expect: Robot | str | None) -> None:
    wanted = fingerprint(expect) if isinstance(expect, Robot) else expect
    if wanted is not None and wanted != hello.fingerprint:
        found = differences(decode(hello.told, Description), expect) if isinstance(expect, Robot) else []
        more = f" and {len(found) - TOLD} more" if len(found) > TOLD else ""
        told = f"; {', '.join(found[:TOLD])}{more}" if found else ""
        unseen = "; they differ in links, transmissions, options or parameters, which are not told from afar" if isinstance(expect, Robot) else ""
        raise NetworkError(
            f"{hello.robot} is not the robot expected: its description has the fingerprint {hello.fingerprint}, this program's {wanted}; "
            f"give both the same description{told or unseen}"
        )
