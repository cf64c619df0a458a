"""A session of zenoh that is always closed: one that is left open with a callback keeps the interpreter from ending."""

import atexit
import ctypes
import json
import logging
import os
import re
import socket
import stat
import threading
import time
from contextlib import suppress
from typing import Any

import zenoh

from pushrod.core.errors import NetworkError
from pushrod.core.forked import close_in_children
from pushrod.net.bounded import remember
from pushrod.net.entrance import Entrance
from pushrod.net.link import Link

log = logging.getLogger("pushrod.net")
NAMES = 1024  # certificates on no list that are told apart in the log
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
        secured = tuple(end for end in link.listen if end.startswith("tls/"))
        self._entrance = Entrance(secured) if secured else None
        settings = link.config(router)
        if self._entrance is not None:
            settings["listen/endpoints"] = [*(end for end in link.listen if end not in secured), *self._entrance.backends]
        config = zenoh.Config()
        for path, value in settings.items():
            config.insert_json5(path, json.dumps(value))
        before = _descriptors()
        try:
            self.zenoh = zenoh.open(config)
        except zenoh.ZError as error:
            if self._entrance is not None:
                self._entrance.close()
            raise NetworkError(_why(link, error)) from error
        self._registrations = [close_in_children(descriptor) for descriptor in _descriptors() - before if _is_listening(descriptor)]
        if self._entrance is not None:
            self._report_links(self._entrance)
            self._entrance.start()
        with _opening:
            _open[id(self)] = self
        if link.access is not None and link.names_are_proven:
            self._watch_names(link)

    def close(self) -> None:
        with _opening:
            if _open.pop(id(self), None) is None:
                return
        for cancel in self._registrations:
            cancel()
        try:
            self.zenoh.close()  # type: ignore[no-untyped-call]
        except zenoh.ZError as error:
            log.warning("the network was left before all of it had ended: %s", str(error).partition(" at /")[0])
        finally:  # after the last messages have passed it
            if self._entrance is not None:
                self._entrance.close()

    @property
    def closed(self) -> bool:
        return id(self) not in _open

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _report_links(self, entrance: Entrance) -> None:
        def opened(event: Any) -> None:
            if event.kind == zenoh.SampleKind.PUT:
                entrance.let_in(str(event.link.dst))

        self.zenoh.info.declare_link_events_listener(zenoh.handlers.Callback(opened, indirect=False), history=True)

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
                remember(said, name, (last, n + 1), NAMES)
                return
            remember(said, name, (now, 0), NAMES)
            who = f"the certificate of {name!r}" if name else "somebody without a certificate"
            again = f" (it came {n} times more in the last {now - last:.0f} s)" if n else ""
            log.warning("%s at %s is on no access list: it sees and commands nothing%s", who, event.link.dst, again)

        self.zenoh.info.declare_link_events_listener(zenoh.handlers.Callback(told, indirect=False), history=True)


def _descriptors() -> set[int]:
    """Those of this process, where the system lists them."""
    return {int(name) for name in os.listdir("/proc/self/fd")} if os.path.isdir("/proc/self/fd") else set()


def _is_listening(descriptor: int) -> bool:
    """Whether it is a socket that listens, or the lock beside its path: zenoh keeps both to itself."""
    with suppress(OSError):  # the list itself was read by one that is closed
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return os.readlink(f"/proc/self/fd/{descriptor}").endswith(".lock")
        with socket.socket(fileno=os.dup(descriptor)) as opened:
            return opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    return False


def router(link: Link) -> Session:
    """A meeting point: who connects to it reaches all others that do. Close it, or use it as a context."""
    return Session(link, router=True)


def _why(link: Link, error: Exception) -> str:
    text = str(error).partition(" at /")[0]
    log.debug("zenoh: %s", text)
    number = re.search(r"os error (\d+)", text)
    reason = f" ({os.strerror(int(number[1]))})" if number else ""
    if link.listen and ("listen" in text.lower() or "bind" in text.lower() or "Address already in use" in text):
        return f"cannot listen at {', '.join(link.listen)}{reason}. Check whether another program does, or choose another endpoint"
    if link.connect:
        hint = ", and that both certificates are signed by one authority and that of the host has its name" if link.tls else ""
        return f"no answer at {', '.join(link.connect)} within {link.patience:g} s. Check that the host is running and listens there{hint}{reason}"
    return f"the network cannot be opened: {text}"


@atexit.register
def _close_all() -> None:
    for session in list(_open.values()):
        session.close()


def _fork() -> None:
    """Leave the sessions of the parent: a forked child has none of zenoh's threads, and to close or drop one there would wait for them forever."""
    for session in _open.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session.zenoh))  # it outlives the interpreter
    _open.clear()


os.register_at_fork(after_in_child=_fork)
