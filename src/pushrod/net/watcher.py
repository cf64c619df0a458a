"""One who only looks: asks every robot of a link how it is, without being an operator of any."""

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


class Watcher:
    """A robot that was there once is told of as gone when it is not."""

    def __init__(self, link: Link) -> None:
        self.session = Session(link)
        self._known: dict[str, Hello] = {}

    def close(self) -> None:
        self.session.close()

    async def look(self, robot: str = "", wait: float = 1.0) -> list[Seen]:
        """At one robot, or at all; each has so many seconds to answer."""
        found = await asyncio.to_thread(self._hellos, key.hello(robot), wait)
        self._known |= {hello.robot: hello for hello in found}
        here = {hello.robot for hello in found}
        return list(await asyncio.gather(*(self._ask(hello, hello.robot in here, wait) for _, hello in sorted(self._known.items()))))

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

    def _hellos(self, name: str, wait: float) -> list[Hello]:
        replies = self.session.zenoh.get(
            name,
            target=zenoh.QueryTarget.ALL,
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=wait,
            allowed_destination=zenoh.Locality.REMOTE,
        )
        return [decode(reply.ok.payload.to_bytes(), Hello) for reply in replies if reply.ok is not None]
