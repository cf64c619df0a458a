"""Disarm and e-stop over the network: carried out whatever the request holds, whatever else is asked for, and without a thread being started."""

import asyncio
import logging
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from net_rig import HostProcess
from waiting import soon

from pushrod.core.errors import NetworkError
from pushrod.net import AccessError, RemoteRobot, connect, key, stop
from pushrod.net.inbox import Inbox
from pushrod.net.lane import Lane
from pushrod.net.operators import CONNECTIONS
from pushrod.net.stop_request import LIMIT, read_stop, select_arguments, stop_body, usable_limit
from pushrod.net.wire import Ask, Reply, Value, decode, encode
from pushrod.runtime import Stop
from pushrod.runtime.deciding import Disarmed

NAN, INF = float("nan"), float("inf")
BODIES = [
    b"",
    b"\xc1",
    b"\xff" * 1000,
    b"\x91" * 5000,
    b"\xa1\xff",
    msgspec.msgpack.encode(5),
    msgspec.msgpack.encode({"limit": 1.0}),
    msgspec.msgpack.encode(["s"]),
    msgspec.msgpack.encode([1, 2, 3, 4, {"why": 7}]),
]
ARGUMENTS: list[dict[str, Any]] = [
    {"limit": "abc"},
    {"limit": NAN},
    {"limit": -1.0},
    {"limit": INF},
    {"limit": True},
    {"why": 5},
    {"why": ""},
    {"why": ["a", {"b": 1}]},
    {"cause": None},
    {"unknown": 1, "who": "eve", "self": 2},
    {"why": "x" * 100_000},
    {"limit": 10**18},
    {"limit": [[[1]]], "why": {"a": []}},
]


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


class Hostile(type):
    """A metaclass that must not be asked anything."""

    def __eq__(cls, other: object) -> bool:
        raise SystemExit("compared")

    __hash__ = None  # type: ignore[assignment]

    def __instancecheck__(cls, one: object) -> bool:
        raise SystemExit("asked")


class Odd(metaclass=Hostile):
    def __repr__(self) -> str:
        raise SystemExit("shown")

    __str__ = __float__ = __bool__ = __lt__ = __gt__ = __eq__ = __repr__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


USABLE = [2, 2.5, np.float64(2.5), np.float32(2.5), np.float16(2.5), np.longdouble(2.5), np.int64(2), np.uint8(2)]
UNUSABLE = [10**400, -(10**400), 10**5000, 0, -1, 60.001, NAN, INF, True, np.True_, np.float64("nan"), np.array([1, 2]), "2", None, 1j, Odd(), Odd]


@pytest.fixture(scope="module")
def host():
    with HostProcess(access={"command": ["ann"], "watch": ["bob"]}) as process:
        yield process


def query(remote: RemoteRobot, operator: str, words: tuple[str, ...], body: bytes, timeout: float = 5.0) -> Any:
    name = key.ask(remote.robot, operator, *words)
    replies = remote.bus.session.zenoh.get(name, payload=body, timeout=timeout)
    return [decode(reply.ok.payload.to_bytes(), Reply).answer for reply in replies if reply.ok is not None]


async def armed(remote: RemoteRobot) -> None:
    await remote.disarm()
    await remote.reset()
    assert (await remote.arm()).ok


def threads(host: HostProcess) -> int:
    return len(list(Path(f"/proc/{host.process.pid}/task").iterdir()))


@pytest.mark.parametrize("what", ["disarm", "estop"])
@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_malformed_request_stops_the_robot(host, what, body):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            await armed(remote)
            (answer,) = await asyncio.to_thread(query, remote, "ann", ("do", what), body)
            assert isinstance(answer, Value)
            assert answer.value["ok"] is True
            assert answer.value["ignored"]
            assert (await remote.overview()).state == {"disarm": "disarmed", "estop": "estopped"}[what]

    asyncio.run(main())


@pytest.mark.parametrize("what", ["disarm", "estop"])
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=[repr(a)[:30] for a in ARGUMENTS])
def test_arguments_that_cannot_be_used_are_replaced_and_listed(what, arguments):
    request = read_stop(what, encode(Ask("s", 0, 0.0, 0.0, arguments)))
    assert request.session == "s"
    assert request.arguments == {"disarm": {"why": request.arguments.get("why"), "limit": LIMIT}, "estop": {"cause": "requested"}}[what]
    assert 0 < len(request.arguments.get("why", "requested")) <= 500
    used = [name for name, value in arguments.items() if request.arguments.get(name) == value or value is None or len(str(value)) > 1000]
    assert len(request.ignored) >= len([name for name in arguments if name not in used and name in request.arguments])
    assert all(len(line) < 300 for line in request.ignored)


@pytest.mark.parametrize("limit", USABLE, ids=lambda x: f"{type(x).__name__} {x}")
def test_a_time_limit_is_converted_to_a_plain_number(limit):
    for plain in (usable_limit(limit), read_stop("disarm", stop_body("s", {"limit": limit})).arguments["limit"]):
        assert type(plain) is float
        assert plain == float(limit)


@pytest.mark.parametrize("limit", UNUSABLE, ids=range(len(UNUSABLE)))
def test_no_argument_prevents_a_stop_and_none_of_its_code_runs(limit):
    assert usable_limit(limit) is None
    request = read_stop("disarm", stop_body("s", {"limit": limit, "why": "enough"}))
    assert (request.session, request.arguments) == ("s", {"limit": LIMIT, "why": "enough"})
    assert bool(request.ignored) == (limit is not None)


def test_a_stop_keeps_the_arguments_that_can_be_sent():
    arguments = {"why": "x" * 10**6, "limit": 2.0, "more": nested(100_000), 5: 6} | {f"{'n' * 2000}{i}": Odd() for i in range(1000)}
    body = stop_body("s", arguments)
    assert len(body) < 64 * 2**10
    assert read_stop("disarm", body).arguments == {"why": "x" * 500, "limit": 2.0}


@pytest.mark.parametrize("depth", [100, 900, 1000, 1100, 3000, 20_000])
def test_arguments_that_are_nested_deeply_are_listed(depth):
    arguments, ignored = select_arguments("disarm", {"why": nested(depth), "limit": nested(depth)})
    assert (arguments, len(ignored)) == ({"why": "requested", "limit": LIMIT}, 2)


def test_a_body_that_was_not_read_is_reported():
    request = read_stop("estop", b"", "the request has 70000 bytes")
    assert (request.arguments, request.ignored) == ({"cause": "requested"}, ("the request is malformed: the request has 70000 bytes",))


def test_an_operator_that_passes_odd_arguments_is_warned(host, caplog):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            for arguments in ({"limit": "abc"}, {"why": 5}, {"limit": NAN}, {"why": object()}):
                await armed(remote)
                with caplog.at_level(logging.WARNING, "pushrod.net"):
                    caplog.clear()
                    assert (await remote.disarm(**arguments)).ok
                if "object" not in repr(arguments):  # it was sent as its text
                    assert "arm: disarm ignored" in caplog.text
            assert (await remote.estop()).state == "estopped"
            assert (await remote.estop(5)).ok
            assert (await remote.reset()).ok

    asyncio.run(main())


def test_a_stop_needs_access_but_neither_a_session_nor_a_number_nor_a_time(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            await armed(remote)
            for body in (encode(Ask("not connected", 0, NAN, INF)), encode(Ask(remote.session_id, -5, -INF, NAN))):
                (answer,) = await asyncio.to_thread(query, remote, "bob", ("do", "disarm"), body)
                assert answer.reason == "access"
                (answer,) = await asyncio.to_thread(query, remote, "eve", ("do", "estop"), body)
                assert answer.reason == "access"
                assert (await remote.overview()).state == "armed"
            for body in (encode(Ask("not connected", 0, NAN, INF)), encode(Ask(remote.session_id, -5, -INF, NAN))):
                (answer,) = await asyncio.to_thread(query, remote, "ann", ("do", "disarm"), body)
                assert answer.value["state"] == "disarmed"

    asyncio.run(main())


def test_unknown_requests_and_operators_without_access_are_answered_without_a_thread(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="bob") as remote, await connect("arm", host.link(), operator="ann") as ann:
            await armed(ann)
            body = encode(Ask(remote.session_id, 1, *remote.host_time(time.monotonic())))
            for words in (("do", "arm"), ("do", "request", "elbow_motor"), ("send",)):
                await asyncio.to_thread(query, remote, "bob", words, body)
            before = threads(host)

            def flood() -> None:
                for i in range(300):
                    for words in (("do", f"made up {i}"), ("do", "request", f"part {i}"), ("do", "set_parameters", str(i)), (f"group {i}",)):
                        assert query(remote, "bob", words, body)
                for i in range(100):
                    assert query(remote, "ann", ("do", f"made up {i}"), encode(Ask(ann.session_id, i, 0.0, 0.0)))
                    assert query(remote, "ann", ("do", "request", f"part {i}"), encode(Ask(ann.session_id, i, 0.0, 0.0)))
                    remote.bus.session.zenoh.put(key.ask("arm", "bob", "actuator", f"unknown {i}"), body)

            flooding = asyncio.create_task(asyncio.to_thread(flood))
            slowest = 0.0
            while not flooding.done():
                start = time.monotonic()
                assert (await ann.disarm()).ok
                slowest = max(slowest, time.monotonic() - start)
            await flooding
            assert threads(host) <= before
            assert slowest < 1.0
            assert host.log.count("cannot be read") < 20

    asyncio.run(main())


def test_connections_of_one_operator_are_bounded(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="bob") as remote, await connect("arm", host.link(), operator="ann") as ann:
            live = remote.bus.session.zenoh.liveliness()
            tokens = [live.declare_token(key.of("arm", "operator", "bob", f"{i}.{remote.hello.instance}")) for i in range(3 * CONNECTIONS)]
            tokens.append(live.declare_token(key.of("arm", "operator", "bob", "x" * 1000)))
            await soon(lambda: "a connection of bob was refused: too many connections" in host.log)
            seats = (await ann.overview()).operators
            assert len([seat for seat in seats if seat.startswith("bob")]) == CONNECTIONS
            assert (await ann.disarm()).ok
            async with await connect("arm", host.link(), operator="ann") as second:
                assert second.seat == "ann/2"
            for token in tokens:
                token.undeclare()

    asyncio.run(main())


def test_a_lane_serves_owners_in_turn_and_urgent_jobs_first():
    lane, done, gate = Lane("test", start=True, share=100), [], threading.Event()
    lane.put(gate.wait)
    for i in range(50):
        assert lane.put(lambda i=i: done.append(("a", i)), "a")
    assert lane.put(lambda: done.append(("b", 0)), "b")
    assert lane.put(lambda: done.append(("a", Stop)), "a", urgent=True)
    gate.set()
    ended = threading.Event()
    lane.put(ended.set, "c")
    lane.put(lambda: None, "a")
    assert ended.wait(5.0)
    assert done[0] == ("a", Stop)
    assert done.index(("b", 0)) <= 2
    lane.close()
    assert not lane.put(lambda: None)


def test_a_lane_bounds_what_waits_for_each_owner():
    lane, gate = Lane("test", start=True, share=10), threading.Event()
    lane.put(gate.wait)
    assert sum(lane.put(lambda: None, "a") for _ in range(50)) == 10
    assert lane.put(lambda: None, "b")
    assert sum(lane.put(lambda: None, "a", urgent=True) for _ in range(100)) == 64
    gate.set()
    lane.close()


def test_a_lane_that_can_start_no_thread_refuses_and_does_nothing_later(monkeypatch):
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    done: list[int] = []
    lane, started = Lane("lazy"), Lane("test", start=True)
    monkeypatch.setattr(threading.Thread, "start", fail)
    assert not lane.put(lambda: done.append(1))
    ran = threading.Event()
    assert started.put(ran.set)
    assert ran.wait(5.0)
    monkeypatch.undo()
    ran.clear()
    assert lane.put(ran.set)
    assert ran.wait(5.0)
    assert done == []
    for one in (lane, started):
        one.close()


def test_an_inbox_is_bounded():
    inbox = Inbox()
    assert sum(inbox.put(lambda: None) for _ in range(20_000)) == 16384


def test_a_watcher_is_refused_a_stop(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="bob") as remote:
            for stop in (remote.disarm, remote.estop):
                with pytest.raises(AccessError, match="bob may only watch"):
                    await stop()

    asyncio.run(main())


def test_the_lanes_that_stop_exist_before_anything_is_asked():
    async def main() -> None:
        with HostProcess() as host:
            async with await connect("arm", host.link(), operator="ann") as remote:
                before = threads(host)
                assert (await remote.disarm()).ok
                assert (await remote.estop("a hand")).ok
                assert (await remote["elbow_motor"].sync.stop()) is not None
                assert threads(host) == before

    asyncio.run(main())


def test_a_stop_without_a_connection_reaches_every_host_and_reports_refusals(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            await armed(remote)
            (refusal,) = await stop("arm", host.link(), "disarm", "bob", {})
            assert isinstance(refusal.outcome, AccessError)
            assert (await remote.overview()).state == "armed"
            (done,) = await stop("arm", host.link(), "disarm", "ann", {"why": "enough", "limit": "abc", "more": 1})
            assert isinstance(done.outcome, Disarmed)
            assert (done.outcome.ok, done.outcome.state, len(done.ignored)) == (True, "disarmed", 2)
            assert f"pid {host.process.pid}" in done.where
            assert "enough, by ann" in (await remote.overview()).why
            with pytest.raises(NetworkError, match="no robot 'leg' answers"):
                await stop("leg", host.link(), "estop", "ann", {}, timeout=0.3)

    asyncio.run(main())


def test_a_stop_does_not_wait_for_requests_that_hang():
    """A driver is stuck in a call, and questions wait for their turn."""

    async def main() -> None:
        with HostProcess("slow") as host:
            async with await connect("arm", host.link(), operator="ann") as remote:
                remote["shoulder_motor"].publish.set_velocity(1.0, duration=3.0)
                asking = [asyncio.create_task(remote.overview()) for _ in range(200)]
                start = time.monotonic()
                (done,) = await stop("arm", host.link(), "estop", "bob", {})
                assert time.monotonic() - start < 2.0
                assert isinstance(done.outcome, Disarmed)
                assert (await remote.overview()).state in ("estopped", "error", "disarming")
                await asyncio.gather(*asking)

    asyncio.run(main())


def test_a_job_that_exits_does_not_end_its_lane():
    lane, done = Lane("test", start=True), threading.Event()
    try:
        assert lane.put(lambda: sys.exit(1), "ann")
        assert lane.put(done.set, "ann")
        assert done.wait(5.0)
    finally:
        lane.close()


def in_parts() -> list[str]:
    """Names that an operator may not command under, and names that no key, user or text can hold as they are."""
    return ["elbow_motor", "local", "runtime", "watchdog", "a/b", "*", "@", "%", "x" * 1000, "op\udcff"]


@pytest.fixture(scope="module")
def open_host():
    with HostProcess() as process:
        yield process


@pytest.mark.parametrize("what", ["disarm", "estop"])
@pytest.mark.parametrize("name", in_parts(), ids=lambda name: ascii(name[:20]))
def test_the_name_of_an_operator_prevents_no_stop(open_host, name, what):
    async def main() -> None:
        async with await connect("arm", open_host.link(), operator="ann") as remote:
            await armed(remote)
            (host,) = await stop("arm", open_host.link(), what, name, {})
            assert isinstance(host.outcome, Disarmed), host
            overview = await remote.overview()
            assert overview.state == {"disarm": "disarmed", "estop": "estopped"}[what]
            named = f"operator {name}" if name in in_parts()[:4] else name.encode("utf-8", "backslashreplace").decode()[:100]
            assert f", by {named}" in overview.why

    asyncio.run(main())


def test_a_part_that_an_operator_is_named_after_gets_no_command_of_it(open_host):
    with pytest.raises(AccessError, match="is the name of a part of the robot"):
        asyncio.run(commanded(open_host, "elbow_motor"))


async def commanded(host: HostProcess, name: str) -> None:
    async with await connect("arm", host.link(), operator=name) as remote:
        await remote.arm()


def test_a_user_without_a_name_stops_the_robot(open_host, monkeypatch):
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", nameless)
    (host,) = asyncio.run(stop("arm", open_host.link(), "disarm", "", {}))
    assert isinstance(host.outcome, Disarmed)
