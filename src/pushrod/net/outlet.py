"""One key that messages go out under, as long as anybody elsewhere listens to it."""

import threading
import time
from typing import Any

import zenoh
from zenoh.handlers import Callback

ASKED = 1.0  # [s] in which zenoh has told that somebody listens


class Outlet:
    """`wanted` while anybody elsewhere listens, and a while after somebody asked for the newest of it. `n` are sent so far."""

    __slots__ = ("_asked", "_listened", "_status", "lock", "n", "publisher")

    def __init__(self, session: zenoh.Session, name: str) -> None:
        self.lock = threading.Lock()
        self.n = 0
        self.publisher = session.declare_publisher(name, congestion_control=zenoh.CongestionControl.DROP, allowed_destination=zenoh.Locality.REMOTE)
        self._status = threading.Lock()  # not the one of sending: zenoh may report a change while a message is sent
        self._listened: bool | None = None  # not known yet
        self._asked = float("-inf")
        self.publisher.declare_matching_listener(Callback(self._matching, indirect=False))
        status: Any = self.publisher.matching_status
        with self._status:
            if self._listened is None:  # a change that was reported meanwhile is newer than this status
                self._listened = bool(status.matching)

    def _matching(self, status: Any) -> None:
        with self._status:
            self._listened = bool(status.matching)

    @property
    def wanted(self) -> bool:
        return bool(self._listened) or time.monotonic() < self._asked + ASKED

    def asked(self) -> None:
        """Whoever asks listens too, even if zenoh has not said so yet: what follows must not be missed."""
        self._asked = time.monotonic()
