"""The accept stage of a TLS listener: a process of its own that keeps connections without a handshake away from zenoh (`entrance_process.py`).

zenoh listens at two ports of 127.0.0.1 instead, one for addresses from which a client was let in before, so that failed handshakes of other addresses
do not delay those. The process is restarted if it ends; its listening sockets stay open meanwhile.
"""

import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pushrod.core.errors import NetworkError
from pushrod.core.forked import close_in_children
from pushrod.net import entrance_process

log = logging.getLogger("pushrod.net")
BACKLOG = 4096
AGAIN = 1.0  # [s] before a process that ended is started again
LOOPBACK = "127.0.0.1"


class Entrance:
    """Takes the connections of tls/ endpoints from `start` on. `backends` are the endpoints for zenoh to listen at."""

    def __init__(self, endpoints: tuple[str, ...]) -> None:
        self.backends: list[str] = []
        self._listeners: list[tuple[socket.socket, list[list[Any]]]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._closing = threading.Event()
        self._watching: threading.Thread | None = None
        self._registrations: list[Callable[[], object]] = []  # of what forked children close
        try:
            for end in endpoints:
                self._open(end)
        except OSError as error:
            self.close()
            what = f"cannot listen at {end}: {error.strerror or error}"
            raise NetworkError(f"{what}; see whether another program does, or choose another endpoint") from error

    def start(self) -> None:
        """Begin to take connections, now that zenoh listens."""
        self._process = self._started()
        self._watching = threading.Thread(target=self._watch, name="pushrod net entrance", daemon=True)
        self._watching.start()

    def let_in(self, peer: str) -> None:
        """Report a link that zenoh has opened, by the endpoint of its other end: that of the accept stage. Never waits."""
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError, ValueError):  # it has ended, or takes no more
                os.write(process.stdin.fileno(), peer.rpartition(":")[2].encode() + b"\n")

    def close(self) -> None:
        self._closing.set()
        for cancel in self._registrations:
            cancel()
        if self._process is not None:
            _end(self._process)
        if self._watching is not None:
            self._watching.join(2.0)
        for sock, _ in self._listeners:
            sock.close()

    def _open(self, end: str) -> None:
        _, _, address = end.partition("/")
        place, mark, options = address.partition("#")
        host, _, port = place.partition("?")[0].rpartition(":")
        kind, _, _, _, bound = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.socket(kind, socket.SOCK_STREAM)
        self._listeners.append((sock, ports := [[LOOPBACK, _free_port()] for _ in range(2)]))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(bound)
        sock.listen(BACKLOG)
        self._registrations.append(close_in_children(sock.fileno()))
        self.backends += [f"tls/{LOOPBACK}:{port}{mark}{options}" for _, port in ports]

    def _started(self) -> "subprocess.Popen[bytes]":
        listeners = [(sock.fileno(), ports) for sock, ports in self._listeners]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(entrance_process.__file__)), json.dumps({"parent": os.getpid(), "listeners": listeners})],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[descriptor for descriptor, _ in listeners],
            start_new_session=True,  # Ctrl-C at the terminal is for the host, which disarms first
        )
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        self._registrations.append(close_in_children(process.stdin.fileno()))
        return process

    def _watch(self) -> None:
        while not self._closing.is_set():
            assert self._process is not None
            code = self._process.wait()
            if self._closing.is_set():
                return
            log.error("the accept stage has ended with exit code %s: connections over TLS are lost; it is restarted", code)
            _end(self._process)
            with suppress(OSError):
                self._process = self._started()
            self._closing.wait(AGAIN)
        if self._process is not None:
            _end(self._process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:
        process.kill()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind((LOOPBACK, 0))
        return int(sock.getsockname()[1])
