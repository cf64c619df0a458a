"""Who may come in: every request and every websocket passes here first, whatever it asks for.

Host     names this machine. On loopback a loopback name and the port of the page, so that no name of another site that was made to point here
         (DNS rebinding) is served; else an address, or a name of this machine.
Origin   where there is one it is the page's own, and whatever can change something has one: a page of another site commands nothing.
Token    where the page can be reached from other machines: in the address of the first visit, then in a cookie that no script reads and no other site
         sends; or as `Authorization: Bearer`. Compared in constant time, kept out of every log.
"""

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from pushrod.dash.settings import is_loopback

Scope = dict[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
SAFE = ("GET", "HEAD")
LARGEST = 1_000_000  # bytes that a request may carry: there is nothing to upload
HEADERS = (
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'; base-uri 'self'; form-action 'self'; object-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
PLAIN = ((b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"))


class Refusal(NamedTuple):
    status: int
    why: str


class Door:
    """In front of an ASGI application. `token` None: the page is on loopback."""

    def __init__(self, app: App, host: str, port: int, token: str | None) -> None:
        self.app = app
        self._host = host
        self._port = port
        self._token = token
        self._cookie = f"pushrod-{port}"  # cookies do not know ports

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        refusal = self._wrong_place(headers) or self._wrong_origin(scope, headers) or _too_large(headers)
        if refusal is None and self._is(given) and scope["type"] == "http" and scope["method"] in SAFE:
            await self._admit(scope, send)
            return
        refusal = refusal or self._unknown(headers)
        if refusal is not None:
            await _refuse(scope, receive, send, refusal)
            return
        await self.app(scope, receive, _with_headers(send))

    def _wrong_place(self, headers: dict[str, str]) -> Refusal | None:
        name, port = _split(headers.get("host", ""))
        ours = port == self._port and (is_loopback(name) or (self._token is not None and (_is_address(name) or name in self._names())))
        return None if ours else Refusal(421, "this page is not served under that name")

    def _wrong_origin(self, scope: Scope, headers: dict[str, str]) -> Refusal | None:
        origin = headers.get("origin")
        if origin is None:
            may_change = scope["type"] == "websocket" or scope["method"] not in SAFE
            by_hand = _bearer(headers) is not None  # a program with a token is no browser; whether it is the right one is asked below
            return Refusal(403, "say where you come from: no Origin was given") if may_change and not by_hand else None
        told = urlsplit(origin)
        own = told.scheme in ("http", "https") and told.netloc.lower() == headers.get("host", "").lower()
        return None if own else Refusal(403, "a page of another site commands nothing here")

    def _unknown(self, headers: dict[str, str]) -> Refusal | None:
        borne = _bearer(headers)
        if self._token is None or (borne is not None and self._is(borne)):
            return None
        if borne is not None:
            return Refusal(401, "that token is wrong: it is in the address that was printed when the page was started")
        cookies: SimpleCookie = SimpleCookie()
        with suppress(CookieError):
            cookies.load(headers.get("cookie", ""))
        kept = cookies.get(self._cookie)
        return None if kept is not None and self._is(kept.value) else Refusal(401, "open the address that was printed when the page was started")

    def _is(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())

    async def _admit(self, scope: Scope, send: Any) -> None:
        """The token goes into a cookie and out of the address."""
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
        headers = [(b"location", scope["path"].encode()), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store"), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _names(self) -> tuple[str, ...]:
        return (self._host.lower(), socket.gethostname().lower(), socket.getfqdn().lower())


def _bearer(headers: dict[str, str]) -> str | None:
    """The token that a program gives; None where it gives none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _split(host: str) -> tuple[str, int]:
    try:
        told = urlsplit(f"//{host}")
        return (told.hostname or "").lower(), told.port or 80
    except ValueError:
        return "", 0


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _too_large(headers: dict[str, str]) -> Refusal | None:
    length = headers.get("content-length", "0")
    return None if length.isdigit() and int(length) <= LARGEST else Refusal(413, "nothing is to be uploaded here")


async def _refuse(scope: Scope, receive: Any, send: Any, refusal: Refusal) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": refusal.status, "headers": [*PLAIN, *HEADERS]})
    await send({"type": "http.response.body", "body": f"{refusal.why}\n".encode()})


def _with_headers(send: Any) -> Any:
    """What the application answers, with ours; that something is not there is said in a plain line, not by a page of its own."""
    missing = False

    async def told(message: dict[str, Any]) -> None:
        nonlocal missing
        if message["type"] == "http.response.start":
            missing = message["status"] == 404
            kept = PLAIN if missing else message.get("headers", ())
            message = message | {"headers": [*kept, *HEADERS]}
        elif missing and message["type"] == "http.response.body":
            if message.get("more_body"):
                return
            message = message | {"body": b"there is nothing here; the page is at /\n"}
        await send(message)

    return told
