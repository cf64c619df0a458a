"""Sessions of browsers: nothing is kept for a fetched page, sessions are bounded, and a session that ends leaves nothing behind."""

import asyncio
import re
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import socketio
from dash_rig import Served, until
from page_socket import count, fetch, page_socket, resident

from pushrod.dash.connection import HEAD_TIMEOUT, IDLE, LARGEST_HEAD, LARGEST_MESSAGE, MOST
from pushrod.dash.plots import PLOTS
from pushrod.dash.request_limit import BODY_TIMEOUT, LARGEST_BODY
from pushrod.dash.sessions import FETCHES, SOCKETS_PER_ADDRESS
from pushrod.net import Link, connect


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    one = Served("arm", "--guard-limit", "5 s", "--dash-port", "0", "--no-log", state=str(folder))
    one.link = Link(connect=f"unixsock-stream/{folder}/run/arm.sock")
    yield one
    one.close()


@pytest.mark.parametrize("path", ["/", "/nowhere", "/_nicegui/nowhere", "/estop"])
def test_fetches_leave_no_memory(served, path):
    for _ in range(30):
        fetch(served.url, path)
    before = resident(served.page)
    for _ in range(300):
        assert fetch(served.url, path)[0] == (200 if path == "/" else 404)
    assert resident(served.page) - before < 15.0  # was 1100 MB


def test_sessions_that_end_leave_nothing(served):
    async def cycle(n):
        for _ in range(n):
            async with page_socket(served.url) as page:
                await page.built()

    asyncio.run(cycle(60))  # by then the event loop has all its worker threads, which it starts one by one
    time.sleep(2.0)
    before = resident(served.page), count(served.page, "task"), count(served.page, "fd")
    asyncio.run(cycle(40))
    time.sleep(2.0)
    assert resident(served.page) - before[0] < 15.0
    assert count(served.page, "task") <= before[1] + 1  # a worker thread of the event loop may have been added
    assert count(served.page, "fd") <= before[2] + 1


def test_the_connection_of_an_operator_ends_with_its_socket(served):
    async def operators():
        async with await connect("arm", served.link, operator="test") as arm:
            return [name for name in (await arm.overview()).operators if name.startswith("dash/") and "-" in name]

    async def cycle(n):
        for _ in range(n):
            async with page_socket(served.url) as page:
                await page.built()
                assert await operators() == []  # a page alone is no operator
                await page.send(page.button("Take control"), "click", {})
                end = time.monotonic() + 10.0
                while not await operators():
                    assert time.monotonic() < end, "no control was taken"
            end = time.monotonic() + 10.0
            while await operators():
                assert time.monotonic() < end, "the operator is still connected"

    asyncio.run(cycle(3))
    time.sleep(2.0)
    before = resident(served.page), count(served.page, "task"), count(served.page, "fd")
    asyncio.run(cycle(8))
    time.sleep(2.0)
    assert resident(served.page) - before[0] < 25.0
    assert count(served.page, "task") <= before[1] + 1
    assert count(served.page, "fd") <= before[2] + 1


def test_events_of_a_page_without_control_command_nothing(served):
    """A forged event of every element, except for those that every viewer may use."""
    allowed = ("Take control", "Disarm", "Stop", "Stop now", "Add plot")

    async def forge():
        async with await connect("arm", served.link, operator="test") as arm, page_socket(served.url) as page:
            await page.built()
            path = "/".join(arm.description.actuators[0].path)
            assert await arm[path].take_lease()
            assert (await arm.arm()).ok
            before = [one.acted for one in (await arm.overview()).actuators]
            parameters = await arm.parameters.list()
            for argument in (0.3, "1 0.5; 2 0", {"from": 0, "to": 1e15}, [], None, float("1e308")):
                for key, element in list(page.elements.items()):
                    if element.get("props", {}).get("label") not in allowed:
                        for kind in {listener["type"] for listener in element.get("events", [])}:
                            await page.send(key, kind, argument)
            await asyncio.sleep(1.0)
            assert arm.state == "armed"
            overview = await arm.overview()
            assert [one.acted for one in overview.actuators] == before
            assert [name for name in overview.operators if "-" in name] == []
            assert await arm.parameters.list() == parameters
            assert page.socket.connected
            await arm.disarm()

    asyncio.run(forge())


def test_plots_of_a_page_are_bounded(served):
    async def add():
        async with page_socket(served.url) as page:
            await page.built()
            button, before = page.button("Add plot"), resident(served.page)
            for _ in range(300):
                await page.send(button, "click", {})
            await asyncio.sleep(2.0)
            plots = sum("Remove plot" in str(one.get("props", {})) for one in page.elements.values())
            return plots, resident(served.page) - before

    plots, grown = asyncio.run(add())
    assert plots == PLOTS
    assert grown < 30.0


def test_sockets_are_bounded_and_an_e_stop_passes(served):
    async def fill():
        async with await connect("arm", served.link, operator="test") as arm:
            pages = [page_socket(served.url) for _ in range(SOCKETS_PER_ADDRESS)]
            for page in pages:
                await page.__aenter__()
            status, headers, body = await asyncio.to_thread(fetch, served.url)
            assert (status, headers["retry-after"]) == (503, "2")
            assert f"{SOCKETS_PER_ADDRESS} from 127.0.0.1" in body
            with pytest.raises(socketio.exceptions.ConnectionError):
                await socketio.AsyncClient(reconnection=False).connect(
                    served.url, headers={"Origin": served.url.rstrip("/")}, transports=["websocket"], socketio_path="/_nicegui_ws/socket.io"
                )
            assert (await asyncio.to_thread(fetch, served.url, "/estop", "POST", origin=served.url.rstrip("/")))[0] == 200
            assert arm.state == "estopped"
            await arm.reset()
            for page in pages:
                await page.__aexit__(None, None, None)

    asyncio.run(fill())
    until(lambda: fetch(served.url)[0] == 200, what="a page after the sockets were closed")


def test_a_flood_of_fetches_does_not_keep_an_operator_out(served):
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            fetch(served.url)

    async def load():
        for _ in range(5):
            async with page_socket(served.url) as page:
                await page.built()

    with ThreadPoolExecutor(FETCHES) as apart:
        floods = [apart.submit(flood) for _ in range(FETCHES)]
        try:
            asyncio.run(load())
        finally:
            stop.set()
        for one in floods:
            one.result()


def test_a_large_message_ends_its_socket(served):
    async def send():
        async with page_socket(served.url) as page:
            await page.socket.emit("event", {"client_id": page.client_id, "id": 1, "args": ["x" * 2 * LARGEST_MESSAGE]})
            await asyncio.sleep(1.0)
            return page.socket.connected

    assert not asyncio.run(send())


def test_a_foreign_origin_or_host_opens_no_socket(served):
    async def open_socket(**headers):
        one = socketio.AsyncClient(reconnection=False)
        await one.connect(served.url, headers=headers, transports=["websocket"], socketio_path="/_nicegui_ws/socket.io")

    own = served.url.rstrip("/")
    for headers in ({"Origin": "http://evil.example"}, {"Origin": own, "Host": "evil.example"}, {}):
        with pytest.raises(socketio.exceptions.ConnectionError):
            asyncio.run(open_socket(**headers))


def exchange(url, pieces, pause=0.0, patience=15.0):
    """Send pieces over a plain connection; return what was answered, and when the connection ended [s]."""
    parts = urlsplit(url)
    start = time.monotonic()
    with socket.create_connection((parts.hostname, parts.port), timeout=patience) as plain:
        received = b""
        try:
            for piece in pieces:
                plain.sendall(piece)
                if pause:
                    plain.settimeout(pause)
                    try:
                        if not (more := plain.recv(4096)):
                            return received, time.monotonic() - start
                        received += more
                    except TimeoutError:
                        pass
            plain.settimeout(patience)
            while more := plain.recv(4096):
                received += more
        except ConnectionError:
            pass  # closed while more was sent
        return received, time.monotonic() - start


def head(url, *headers):
    parts = urlsplit(url)
    host = f"{parts.hostname}:{parts.port}"
    return "\r\n".join(("POST /estop HTTP/1.1", f"Host: {host}", f"Origin: http://{host}", *headers, "", "")).encode()


def test_a_chunked_body_is_cut_off_at_the_size_limit(served):
    start = head(served.url, "Transfer-Encoding: chunked")
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    received, _ = exchange(served.url, [start, *[chunk] * (LARGEST_BODY // 0x1000 + 2)])
    assert received.startswith(b"HTTP/1.1 413") or received == b""  # the answer is lost where the connection is reset
    before = resident(served.page)
    exchange(served.url, [start, *[chunk] * 5000])
    assert resident(served.page) - before < 10.0


def test_a_body_that_trickles_is_cut_off(served):
    received, took = exchange(served.url, [head(served.url, "Transfer-Encoding: chunked"), *[b"1\r\nx\r\n"] * 100], pause=0.2)
    assert received.startswith(b"HTTP/1.1 408")
    assert took < BODY_TIMEOUT + 2.0


def test_a_head_that_trickles_or_never_ends_is_cut_off(served):
    received, took = exchange(served.url, [b"GET / HTTP/1.1\r\n", *[b"a: b\r\n"] * 100], pause=0.2)
    assert (received, took < HEAD_TIMEOUT + 2.0) == (b"", True)
    received, took = exchange(served.url, [b""])
    assert (received, took < HEAD_TIMEOUT + 2.0) == (b"", True)
    received, _ = exchange(served.url, [b"GET / HTTP/1.1\r\nx: ", *[b"x" * LARGEST_HEAD] * 4])
    assert received == b"" or received.startswith(b"HTTP/1.1 400")


def test_silent_connections_do_not_keep_an_e_stop_out(served):
    parts = urlsplit(served.url)
    silent = [socket.create_connection((parts.hostname, parts.port)) for _ in range(4 * IDLE)]
    try:
        until(lambda: count(served.page, "fd") < 2 * IDLE, what="fewer connections")
        assert fetch(served.url, "/estop", "POST", origin=served.url.rstrip("/"))[0] == 200
    finally:
        for one in silent:
            one.close()


def test_clients_that_do_not_read_do_not_keep_an_e_stop_out(served):
    """Each asks for a large file of the page; with its response in delivery it is not idle."""
    resource.prlimit(served.page, resource.RLIMIT_NOFILE, (1024, 1024))
    scripts = re.findall(r"/_nicegui/[^\"']+\.js", fetch(served.url, "/")[2])
    path = max(set(scripts), key=lambda script: len(fetch(served.url, script)[2]))
    parts = urlsplit(served.url)
    request = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
    stuck = []
    before = resident(served.page)
    try:
        for k in range(5 * MOST):
            if k % 20 == 19:
                time.sleep(0.05)  # for the requests to be read: without one, a connection is idle, which has a limit of its own
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect((parts.hostname, parts.port))
            one.sendall(request)
            stuck.append(one)
        start = time.monotonic()
        assert fetch(served.url, "/estop", "POST", origin=served.url.rstrip("/"))[0] == 200
        assert time.monotonic() - start < 5.0
        until(lambda: count(served.page, "fd") < 2 * MOST + 100, what="fewer connections")
        assert resident(served.page) - before < 200.0
    finally:
        for one in stuck:
            one.close()
