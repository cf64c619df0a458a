"""Hosts in processes of their own, and a wire between them and the test that can be cut."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pushrod.net import Link
from pushrod.robot import Actuator, Joint, Limits, Parameter, Robot, Transmission, Watchdog
from pushrod.safety.watchdog import Reaction

HERE = Path(__file__).resolve().parent
LIMITS = Limits(-100.0, 100.0, velocity=5.0, acceleration=50.0, effort=10.0)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def arm(name: str = "arm", silence: float | None = None) -> Robot:
    dog = None if silence is None else Watchdog(silence, Reaction.RELEASE)
    return Robot(
        name,
        links=["base", "upper", "fore"],
        joints=[Joint("shoulder", "revolute", "base", "upper", limits=LIMITS), Joint("elbow", "revolute", "upper", "fore", limits=LIMITS)],
        actuators=[
            Actuator("shoulder_motor", "shoulder", transmission=Transmission(2.0), watchdog=dog),
            Actuator("elbow_motor", "elbow", limit_policy="reject"),
        ],
        parameters=[Parameter("speed", default=1.0, lo=0.1, hi=2.0, unit="rad/s")],
    )


class HostProcess:
    """`net_host.py` in a process of its own; `said` are its lines, each a JSON object with the time of the machine's monotonic clock."""

    def __init__(self, kind: str = "arm", *, port: int | None = None, endpoint: str = "", **options: Any) -> None:
        self.port = port or free_port()
        self.endpoint = endpoint or f"tcp/127.0.0.1:{self.port}"
        self.said: list[dict[str, Any]] = []
        self.log = ""
        self._came = threading.Condition()
        told = json.dumps({"kind": kind, **({} if "connect" in options else {"listen": self.endpoint}), **options})
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(HERE), *sys.path))}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "net_host.py"), told], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
        )
        for read in (self._read_said, self._read_log):
            threading.Thread(target=read, daemon=True).start()
        self.wait_for("ready")

    def __enter__(self) -> "HostProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.signal(signal.SIGCONT)
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(10.0)
        finally:
            self.process.kill()

    def link(self, port: int | None = None, **more: Any) -> Link:
        return Link(connect=f"tcp/127.0.0.1:{port}" if port else self.endpoint, **more)

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    def wait_for(self, what: str, timeout: float = 20.0, after: float = 0.0) -> dict[str, Any]:
        """The first thing it says of this, after a time."""

        def found() -> dict[str, Any] | None:
            return next((line for line in self.said if line["what"] == what and line["time"] >= after), None)

        with self._came:
            if not self._came.wait_for(lambda: found() is not None or self.process.poll() is not None, timeout) or found() is None:
                raise AssertionError(f"the host has not said {what!r} within {timeout} s; it said {self.said[-5:]}, and in its log: {self.log}")
            line = found()
            assert line is not None
            return line

    def _read_said(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._came:
                if line.startswith("{"):
                    self.said.append(json.loads(line))
                else:
                    self.log += line
                self._came.notify_all()
        with self._came:
            self._came.notify_all()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line


class Wire:
    """A connection that can be cut: `cut` tears it off, `hush` lets nothing through any more and tells nobody, `mend` repairs it."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._open = True
        self._hushed = False
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._ended = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self.cut()
        self._listener.close()

    def cut(self) -> float:
        """The time it was cut at, of the machine's monotonic clock."""
        self._open = False
        now = time.monotonic()
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
                    end.close()
        return now

    def hush(self) -> float:
        self._hushed = True
        return time.monotonic()

    def mend(self) -> None:
        if self._hushed:
            self.cut()
        self._hushed, self._open = False, True

    def _accept(self) -> None:
        while not self._ended:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._open or self._hushed:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                near.close()
                continue
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.append((near, far))
            threading.Thread(target=self._carry, args=(near, far), daemon=True).start()

    def _carry(self, near: socket.socket, far: socket.socket) -> None:
        other = {near: far, far: near}
        with suppress(OSError, ValueError):
            while True:
                ready, _, _ = select.select((near, far), (), (), 0.1)
                for end in ready:
                    data = end.recv(65536)
                    if not data:
                        raise OSError("closed")
                    if not self._hushed:
                        other[end].sendall(data)
        for end in (near, far):
            with suppress(OSError):
                end.close()
