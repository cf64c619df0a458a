"""Bounds on waiting pages, deliveries, sockets and log records, without a server."""

import asyncio
import logging

from pushrod.dash.log_limit import PERIOD, RECORDS, LogLimit
from pushrod.dash.sessions import FETCHES, QUEUE, SOCKETS, WAITING, Sessions


class FakeShell:
    """A page whose socket connects when `socket` is set."""

    def __init__(self, name):
        self.id = name
        self.is_deleted = False
        self.socket = asyncio.Event()

    async def connected(self, timeout=None):
        await asyncio.wait_for(self.socket.wait(), timeout)

    def delete(self):
        assert not self.is_deleted, "a page is deleted once"
        self.is_deleted = True
        self.socket.set()


async def nothing(scope, receive, send):
    await asyncio.sleep(10.0)


def test_pages_that_wait_are_bounded_and_the_newest_are_kept():
    async def flood():
        sessions = Sessions(nothing)
        shells = [FakeShell(str(i)) for i in range(3 * WAITING)]
        waits = []
        for shell in shells:
            waits.append(asyncio.create_task(sessions.connected(shell)))
            await asyncio.sleep(0)
        assert sessions.waiting == WAITING
        shells[-1].socket.set()
        assert await waits[-1]
        assert not any([await wait for wait in waits[: 2 * WAITING]])
        assert [shell.is_deleted for shell in shells] == [True] * 2 * WAITING + [False] * WAITING
        for wait in waits:
            wait.cancel()

    asyncio.run(flood())


def test_a_page_without_a_socket_is_deleted_after_a_while(monkeypatch):
    monkeypatch.setattr("pushrod.dash.sessions.WAIT", 0.05)

    async def wait():
        sessions, shell = Sessions(nothing), FakeShell("a")
        assert not await sessions.connected(shell)
        assert (shell.is_deleted, sessions.waiting) == (True, 0)

    asyncio.run(wait())


def test_pages_in_delivery_and_sockets_of_all_addresses_are_bounded():
    async def answer(sessions, kind, address):
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "websocket.connect"}

        task = asyncio.create_task(sessions({"type": kind, "path": "/", "client": (address, 1)}, receive, send))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task, sent

    async def flood():
        sessions = Sessions(nothing)
        fetches = [await answer(sessions, "http", "a") for _ in range(FETCHES + QUEUE + 1)]
        assert [len(sent) for _, sent in fetches] == [0] * (FETCHES + QUEUE) + [2]
        assert fetches[-1][1][0]["status"] == 503
        sockets = [await answer(sessions, "websocket", str(i)) for i in range(SOCKETS + 1)]
        assert [len(sent) for _, sent in sockets] == [0] * SOCKETS + [1]
        for task, _ in (*fetches, *sockets):
            task.cancel()
        await asyncio.gather(*(task for task, _ in (*fetches, *sockets)), return_exceptions=True)
        assert (await answer(sessions, "websocket", "b"))[1] == []

    asyncio.run(flood())


def test_log_records_that_a_browser_causes_are_bounded():
    now = 0.0
    limit = LogLimit(lambda: now)

    def passes(text):
        record = logging.LogRecord("nicegui", logging.ERROR, "", 0, "%s", (text,), None)
        return record.getMessage() if limit.filter(record) else None

    assert passes("red \x1b[31m\nline") == "red  [31m line"
    assert len(passes("x" * 100_000)) <= 500
    assert [passes("x") is not None for _ in range(100)] == [True] * (RECORDS - 2) + [False] * (100 - RECORDS + 2)
    now = PERIOD
    assert passes("x") == "x"
