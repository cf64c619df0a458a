"""A session of zenoh that is always closed: one that is left open with a callback keeps the interpreter from ending."""

import atexit
import json
import logging
import threading
import time
from typing import Any

import zenoh

from pushrod.core.errors import NetworkError
from pushrod.net.link import Link

log = logging.getLogger("pushrod.net")
QUIET = 10.0  # [s] between two lines in the log about one who comes again and again
_open: dict[int, "Session"] = {}
_opening = threading.Lock()


class Session:
    """`zenoh` is the session itself."""

    def __init__(self, link: Link, router: bool = False) -> None:
        self.link = link
        if link.tls is not None:
            link.tls.check(link.listen)
        if link.tls is not None and link.listen:
            zenoh.init_log_from_env_or("zenoh_link_tls=warn")  # who is turned away before there is a link, only zenoh sees
        config = zenoh.Config()
        for path, value in link.config(router).items():
            config.insert_json5(path, json.dumps(value))
        try:
            self.zenoh = zenoh.open(config)
        except zenoh.ZError as error:
            raise NetworkError(_why(link, error)) from error
        with _opening:
            _open[id(self)] = self
        if link.access is not None and link.names_are_proven:
            self._watch_names(link)

    def close(self) -> None:
        with _opening:
            if _open.pop(id(self), None) is None:
                return
        try:
            self.zenoh.close()  # type: ignore[no-untyped-call]
        except zenoh.ZError as error:
            log.warning("the network was left before all of it had ended: %s", str(error).partition(" at /")[0])

    @property
    def closed(self) -> bool:
        return id(self) not in _open

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _watch_names(self, link: Link) -> None:
        """Tell in the log who comes with a certificate that is on no list: zenoh lets it in and hears nothing of what it says."""
        assert link.access is not None
        known = frozenset(link.access.names)
        said: dict[str, tuple[float, int]] = {}  # by name: when it was last told, and how often it came since

        def told(event: Any) -> None:
            name = event.link.auth_identifier
            if event.kind != zenoh.SampleKind.PUT or name in known:
                return
            now = time.monotonic()
            last, n = said.get(name, (float("-inf"), 0))
            if now < last + QUIET:
                said[name] = (last, n + 1)
                return
            said[name] = (now, 0)
            who = f"the certificate of {name!r}" if name else "somebody without a certificate"
            again = f" (it came {n} times more in the last {now - last:.0f} s)" if n else ""
            log.warning("%s at %s is on no access list: it sees and commands nothing%s", who, event.link.dst, again)

        self.zenoh.info.declare_link_events_listener(zenoh.handlers.Callback(told, indirect=False), history=True)


def router(link: Link) -> Session:
    """A meeting point: who connects to it reaches all others that do. Close it, or use it as a context."""
    return Session(link, router=True)


def _why(link: Link, error: Exception) -> str:
    text = str(error).partition(" at /")[0]
    if link.listen and ("listen" in text.lower() or "bind" in text.lower() or "Address already in use" in text):
        return f"cannot listen at {', '.join(link.listen)}: {text}; see whether another program does, or choose another endpoint"
    if link.connect:
        hint = "; with tls/, see whether this certificate, that of the other end and the name in it are signed by one authority" if link.tls else ""
        return f"nobody answers at {', '.join(link.connect)} within {link.patience:g} s; see whether the host runs and listens there{hint} ({text})"
    return f"the network cannot be opened: {text}"


@atexit.register
def _close_all() -> None:
    for session in list(_open.values()):
        session.close()
