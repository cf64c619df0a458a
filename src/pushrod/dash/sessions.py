"""Bounds on the sessions of browsers: pages that were fetched and wait for their socket, and sockets that are open.

A fetched page is an empty shell; its content is built when its socket connects. A page without a socket is deleted after a while, and as soon as
enough newer ones wait: refusing new pages instead would let a program that only fetches keep operators out. For the same reason pages are delivered
in the order of their requests. The e-stop passes all of these bounds.
"""

import asyncio
from collections import Counter
from typing import Any, Protocol

from pushrod.dash.door import App
from pushrod.dash.refusal import Refusal, Scope, refuse

WAITING = 64  # pages that wait for their socket
WAIT = 30.0  # [s] for a browser to load the scripts of the page and connect
FETCHES = 8  # pages in delivery at a time; fewer than WAITING, so that no page is deleted before it is delivered
QUEUE = 64  # requests for a page that wait for their delivery
SOCKETS = 24
SOCKETS_PER_ADDRESS = 12
RETRY = 2  # [s]; a browser that reloads closes its old socket only when it shows the answer


class Shell(Protocol):
    """The part of a NiceGUI client that is used here."""

    id: str

    @property
    def is_deleted(self) -> bool: ...
    async def connected(self, timeout: float | None = None) -> None: ...
    def delete(self) -> None: ...


class Sessions:
    """An ASGI stage that bounds sockets and pages. The page at / awaits `connected` before it builds anything."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._waiting: dict[str, Shell] = {}  # the oldest first
        self._deliveries = asyncio.Semaphore(FETCHES)  # first come, first served
        self._fetches = 0
        self._sockets: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    async def connected(self, shell: Shell) -> bool:
        """Wait for the socket of a fetched page. Return False if the page was deleted instead."""
        self._waiting[shell.id] = shell
        for oldest in list(self._waiting.values())[:-WAITING]:
            del self._waiting[oldest.id]
            oldest.delete()
        try:
            await shell.connected(WAIT)
        except TimeoutError:
            if not shell.is_deleted:
                shell.delete()
        finally:
            self._waiting.pop(shell.id, None)
        return not shell.is_deleted

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        address = scope["client"][0] if scope.get("client") else ""
        if scope["type"] == "websocket":
            await self._socket(address, scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == "/":
            await self._fetch(address, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _socket(self, address: str, scope: Scope, receive: Any, send: Any) -> None:
        refusal = self._full(address)
        if refusal is not None:
            await refuse(scope, receive, send, refusal)
            return
        self._sockets[address] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._sockets[address] -= 1
            if not self._sockets[address]:
                del self._sockets[address]

    async def _fetch(self, address: str, scope: Scope, receive: Any, send: Any) -> None:
        refusal = self._full(address)
        if refusal is None and self._fetches >= FETCHES + QUEUE:
            refusal = Refusal(503, f"{self._fetches} browsers are loading the dashboard. This page retries.", True, RETRY)
        if refusal is not None:
            await refuse(scope, receive, send, refusal)
            return
        self._fetches += 1
        try:
            async with self._deliveries:
                await self.app(scope, receive, send)
        finally:
            self._fetches -= 1

    def _full(self, address: str) -> Refusal | None:
        total = self._sockets.total()
        if total < SOCKETS and self._sockets[address] < SOCKETS_PER_ADDRESS:
            return None
        limit = f"{SOCKETS} in all" if total >= SOCKETS else f"{SOCKETS_PER_ADDRESS} from {address}"
        return Refusal(503, f"The limit of open dashboards is reached ({limit}). Close one; this page retries.", True, RETRY)
