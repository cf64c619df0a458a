"""For those who only look on: of what comes again and again the newest, fifty times a second; of all else every one, at once.

A page or a terminal shows no more, and whoever publishes a thousand times a second has nothing to pack for it: it leaves the newest here and goes on,
and a thread of its own sends it, in the gaps between the calls of control loops (`gaps`).
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from pushrod.core.record import is_record
from pushrod.net.outlet import Outlet
from pushrod.runtime.gaps import Gaps
from pushrod.runtime.message import EndMotion, Message, Outcome
from pushrod.runtime.payload import Hold, Stop
from pushrod.runtime.result import Refused

EVERY = 0.02  # [s]


def stream(message: Message) -> Any:
    """Messages of one outlet with the same answer make a stream, of which the newest says all; None of what must be told each.

    A type says so itself, `newest = True`; a record is what a controller has computed last.
    """
    payload = message.payload
    kind = type(payload)
    if kind is Outcome:
        if type(payload.command.payload) in (Stop, Hold):
            return None
        result = payload.result
        return type(result), result.reason if isinstance(result, Refused) else "", payload.command.source
    if kind is EndMotion:
        return kind, payload.reason
    return kind if getattr(kind, "newest", False) or is_record(kind) else None


class Glance:
    def __init__(self, send: Callable[[Outlet, Message], None]) -> None:
        self._send = send
        self.gaps = Gaps(lambda: ())  # of a bus that serves no runtime: at once
        self._newest: dict[tuple[Outlet, Any], Message] = {}
        self._lock = threading.Lock()
        self._some = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, outlet: Outlet, message: Message) -> None:
        which = stream(message)
        if which is None:
            self._send(outlet, message)
            return
        try:
            self.start()
        except RuntimeError:  # no thread can be started: the publisher sends it itself
            self._send(outlet, message)
            return
        with self._lock:
            self._newest[outlet, which] = message
        self._some.set()

    def start(self) -> None:
        """Start the thread, as the first message would. RuntimeError where the system has no room for a thread."""
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None and not self._closed.is_set():
                thread = threading.Thread(target=self._run, name="pushrod net glance", daemon=True)
                thread.start()
                self._thread = thread

    def close(self) -> None:
        self._closed.set()
        self._some.set()
        if self._thread is not None:
            self._thread.join(1.0)

    def _run(self) -> None:
        while not self._closed.is_set():
            self._some.wait()
            self._some.clear()
            with self._lock:
                newest, self._newest = self._newest, {}
            until = self.gaps.wait()
            for (outlet, _), message in newest.items():
                if time.monotonic_ns() >= until:
                    until = self.gaps.wait()
                self._send(outlet, message)
            self.gaps.wait(EVERY)
