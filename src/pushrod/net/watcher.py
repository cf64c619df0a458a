"""One who only looks: asks every robot of a link how it is, without being an operator of any.

Who is there, the network itself knows (liveliness); a robot is asked who it is once, and a few at a time how they are.
"""

import asyncio
from typing import NamedTuple

from pushrod.net import key
from pushrod.net.caller import Caller
from pushrod.net.connecting import hellos
from pushrod.net.link import Link
from pushrod.net.session import Session
from pushrod.net.told import Description, Overview
from pushrod.net.wire import UNREADABLE, Answer, Failure, Hello, Reply, Value, decode, encode
from pushrod.runtime.delivery import CommandTimeout
from pushrod.safety.state import State


class Seen(NamedTuple):
    """A robot as it is now; `gone`: why it could not be asked; `missing`: what blocks arming while it is disarmed."""

    robot: str
    description: Description | None
    overview: Overview | None
    gone: str = ""
    where: str = ""  # its host's computer and process
    missing: tuple[str, ...] = ()


Host = tuple[str, str]  # robot and instance
AT_A_TIME = 16  # robots that are asked


class Watcher:
    """A robot that was there once is told of as gone when it is not. Two hosts of one name are two robots, told apart by `where`."""

    def __init__(self, link: Link) -> None:
        self.session = Session(link)
        self._known: dict[Host, Hello] = {}
        self._turns = asyncio.Semaphore(AT_A_TIME)

    def close(self) -> None:
        self.session.close()

    async def look(self, robot: str = "", wait: float = 1.0) -> list[Seen]:
        """At one robot, or at all; each has so many seconds to answer."""
        here = await asyncio.to_thread(self._who_is_there, robot, wait)
        for robot, instance in [*self._known]:
            if (robot, instance) not in here and any(name == robot for name, _ in here):
                del self._known[robot, instance]  # it was started again, or of two hosts one has ended
        return list(await asyncio.gather(*(self._asked(hello, host in here, wait) for host, hello in sorted(self._known.items(), key=_first))))

    async def _asked(self, hello: Hello, here: bool, wait: float) -> Seen:
        async with self._turns:
            return await self._ask(hello, here, wait)

    async def _ask(self, hello: Hello, here: bool, wait: float) -> Seen:
        try:
            return await self._overview(hello, here, wait)
        except UNREADABLE as error:
            return Seen(hello.robot, None, None, f"its host sends what cannot be read: {error!s:.100}", hello.where)

    async def _overview(self, hello: Hello, here: bool, wait: float) -> Seen:
        if hello.schema != key.SCHEMA:
            return Seen(hello.robot, None, None, f"its host speaks schema {hello.schema}, this program schema {key.SCHEMA}", hello.where)
        description: Description = decode(hello.told, Description)
        silent = Seen(hello.robot, description, None, "its host does not answer", hello.where)
        if not here:
            return silent
        try:
            answer = await self._question(hello, "overview", wait)
            if not isinstance(answer, Value):
                return Seen(hello.robot, description, None, answer.text if isinstance(answer, Failure) else str(answer), hello.where)
            overview: Overview = decode(encode(answer.value), Overview)
            missing = await self._question(hello, "missing", wait) if overview.state == State.DISARMED else Value([])
        except CommandTimeout:
            return silent
        texts = missing.value if isinstance(missing, Value) else ()
        return Seen(hello.robot, description, overview, "", hello.where, tuple(map(str, texts)))

    async def _question(self, hello: Hello, what: str, wait: float) -> Answer:
        name = key.at(key.of(hello.robot, "info", what), hello.instance)
        reply: Reply = decode(await Caller(self.session, hello.robot).call(name, encode({}), wait), Reply)
        return reply.answer

    def _who_is_there(self, robot: str, wait: float) -> set[Host]:
        if not self._known:
            self._meet(robot, wait)  # of any schema
            return set(self._known)
        tokens = self.session.zenoh.liveliness().get(key.of(robot, "host", key.ANY), timeout=wait)
        here = {_host(str(token.ok.key_expr)) for token in tokens if token.ok is not None}
        for name in {name for name, instance in here - self._known.keys()}:
            self._meet(name, wait)
        return here

    def _meet(self, robot: str, wait: float) -> None:
        self._known |= {(hello.robot, hello.instance): hello for hello in hellos(self.session, robot, wait)}


def _first(known: tuple[Host, Hello]) -> tuple[str, str]:
    """Two hosts of one name stay in one order."""
    return known[1].robot, known[1].where


def _host(token: str) -> Host:
    _, _, robot, _, instance = token.split("/")
    return key.text(robot), key.text(instance)
