"""Limits on one HTTP request: the length of its target, repeated headers, the size of its body and the time the body takes to arrive.

The body is read before the application runs. Content-Length and chunked bodies therefore obey the same limit, and memory stays bounded.
"""

import asyncio
from collections import Counter
from typing import Any

from pushrod.dash.refusal import Refusal, Scope

LARGEST_BODY = 16_384  # bytes; the dashboard has no uploads
LONGEST_TARGET = 4_096  # bytes of path and query
BODY_TIMEOUT = 5.0  # [s] for the whole body, so that a trickle cannot extend it
SINGLE = (b"host", b"origin", b"authorization", b"content-length", b"transfer-encoding", b"sec-fetch-site")


def malformed(scope: Scope) -> Refusal | None:
    """Return why the head of a request is refused, or None."""
    path: str = scope["path"]
    if len(path) + len(scope.get("query_string", b"")) > LONGEST_TARGET:
        return Refusal(414, f"The address is too long; allowed are {LONGEST_TARGET} bytes.")
    names = Counter(name.lower() for name, _ in scope["headers"])
    repeated = [name.decode() for name in SINGLE if names[name] > 1]
    if repeated:  # two parties that read different values could be played off against each other
        return Refusal(400, f"Repeated header: {', '.join(repeated)}. Send it once.")
    if not path.startswith("/") or "//" in path or "\\" in path or not path.isprintable():
        return Refusal(404, "No such page. The dashboard is at /.")
    lengths = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
    if lengths and not (lengths[0].isdigit() and int(lengths[0]) <= LARGEST_BODY):
        return _too_large()
    return None


async def read_body(receive: Any) -> bytes | Refusal | None:
    """Return the whole body, why it is refused, or None if the client has disconnected."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > LARGEST_BODY:
                    return _too_large()
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return Refusal(408, f"The request body did not arrive within {BODY_TIMEOUT:g} s.")


def replay(body: bytes, receive: Any) -> Any:
    """Return an ASGI `receive` that gives the body that was read, then what follows it."""
    given = False

    async def receive_again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _too_large() -> Refusal:
    return Refusal(413, f"The request body is too large; allowed are {LARGEST_BODY} bytes. The dashboard has no uploads.")
