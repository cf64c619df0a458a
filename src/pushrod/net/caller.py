"""Questions to a host and their answers; none is left waiting when the host is gone."""

import asyncio
import itertools
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import zenoh
from zenoh.handlers import Callback

from pushrod.core.errors import NetworkError
from pushrod.net import key
from pushrod.net.session import Session
from pushrod.runtime.delivery import CommandTimeout

GRACE = 0.25  # [s] that an answer which says "time is up" may take to come
HOSTS = 1024  # tokens of hosts of one name that are counted
Done = Callable[[bytes | Exception], None]


class HostGoneError(CommandTimeout, NetworkError):
    """The host vanished while it was asked: whether it did what was asked is not known."""


class Caller:
    """`alive` follows the host's token; whoever waits for an answer when it vanishes is told at once.

    `followed` says that another host of this robot is there instead: it was started again.
    """

    def __init__(self, session: Session, robot: str) -> None:
        self._session = session
        self._robot = robot
        self._lock = threading.Lock()
        self._count = itertools.count()
        self._waiting: dict[int, Done] = {}
        self._hosts: set[str] = set()  # that are there, by their tokens
        self.alive = False
        self.changed: Callable[[bool], None] = lambda alive: None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def followed(self) -> bool:
        return not self.alive and bool(self._hosts)

    def watch(self, instance: str) -> Any:
        """Follow the token of one host, and those of others of its robot."""
        own = key.of(self._robot, "host", instance)

        def seen(sample: zenoh.Sample) -> None:
            token, here = str(sample.key_expr), sample.kind == zenoh.SampleKind.PUT
            if not here:
                self._hosts.discard(token)
            elif len(self._hosts) < HOSTS or token == own:
                self._hosts.add(token)
            if token != own:
                return
            self.alive = here
            if not here:
                self.fail(HostGoneError(f"the host of {self._robot} vanished while it was asked: look whether it acted, and connect again"))
            self.changed(self.alive)

        return self._session.zenoh.liveliness().declare_subscriber(key.of(self._robot, "host", key.ANY), Callback(seen, indirect=False), history=True)

    def ask(self, name: str, body: bytes, timeout: float, done: Done, priority: zenoh.Priority = zenoh.Priority.INTERACTIVE_HIGH) -> None:
        """`done` is told once, by a thread of the network: the answer, or the error that came instead."""
        n, asked = next(self._count), time.monotonic()
        self._waiting[n] = done

        def settle(answer: bytes | Exception) -> None:
            with self._lock:
                waiting = self._waiting.pop(n, None)
            if waiting is not None:
                waiting(answer)

        def came(reply: zenoh.Reply) -> None:
            if reply.ok is not None:
                settle(reply.ok.payload.to_bytes())

        def over() -> None:
            if n in self._waiting:
                settle(self._no_answer(name, timeout, time.monotonic() - asked))

        try:
            self._session.zenoh.get(
                name,
                Callback(came, over, indirect=False),
                payload=body,
                timeout=timeout + GRACE,
                priority=priority,
                express=True,
                congestion_control=zenoh.CongestionControl.BLOCK,
                consolidation=zenoh.ConsolidationMode.NONE,
                allowed_destination=zenoh.Locality.REMOTE,
            )
        except zenoh.ZError as error:
            settle(NetworkError(f"{self._robot} cannot be asked: {error}; the connection is closed"))

    async def call(self, name: str, body: bytes, timeout: float, priority: zenoh.Priority = zenoh.Priority.INTERACTIVE_HIGH) -> bytes:
        return await self.answer(lambda done: self.ask(name, body, timeout, done, priority))

    async def answer(self, start: Callable[[Done], None]) -> bytes:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bytes] = loop.create_future()

        def done(answer: bytes | Exception) -> None:
            with suppress(RuntimeError):  # its loop has ended: nobody waits any more
                loop.call_soon_threadsafe(settle, future, answer)

        start(done)
        return await future

    def fail(self, error: Exception) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for done in waiting.values():
            done(error)

    def _no_answer(self, name: str, timeout: float, took: float) -> Exception:
        if took >= timeout:
            return CommandTimeout(f"{self._robot} has not answered within {timeout:g} s: the outcome is unknown; look at it, or disarm")
        asked = f"no answer came for {self._robot} under {name.partition('?')[0]}"
        what = f"{asked}: its host has gone, or does not let this operator in (see its log and access list)"
        return HostGoneError(f"{what}; whether it acted is not known")


def settle(future: "asyncio.Future[Any]", answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
