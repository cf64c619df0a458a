"""Answers to requests that are not served, and the security headers that every answer carries."""

from html import escape
from typing import Any, NamedTuple

Scope = dict[str, Any]
SECURITY_HEADERS = (
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'; base-uri 'self'; form-action 'self'; object-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
TEXT_HEADERS = ((b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"))
HTML_HEADERS = ((b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store"))
VIOLATION = 1008  # close code of a websocket: policy violation


class Refusal(NamedTuple):
    """`html`: text for a person in a browser, with a link to the dashboard; the browser follows it after `retry` seconds where that is given."""

    status: int
    text: str
    html: bool = False
    retry: int | None = None


async def refuse(scope: Scope, receive: Any, send: Any, refusal: Refusal) -> None:
    """Send the refusal and close the connection, so that an unread request body cannot keep it open."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": VIOLATION})
        return
    kind = HTML_HEADERS if refusal.html else TEXT_HEADERS
    retry = [(b"retry-after", str(refusal.retry).encode())] if refusal.retry is not None else []
    body = _page(refusal) if refusal.html else f"{refusal.text}\n"
    headers = [*kind, *retry, *SECURITY_HEADERS, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


def _page(refusal: Refusal) -> str:
    refresh = f'<meta http-equiv="refresh" content="{refusal.retry};url=/">' if refusal.retry is not None else ""
    style = "font-family:sans-serif;max-width:40em;margin:4em auto"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pushrod</title>{refresh}</head>'
        f'<body style="{style}"><p>{escape(refusal.text)}</p><p><a href="/">Open the dashboard</a></p></body></html>\n'
    )
