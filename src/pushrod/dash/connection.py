"""One HTTP connection, with a time limit for the head of each request, another for a client that reads none of its response, and bounds on the
connections that send no request and on all of them.

Uvicorn limits the time between two requests only. Without these bounds, connections that send nothing or a byte now and then, or do not read, stay
open and use up the file descriptors and the memory that an e-stop needs.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIMEOUT = 5.0  # [s] from the first byte of a request, or from the start of the connection, to the end of its head
LARGEST_HEAD = 16_384  # bytes
IDLE = 64  # connections without a request; the oldest is closed for a new one
MOST = 256  # connections; the one that has delivered nothing for longest is closed for a new one
STALLED = 10.0  # [s] in which a client takes some of what it is sent
WATCH = 1.0  # [s] between two looks at what has been delivered
BACKLOG = 128  # connections that are accepted in one go, before any of them is counted
LARGEST_MESSAGE = 65_536  # bytes of a websocket message from a browser, uncompressed


class Connection(H11Protocol):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: asyncio.TimerHandle | None = None
        self.idle_since = 0.0  # [s] on the clock of the loop
        self.progress = 0.0  # [s] when it last delivered something, or began
        self.is_aborted = False
        self._unsent = 0  # bytes, at the last look

    @property
    def is_idle(self) -> bool:
        """Whether no request is being served; a websocket has a protocol of its own."""
        return self.transport.get_protocol() is self and (self.cycle is None or self.cycle.response_complete)

    @property
    def rank(self) -> tuple[bool, float]:
        """The least is closed first. A request that the application works on, which may be an e-stop, is the last."""
        is_served = not self.is_idle and not self.transport.get_write_buffer_size()
        return is_served, self.progress

    def abort(self) -> None:
        self.is_aborted = True
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        others = [one for one in self.connections if isinstance(one, Connection) and not one.is_aborted]
        idle = [one for one in others if one.is_idle and not one.transport.is_closing()]
        if len(idle) >= IDLE:
            min(idle, key=lambda one: one.idle_since).abort()
        elif len(others) >= MOST:
            min(others, key=lambda one: one.rank).abort()
        super().connection_made(transport)
        self._start()
        self.progress = self.loop.time()
        self.loop.call_later(WATCH, self._watch)

    def resume_writing(self) -> None:
        self.progress = self.loop.time()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_idle:
            self._stop()
        elif self._timer is None:
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        self.idle_since = self.loop.time()
        self._timer = self.loop.call_later(HEAD_TIMEOUT, self._expire)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        if self.is_idle:
            self.transport.close()

    def _watch(self) -> None:
        """Look at what has been delivered, also while the connection closes, which waits for the client, and after it has become a websocket."""
        unsent, now = self.transport.get_write_buffer_size(), self.loop.time()
        if not unsent or unsent < self._unsent:
            self.progress = now
        self._unsent = unsent
        if now - self.progress >= STALLED:
            self.abort()
        elif unsent or not self.transport.is_closing():
            self.loop.call_later(WATCH, self._watch)
