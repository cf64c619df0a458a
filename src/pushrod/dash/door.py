"""Access control of the dashboard: every request and every websocket passes here before anything is created for it.

Host     names this machine. On loopback: a loopback name with the port of the dashboard, so that a foreign name that resolves to this machine (DNS
         rebinding) is not served. Otherwise: an address, or a name of this machine.
Origin   is the dashboard's own where it is present. Websockets and methods that change something need one.
Site     (`Sec-Fetch-Site`, sent by browsers to loopback): another site, or another port of this machine, gets neither page nor files. A link from
         there leads to a static page with a link of its own.
Token    where other machines reach the dashboard: in the address of the first visit, then in a cookie that scripts cannot read and other sites do
         not send; or as `Authorization: Bearer`. Compared in constant time, never logged.
Limits   of `request_limit.py`. No answer redirects, except from the address with the token to /.
"""

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pushrod.dash.refusal import SECURITY_HEADERS, TEXT_HEADERS, Refusal, Scope, refuse
from pushrod.dash.request_limit import malformed, read_body, replay
from pushrod.dash.settings import is_loopback

App = Callable[[Scope, Any, Any], Awaitable[None]]
SAFE = ("GET", "HEAD")
OWN_SITE = ("", "none", "same-origin")  # programs send no Sec-Fetch-Site; "none" is an address that a person typed or opened from a bookmark
SOCKET_PATH = "/_nicegui_ws/"
FORWARDED = b"x-forwarded-"  # the dashboard has no proxy of its own: a prefix or an address in these headers is the client's claim


class Door:
    """An ASGI stage in front of an application. `token` None: the dashboard is on loopback."""

    def __init__(self, app: App, host: str, port: int, token: str | None) -> None:
        self.app = app
        self._port = port
        self._token = token
        self._cookie = f"pushrod-{port}"  # cookies are shared by all ports of a host
        # resolved once: a lookup for each request would block the event loop
        self._names = () if token is None else (host.lower(), socket.gethostname().lower(), socket.getfqdn().lower())

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        is_http = scope["type"] == "http"
        refusal = malformed(scope) or self._wrong_host(headers) or _wrong_origin(scope, headers)
        if refusal is None and is_http and scope["method"] in SAFE and self._matches(_token_of(scope)):
            await self._admit(send)
            return
        refusal = refusal or _wrong_site(scope, headers) or self._unauthorized(headers)
        if refusal is None and is_http:
            body = await read_body(receive)
            if body is None:
                return
            refusal = body if isinstance(body, Refusal) else None
            receive = receive if isinstance(body, Refusal) else replay(body, receive)
        if refusal is not None:
            await refuse(scope, receive, send, refusal)
            return
        kept = [(name, value) for name, value in scope["headers"] if not name.lower().startswith(FORWARDED)]
        await self.app(scope | {"headers": kept}, receive, _secured(send) if is_http else send)

    def _wrong_host(self, headers: dict[str, str]) -> Refusal | None:
        name, port = _split(headers.get("host", ""))
        own = port == self._port and (is_loopback(name) or (self._token is not None and (_is_address(name) or name in self._names)))
        return None if own else Refusal(421, "The dashboard is not served under this host name. Use the address that was printed at its start.")

    def _unauthorized(self, headers: dict[str, str]) -> Refusal | None:
        bearer = _bearer(headers)
        if self._token is None or (bearer is not None and self._matches(bearer)):
            return None
        if bearer is not None:
            return Refusal(401, "Invalid token. Use the one in the address that was printed at the start of the dashboard.")
        cookies: SimpleCookie = SimpleCookie()
        with suppress(CookieError):
            cookies.load(headers.get("cookie", ""))
        cookie = cookies.get(self._cookie)
        if cookie is not None and self._matches(cookie.value):
            return None
        return Refusal(401, "Token missing. Open the address that was printed at the start of the dashboard.")

    def _matches(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())

    async def _admit(self, send: Any) -> None:
        """Move the token from the address to a cookie. The target is fixed: one derived from the request could lead to another site."""
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store"), *SECURITY_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _token_of(scope: Scope) -> str:
    """Return the token in the address, or "" if there is none."""
    with suppress(ValueError):
        return parse_qs(str(scope.get("query_string", b""), "latin-1"), max_num_fields=16).get("token", [""])[0]
    return ""


def _wrong_origin(scope: Scope, headers: dict[str, str]) -> Refusal | None:
    origin = headers.get("origin")
    if origin is None:
        may_change = scope["type"] == "websocket" or scope["method"] not in SAFE
        is_program = _bearer(headers) is not None  # browsers send no such header by themselves; the token is checked separately
        return Refusal(403, "Origin header missing: it is required for requests that change something.") if may_change and not is_program else None
    with suppress(ValueError):
        parts = urlsplit(origin)
        if parts.scheme in ("http", "https") and parts.netloc.lower() == headers.get("host", "").lower():
            return None
    return Refusal(403, "Foreign origin: another site cannot use the dashboard.")


def _wrong_site(scope: Scope, headers: dict[str, str]) -> Refusal | None:
    if scope["type"] == "http" and scope["path"].startswith(SOCKET_PATH):  # a plain GET would open a session of the polling transport
        return Refusal(403, "Only websockets are served here.")
    if "prefetch" in headers.get("sec-purpose", headers.get("purpose", "")).lower():
        return Refusal(503, "The dashboard is not prefetched.")
    if headers.get("sec-fetch-site", "").lower() in OWN_SITE:
        return None
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document" and scope.get("method") == "GET"
    return Refusal(403, "This address was opened by another site.", html=is_link)


def _bearer(headers: dict[str, str]) -> str | None:
    """Return the token in the Authorization header, or None if there is none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _split(host: str) -> tuple[str, int]:
    """Return name and port of a Host header, or ("", 0) if it holds anything else."""
    try:
        parts = urlsplit(f"//{host}")
        is_plain = parts.netloc == host and "@" not in host
        return ((parts.hostname or "").lower(), parts.port or 80) if is_plain else ("", 0)
    except ValueError:
        return "", 0


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _secured(send: Any) -> Any:
    """Return an ASGI `send` that adds the security headers, and answers 404 in place of pages of the framework that are missing or redirect."""
    is_missing = False

    async def send_secured(message: dict[str, Any]) -> None:
        nonlocal is_missing
        if message["type"] == "http.response.start":
            status = message["status"]
            is_missing = status == 404 or (300 <= status < 400 and status != 304)
            kept = TEXT_HEADERS if is_missing else message.get("headers", ())
            message = message | {"status": 404 if is_missing else status, "headers": [*kept, *SECURITY_HEADERS]}
        elif is_missing and message["type"] == "http.response.body":
            if message.get("more_body"):
                return
            message = message | {"body": b"No such page. The dashboard is at /.\n"}
        await send(message)

    return send_secured
