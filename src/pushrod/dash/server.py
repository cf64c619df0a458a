"""The process of the page: watches one robot, and serves browsers until it is told to end."""

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

from pushrod.core.errors import InputError, NetworkError, PushrodError
from pushrod.dash.door import Door
from pushrod.dash.page import Page
from pushrod.dash.seat import Desk
from pushrod.dash.settings import Settings
from pushrod.dash.watch import SETTLING, Watch

log = logging.getLogger("pushrod.dash")
RECONNECT = 1.0  # [s] that a browser may be away and still go on with its page


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
    app = Door(_app(desk), settings.host, port, token)
    server = _Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=1))
    tasks = [asyncio.create_task(one) for one in (watch.run(), desk.run())]
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
    listening.listen(128)
    listening.setblocking(False)
    return listening


def _app(desk: Desk) -> Any:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @app.post("/estop")
    async def estop(request: Request) -> PlainTextResponse:
        """For whoever may see the page, without a socket of its own."""
        who = request.client.host if request.client is not None else "a browser"
        try:
            return PlainTextResponse(await desk.estop(f"the page, {who}"))
        except (NetworkError, PushrodError, TimeoutError) as error:
            return PlainTextResponse(str(error), 503)

    @ui.page("/", title=f"{desk.watch.robot} - Pushrod", reconnect_timeout=RECONNECT, response_timeout=SETTLING + 5.0)
    async def page(client: Client) -> None:
        await desk.watch.settled()
        Page(desk, client)

    ui.run_with(
        app, tailwind=False, reconnect_timeout=RECONNECT, message_history_length=200, show_welcome_message=False, binding_refresh_interval=None
    )
    return app


def _until_signalled(server: uvicorn.Server) -> list[int]:
    """Gives where those that come are noted. Uvicorn takes signals too, and sends itself the same ones at its end: by its own they would end this
    process before it has taken its leave."""
    came: list[int] = []

    def note(number: int) -> None:
        came.append(number)
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, note, number)
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
