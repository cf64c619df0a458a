"""One who only looks: asks every robot of a link how it is, without being an operator of any.

Who is there, the network itself knows (liveliness); a robot is asked who it is once, and a few at a time how they are.
"""

import asyncio
from typing import NamedTuple

import zenoh

from pushrod.net import key
from pushrod.net.caller import Caller
from pushrod.net.link import Link
from pushrod.net.session import Session
from pushrod.net.told import Description, Overview
from pushrod.net.wire import Failure, Hello, Reply, Value, decode, encode
from pushrod.runtime.delivery import CommandTimeout


class Seen(NamedTuple):
    """A robot as it is now; `gone` says why it could not be asked."""

    robot: str
    description: Description | None
    overview: Overview | None
    gone: str = ""


AT_A_TIME = 16  # robots that are asked


class Watcher:
    """A robot that was there once is told of as gone when it is not."""

    def __init__(self, link: Link) -> None:
        self.session = Session(link)
        self._known: dict[str, Hello] = {}
        self._turns = asyncio.Semaphore(AT_A_TIME)

    def close(self) -> None:
        self.session.close()

    async def look(self, robot: str = "", wait: float = 1.0) -> list[Seen]:
        """At one robot, or at all; each has so many seconds to answer."""
        here = await asyncio.to_thread(self._who_is_there, robot, wait)
        return list(await asyncio.gather(*(self._asked(hello, hello.robot in here, wait) for _, hello in sorted(self._known.items()))))

    async def _asked(self, hello: Hello, here: bool, wait: float) -> Seen:
        async with self._turns:
            return await self._ask(hello, here, wait)

    async def _ask(self, hello: Hello, here: bool, wait: float) -> Seen:
        if hello.schema != key.SCHEMA:
            return Seen(hello.robot, None, None, f"its host speaks schema {hello.schema}, this program schema {key.SCHEMA}")
        description: Description = decode(hello.told, Description)
        if not here:
            return Seen(hello.robot, description, None, "its host does not answer")
        try:
            reply: Reply = decode(await Caller(self.session, hello.robot).call(key.of(hello.robot, "info", "overview"), encode({}), wait), Reply)
        except CommandTimeout:
            return Seen(hello.robot, description, None, "its host does not answer")
        if isinstance(reply.answer, Value):
            return Seen(hello.robot, description, decode(encode(reply.answer.value), Overview))
        return Seen(hello.robot, description, None, reply.answer.text if isinstance(reply.answer, Failure) else str(reply.answer))

    def _who_is_there(self, robot: str, wait: float) -> set[str]:
        if not self._known:
            self._known |= {hello.robot: hello for hello in self._hellos(key.hello(robot), wait)}  # of any schema
            return set(self._known)
        tokens = self.session.zenoh.liveliness().get(key.of(robot, "host", key.ANY), timeout=wait)
        here = {_host(str(token.ok.key_expr)) for token in tokens if token.ok is not None}
        for name, instance in here:
            if name not in self._known or self._known[name].instance != instance:
                self._known |= {hello.robot: hello for hello in self._hellos(key.hello(name), wait)}
        return {name for name, _ in here}

    def _hellos(self, name: str, wait: float) -> list[Hello]:
        replies = self.session.zenoh.get(
            name,
            target=zenoh.QueryTarget.ALL,
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=wait,
            allowed_destination=zenoh.Locality.REMOTE,
        )
        return [decode(reply.ok.payload.to_bytes(), Hello) for reply in replies if reply.ok is not None]


def _host(token: str) -> tuple[str, str]:
    """Robot and instance of a host's token."""
    _, _, robot, _, instance = token.split("/")
    return key.text(robot), key.text(instance)
