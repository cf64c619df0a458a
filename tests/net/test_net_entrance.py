"""The accept stage of a TLS listener: connections without a handshake keep no operator out, and disturb none that is connected."""

import asyncio
import os
import signal
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from certificates import Authority
from net_rig import HostProcess, free_port
from waiting import until

from pushrod.core.errors import NetworkError
from pushrod.core.running import is_running
from pushrod.net import Access, Link, Session, Tls, connect, router
from pushrod.net.entrance_process import MOST, SILENT, is_client_hello
from pushrod.runtime import Clamped
from pushrod.runtime.payload import Trajectory, Waypoint

pytestmark = [pytest.mark.on_time]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def host(authority):
    with HostProcess(endpoint=f"tls/127.0.0.1:{free_port()}", tls=authority.issue("arm"), access={"command": ["ann"]}) as process:
        yield process


def client_hello() -> bytes:
    out = ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    with suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return out.read()


@contextmanager
def connections(host: HostProcess, count: int, first: bytes = b"", source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    port, held = int(host.endpoint.rpartition(":")[2]), []
    try:
        for _ in range(count):
            held.append(socket.socket())
            held[-1].bind((source, 0))
            held[-1].setblocking(False)
            held[-1].connect_ex(("127.0.0.1", port))
        time.sleep(0.2)
        for s in held if first else []:
            with suppress(OSError):
                s.send(first)
        yield held
    finally:
        for s in held:
            s.close()


def connect_time(host: HostProcess, authority: Authority) -> float:
    start = time.monotonic()
    Session(Link(connect=host.endpoint, tls=Tls(**authority.issue("ann")), patience=20.0)).close()
    return time.monotonic() - start


def stage(host: HostProcess) -> int:
    """Return the process of the accept stage."""
    children = Path(f"/proc/{host.process.pid}/task").glob("*/children")
    return next(int(pid) for file in children for pid in file.read_text().split() if "entrance" in Path(f"/proc/{pid}/cmdline").read_text())


@pytest.mark.parametrize(("first", "source"), [("silent", "127.0.0.1"), ("hello", "127.0.0.2"), ("noise", "127.0.0.1")])
def test_newcomers_get_in_and_operators_stop_the_robot_while_connections_flood_in(host, authority, first, source):
    async def main() -> None:
        async with await connect("arm", Link(connect=host.endpoint, tls=Tls(**authority.issue("ann")))) as ann:
            data = {"silent": b"", "hello": client_hello(), "noise": os.urandom(300)}[first]
            for _ in range(2):
                with connections(host, 600, data, source):
                    assert await asyncio.to_thread(connect_time, host, authority) < 5.0
                    start = time.monotonic()
                    assert (await ann.estop("flooded")).ok
                    assert time.monotonic() - start < 1.0
                    assert (await ann.reset()).ok
                    assert (await ann.arm()).ok
                assert await asyncio.to_thread(connect_time, host, authority) < 5.0, "right after they have gone"
            assert ann.alive
            assert (await ann.disarm()).ok

    asyncio.run(main())


def test_a_silent_connection_is_closed_and_only_so_many_are_held(host, authority):
    with connections(host, MOST[SILENT] + 100) as held:
        until(lambda: len(os.listdir(f"/proc/{stage(host)}/fd")) >= MOST[SILENT])
        assert len(os.listdir(f"/proc/{stage(host)}/fd")) < MOST[SILENT] + 50
        start = time.monotonic()
        until(lambda: _is_closed(held[-1]), 10.0)
        assert time.monotonic() - start < 5.0
    assert len(os.listdir(f"/proc/{host.process.pid}/fd")) < 200


def test_many_connections_that_end_at_once_are_no_failures(host, authority):
    """More than the failed handshakes that an address may have."""
    for _ in range(40):
        assert connect_time(host, authority) < 5.0


def test_an_address_whose_handshakes_fail_is_held_off_and_others_get_in(host, authority):
    with connections(host, 100, client_hello() + os.urandom(100), "127.0.0.3"):
        time.sleep(1.0)
        assert connect_time(host, authority) < 5.0
    with connections(host, 100, client_hello(), "127.0.0.3"):
        time.sleep(0.5)
        assert connect_time(host, authority) < 5.0


def test_much_data_passes_both_ways_unchanged(host, authority):
    async def main() -> None:
        async with await connect("arm", Link(connect=host.endpoint, tls=Tls(**authority.issue("ann")))) as ann:
            for size in (1, 1000, 60_000):
                with pytest.raises(LookupError) as refusal:  # it repeats the request
                    await ann.request("elbow_motor", "x" * size, timeout=20.0)
                assert str(refusal.value).endswith(repr("x" * size))
            asked = Trajectory(tuple(Waypoint(1000.0 + k, 0.01 * (k + 1)) for k in range(30_000)))  # 1.7 MB
            (result,) = await ann.send([("shoulder_motor", asked)], timeout=20.0)
            assert isinstance(result, Clamped)  # it repeats the command, beside what became of it
            assert result.asked == asked
            assert {point.position for point in result.done.waypoints} == {100.0}
            assert (await ann["shoulder_motor"].sync.stop()).ok

    asyncio.run(main())


def test_a_stage_that_dies_is_started_again(host, authority):
    before = stage(host)
    os.kill(before, signal.SIGKILL)
    until(lambda: "the accept stage has ended with exit code -9" in host.log)
    assert connect_time(host, authority) < 10.0
    assert stage(host) != before


def test_the_stage_ends_with_the_host(authority):
    with HostProcess(endpoint=f"tls/127.0.0.1:{free_port()}", tls=authority.issue("arm"), access={"command": ["ann"]}) as host:
        pid = stage(host)
        host.process.kill()
        until(lambda: not is_running(pid))


def test_a_forked_child_does_not_keep_the_port(authority):
    end = f"tls/127.0.0.1:{free_port()}"
    link = Link(end, tls=Tls(**authority.issue("meet")), access=Access(("ann",)))
    with router(link):
        child = os.fork()
        if child == 0:
            signal.pause()
    try:
        router(link).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_port_that_is_taken_is_reported(authority):
    end = f"tls/127.0.0.1:{free_port()}"
    link = Link(end, tls=Tls(**authority.issue("meet")), access=Access(("ann",)))
    with router(link), pytest.raises(NetworkError, match=f"cannot listen at {end}: .*choose another endpoint"):
        router(link)
    with router(link):
        assert Session(Link(connect=end, tls=Tls(**authority.issue("ann")))).close() is None


def test_the_beginning_of_a_handshake_is_told_from_other_bytes():
    hello = client_hello()
    assert is_client_hello(hello) is True
    assert is_client_hello(hello + b"more") is True
    assert [is_client_hello(hello[:n]) for n in (0, 1, 2, 5, 6, 100)] == [None] * 6
    assert is_client_hello(b"GET / HTTP/1.1\r\n") is False
    assert is_client_hello(b"\x16\x03\x01\xff\xff\x01") is False
    assert is_client_hello(b"\x16\x03\x01\x00\x10\x02" + bytes(16)) is False


def _is_closed(s: socket.socket) -> bool:
    try:
        return s.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
