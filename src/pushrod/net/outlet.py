"""One key that messages go out under, as long as anybody elsewhere listens to it."""

import threading
import time
from typing import Any

import zenoh
from zenoh.handlers import Callback

ASKED = 1.0  # [s] in which zenoh has told that somebody listens


class Outlet:
    """`wanted` while anybody elsewhere listens, and a while after somebody asked for the newest of it. `n` are sent so far."""

    __slots__ = ("_asked", "_listened", "lock", "n", "publisher")

    def __init__(self, session: zenoh.Session, name: str) -> None:
        self.lock = threading.Lock()
        self.n = 0
        self.publisher = session.declare_publisher(name, congestion_control=zenoh.CongestionControl.DROP, allowed_destination=zenoh.Locality.REMOTE)
        self._listened = False
        self._asked = float("-inf")
        self.publisher.declare_matching_listener(Callback(self._matching, indirect=False))
        self._matching(self.publisher.matching_status)

    def _matching(self, status: Any) -> None:
        self._listened = bool(status.matching)

    @property
    def wanted(self) -> bool:
        return self._listened or time.monotonic() < self._asked + ASKED

    def asked(self) -> None:
        """Whoever asks listens too, even if zenoh has not said so yet: what follows must not be missed."""
        self._asked = time.monotonic()
