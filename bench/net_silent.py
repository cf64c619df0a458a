"""Time for an operator to connect over TLS while others fill the listener with connections, and right after they have gone.

    python bench/net_silent.py [COUNT ...]     0, 400 and 2000 connections if left out

Silent connections send nothing. Those that begin come from another address and send the first record of a handshake, which never ends; a newcomer
connects from 127.0.0.1 in both cases. Of newcomers that connect twice a second for 15 s the slowest counts. An operator that is connected already
measures its e-stop and a command meanwhile.
"""

import asyncio
import resource
import socket
import ssl
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "net")]

from certificates import Authority
from net_rig import HostProcess, free_port

from pushrod.core.errors import NetworkError
from pushrod.net import Link, Session, Tls, connect

LONGEST = 60.0  # [s] after which a newcomer gives up
LASTS = 15.0  # [s]


def newcomer(end: str, tls: Tls) -> float:
    """Return the time until the session is open; infinite where it is not within LONGEST."""
    start = time.monotonic()
    while time.monotonic() < start + LONGEST:
        with suppress(NetworkError):
            Session(Link(connect=end, tls=tls, patience=5.0)).close()
            return time.monotonic() - start
    return float("inf")


def opened(port: int, count: int, begin: bytes) -> list[socket.socket]:
    held = []
    for _ in range(count):
        s = socket.socket()
        if begin:
            s.bind(("127.0.0.2", 0))
        s.setblocking(False)
        with suppress(BlockingIOError):
            s.connect(("127.0.0.1", port))
        held.append(s)
    time.sleep(0.2)
    for s in held if begin else []:
        with suppress(OSError):
            s.send(begin)
    return held


def client_hello() -> bytes:
    out = ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    with suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return out.read()


def slowest(end: str, tls: Tls, seconds: float) -> float:
    until, worst = time.monotonic() + seconds, 0.0
    while time.monotonic() < until:
        worst = max(worst, newcomer(end, tls))
        time.sleep(0.5)
    return worst


async def measure(counts: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder) / "ca")
        port = free_port()
        ann, host_files = Tls(**authority.issue("ann")), authority.issue("arm")
        print(f"{'connections':>16} {'connect during [s]':>20} {'connect after [s]':>20} {'e-stop [ms]':>12} {'command p50 [ms]':>17} {'p99':>6}")
        for count, begin in [(n, first) for n in counts for first in ((b"", client_hello()) if n else (b"",))]:
            with HostProcess(endpoint=f"tls/127.0.0.1:{port}", tls=host_files, access={"command": ["ann"]}) as host:
                async with await connect("arm", Link(connect=host.endpoint, tls=ann)) as remote:
                    held = opened(port, count, begin)
                    took = []
                    for _ in range(500):
                        start = time.monotonic()
                        assert (await remote["elbow_motor"].sync.hold()).ok
                        took.append(time.monotonic() - start)
                    start = time.monotonic()
                    assert (await remote.estop("bench")).ok
                    stop = time.monotonic() - start
                    during = await asyncio.to_thread(slowest, host.endpoint, ann, LASTS)
                    for s in held:
                        s.close()
                    held = opened(port, count, begin)
                    for s in held:
                        s.close()
                    after = await asyncio.to_thread(newcomer, host.endpoint, ann)
            took.sort()
            what = f"{count} {'begun' if begin else 'silent'}"
            print(f"{what:>16} {during:20.2f} {after:20.2f} {stop * 1e3:12.1f} {took[250] * 1e3:17.2f} {took[495] * 1e3:6.2f}", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    asyncio.run(measure([int(x) for x in sys.argv[1:]] or [0, 400, 2000]))
