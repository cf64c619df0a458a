"""The process of the dashboard: watches one robot and serves browsers until a signal, or the end of its standard input, stops it."""

import asyncio
import getpass
import logging
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from nicegui import Client, ui
from nicegui import app as nicegui_app

from pushrod.core.errors import InputError, NetworkError, PushrodError
from pushrod.dash.connection import BACKLOG, LARGEST_HEAD, LARGEST_MESSAGE, Connection
from pushrod.dash.door import Door
from pushrod.dash.element import text
from pushrod.dash.log_limit import LogLimit
from pushrod.dash.page import STYLE, Page
from pushrod.dash.seat import Desk
from pushrod.dash.sessions import WAIT, Sessions
from pushrod.dash.settings import Settings
from pushrod.dash.watch import Watch
from pushrod.runtime.signals import handle_signals

log = logging.getLogger("pushrod.dash")
RECONNECT = 1.0  # [s] within which a browser that lost its socket resumes its page
PRUNE = 5.0  # [s] between two deletions of pages without a socket


class _Server(uvicorn.Server):
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Pages that are still open are told to end: else they are waited for until whoever started this loses his patience."""
        logging.getLogger("nicegui").setLevel(logging.CRITICAL)  # that a page was still open is no news
        for client in Client.instances.values():
            client.outbox.stop()
        await super().shutdown(sockets)


async def serve(settings: Settings, say: Callable[[str], None], until_input_ends: bool = True) -> int:
    """Until SIGTERM or SIGINT, or its standard input ends: whoever started it is gone then. `say` is told the address once, with the token.

    Gives the exit code. It takes its leave of the robot in each case.
    """
    settings.check()
    user = settings.operator or getpass.getuser()
    watch = Watch(settings.robot, settings.link, settings.link.tls.name if settings.link.tls is not None else f"dash/{user}")
    await watch.open()
    desk = Desk(watch, watch.name if settings.tls is not None else user)
    listening = _listen(settings)
    port = int(listening.getsockname()[1])
    token = None if settings.local else secrets.token_urlsafe(24)
    app = Door(_sessions(desk), settings.host, port, token)
    server = _Server(_config(app))
    for name in ("nicegui", "uvicorn.error"):
        logging.getLogger(name).addFilter(LogLimit())
    tasks = [asyncio.create_task(one) for one in (watch.run(), desk.run(), _prune())]
    if until_input_ends:
        tasks.append(asyncio.create_task(_until_orphaned(server)))
    signals = _until_signalled(server)
    say(address(settings, port, token))
    try:
        await server.serve(sockets=[listening])
    finally:
        for task in tasks:
            task.cancel()
        if desk.holder is not None:
            await desk.holder.vanish()  # no browser has given it back
        await watch.close()
    return 130 if signal.SIGINT in signals else 0


def address(settings: Settings, port: int, token: str | None) -> str:
    host = settings.host if settings.host not in ("0.0.0.0", "::", "") else socket.gethostname()
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{port}/" + ("" if token is None else f"?token={token}")


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        where = f"{settings.host}:{settings.port}"
        raise InputError(
            f"the page cannot be served at {where}: {error.strerror or error}; choose another with {settings.option}, 0 for any"
        ) from error
    listening.listen(BACKLOG)
    listening.setblocking(False)
    return listening


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        ws_max_size=LARGEST_MESSAGE,
        proxy_headers=False,  # an address in a header is the client's claim, and would stand in the cause of an e-stop
        server_header=False,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )


def _sessions(desk: Desk) -> Sessions:
    """Return the application behind the door."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    sessions = Sessions(app)

    @app.post("/estop")
    async def estop(request: Request) -> PlainTextResponse:
        """Trigger an e-stop, by every browser that may see the page, without its socket."""
        address = request.client.host if request.client is not None else "a browser"
        try:
            return PlainTextResponse(await desk.estop(f"the page, {address}"))
        except (NetworkError, PushrodError, TimeoutError) as error:
            return PlainTextResponse(str(error), 503)

    @ui.page("/", title=f"{desk.watch.robot} - Pushrod", reconnect_timeout=RECONNECT)
    async def page(client: Client) -> None:
        """Build the content when the socket is connected: a fetch alone creates an empty shell."""
        shell = text("Connecting to the dashboard", "pr-soft")
        if not await sessions.connected(client):
            return
        await desk.watch.settled()
        if not client.is_deleted:
            shell.delete()
            Page(desk, client)

    ui.add_css(STYLE, shared=True)
    nicegui_app.config.socket_io_js_transports = ["websocket"]
    nicegui_app.router.redirect_slashes = False
    nicegui_app.add_exception_handler(404, _missing)  # the handlers of NiceGUI would create a session for each
    nicegui_app.add_exception_handler(Exception, _failed)
    ui.run_with(
        app, tailwind=False, reconnect_timeout=RECONNECT, message_history_length=200, show_welcome_message=False, binding_refresh_interval=None
    )
    return sessions


async def _missing(request: Request, error: Exception) -> PlainTextResponse:
    return PlainTextResponse("No such page. The dashboard is at /.", 404)


async def _failed(request: Request, error: Exception) -> PlainTextResponse:
    return PlainTextResponse("Internal error of the dashboard; see its log.", 500)


async def _prune() -> None:
    """Delete pages without a socket whose builder does not wait for it any more."""
    while True:
        await asyncio.sleep(PRUNE)
        Client.prune_instances(client_age_threshold=WAIT + PRUNE)


def _until_signalled(server: uvicorn.Server) -> list[int]:
    """Gives where those that come are noted. Uvicorn takes signals too, and sends itself the same ones at its end: by its own they would end this
    process before it has taken its leave."""
    came: list[int] = []

    def note(number: int) -> None:
        came.append(number)
        server.should_exit = True

    handle_signals((signal.SIGINT, signal.SIGTERM), note)
    return came


async def _until_orphaned(server: uvicorn.Server) -> None:
    """Whoever started it holds the other end of its standard input."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    except (ValueError, OSError):
        return  # it has none
    while await reader.read(1024):
        pass
    server.should_exit = True
