"""A client of the dashboard without a browser: fetches the page, connects its socket and sends whatever events it likes."""

import asyncio
import http.client
import json
import re
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import socketio

SOCKET_PATH = "/_nicegui_ws/socket.io"


def fetch(url: str, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    """Return status, headers and body."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=20)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


class PageSocket:
    """`elements`: what the server has sent of the page, by id."""

    def __init__(self, socket: Any, client_id: str) -> None:
        self.socket = socket
        self.client_id = client_id
        self.elements: dict[str, dict[str, Any]] = {}
        socket.on("update", self._update)

    def _update(self, message: dict[str, Any]) -> None:
        for key, element in message.items():
            if isinstance(element, dict):  # None of an element that was deleted; the number of the message is no element
                self.elements[key] = element
            else:
                self.elements.pop(key, None)

    async def built(self, timeout: float = 15.0) -> None:
        end = time.monotonic() + timeout
        while len(self.elements) < 50:
            assert time.monotonic() < end, "the page was not built"
            await asyncio.sleep(0.02)

    def button(self, label: str) -> str:
        """Return the id of a button."""
        return next(key for key, one in self.elements.items() if one.get("props", {}).get("label") == label)

    async def send(self, element: str, kind: str, *arguments: Any) -> None:
        """Send an event of an element to all of its listeners of this kind."""
        for listener in self.elements[element].get("events", []):
            if listener["type"] == kind:
                message = {
                    "id": int(element),
                    "client_id": self.client_id,
                    "listener_id": listener["listener_id"],
                    "args": [json.dumps(a) for a in arguments],
                }
                await self.socket.emit("event", message)


@asynccontextmanager
async def page_socket(url: str) -> AsyncIterator[PageSocket]:
    status, _, body = await asyncio.to_thread(fetch, url)
    assert status == 200, body
    found = re.search(r"client_id\W+([0-9a-f-]{36})", body)
    assert found is not None, body
    socket = socketio.AsyncClient(reconnection=False)
    page = PageSocket(socket, found[1])
    names = {"client_id": found[1], "implicit_handshake": "true", "tab_id": uuid.uuid4(), "document_id": uuid.uuid4(), "next_message_id": 0}
    headers = {"Origin": url.rstrip("/")}
    await socket.connect(f"{url}?{urlencode(names)}", headers=headers, transports=["websocket"], socketio_path=SOCKET_PATH, wait_timeout=10)
    try:
        yield page
    finally:
        await socket.disconnect()


def resident(pid: int) -> float:
    """Return the resident memory of a process [MB]."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def count(pid: int, what: str) -> int:
    """Return the number of threads (`task`) or open files (`fd`) of a process."""
    return len(list(Path(f"/proc/{pid}/{what}").iterdir()))
