"""The size of a request is checked before its body is decoded, its operator's access before either; an oversized stop is carried out."""

import asyncio
import queue
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zenoh
from net_rig import HostProcess
from test_net_stops import armed, query
from waiting import soon

from pushrod.net import RemoteRobot, connect, key
from pushrod.net.inbox import Inbox
from pushrod.net.lane import HELD, Lane
from pushrod.net.request_size import LARGEST_COMMAND, LARGEST_REQUEST
from pushrod.net.wire import LARGEST_BATCH, Ask, AskHead, BatchAsk, CommandAsk, Failure, Reply, Value, decode, encode, pack
from pushrod.runtime import Accepted, Position, Stop
from pushrod.runtime.payload import Trajectory, Waypoint

pytestmark = pytest.mark.on_time
MAPS = b"\x81\xa1a\xdd" + (2_000_000).to_bytes(4, "big") + b"\x80" * 2_000_000  # decoded, each byte takes 64 bytes
ROOM = 40.0  # [MB] that a request of 2 MB may take at its host; decoded it would take 128 MB


@pytest.fixture(scope="module")
def host():
    with HostProcess(access={"command": ["ann"], "watch": ["bob"]}) as process:
        yield process


def reset_peak(host: HostProcess) -> float:
    """Begin to measure the largest resident memory of a host anew; return what it takes now [MB]."""
    Path(f"/proc/{host.process.pid}/clear_refs").write_text("5")
    return peak(host)


def peak(host: HostProcess) -> float:
    """Return the largest resident memory of a host since `reset_peak` [MB]."""
    lines = Path(f"/proc/{host.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def enveloped(body: bytes, session: str = "s") -> bytes:
    return b"\x95" + msgspec.msgpack.encode(session) + b"\x01\x00\x00" + body


def info(remote: RemoteRobot, body: bytes) -> Any:
    replies = remote.bus.session.zenoh.get(key.of(remote.robot, "info", "overview"), payload=body, timeout=5.0)
    return [decode(reply.ok.payload.to_bytes(), Reply).answer for reply in replies if reply.ok is not None]


def put(remote: RemoteRobot, operator: str, body: bytes) -> None:
    """Send a command; large messages are dropped unless the sender waits."""
    block = zenoh.CongestionControl.BLOCK
    remote.bus.session.zenoh.put(key.ask("arm", operator, "actuator", *remote["elbow_motor"].path), body, congestion_control=block)


def test_an_observer_cannot_make_the_host_decode_large_bodies(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="bob") as remote:
            before = reset_peak(host)
            for words in (("do", "arm"), ("do", "request", "elbow_motor"), ("send",)):
                (answer,) = await asyncio.to_thread(query, remote, "bob", words, enveloped(MAPS))
                assert answer.reason == "access"
            for words in (("join",), ("do", "leave")):
                (answer,) = await asyncio.to_thread(query, remote, "bob", words, enveloped(MAPS))
                assert isinstance(answer, Failure)
                assert f"allowed are {LARGEST_REQUEST}" in answer.text
            (answer,) = await asyncio.to_thread(info, remote, MAPS)
            assert f"allowed are {LARGEST_REQUEST}" in answer.text
            put(remote, "bob", enveloped(MAPS))
            await soon(lambda: "cannot be read: the request has 2" in host.log)
            assert peak(host) - before < ROOM

    asyncio.run(main())


def test_an_operator_that_may_command_is_bounded_too(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            before = reset_peak(host)
            (answer,) = await asyncio.to_thread(query, remote, "ann", ("do", "arm"), enveloped(MAPS, remote.session_id))
            assert f"allowed are {LARGEST_REQUEST}" in answer.text
            many = tuple(("elbow_motor", pack(Stop()), None) for _ in range(LARGEST_BATCH + 1))
            (answer,) = await asyncio.to_thread(query, remote, "ann", ("send",), encode(BatchAsk(remote.session_id, 1, 0.0, 0.0, many, 0.0)))
            assert f"length <= {LARGEST_BATCH}" in answer.text
            assert peak(host) - before < ROOM

    asyncio.run(main())


@pytest.mark.parametrize("what", ["disarm", "estop"])
def test_an_oversized_stop_is_carried_out(host, what):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            await armed(remote)
            before = reset_peak(host)
            (answer,) = await asyncio.to_thread(query, remote, "ann", ("do", what), enveloped(MAPS))
            assert isinstance(answer, Value)
            assert answer.value["ok"] is True
            assert f"allowed are {LARGEST_REQUEST}" in answer.value["ignored"][0]
            assert peak(host) - before < ROOM
            assert (await remote.overview()).state == {"disarm": "disarmed", "estop": "estopped"}[what]
            await armed(remote)
            assert (await (remote.disarm if what == "disarm" else remote.estop)("y" * 10**6)).ok
            assert "yyy" in (await remote.overview()).why

    asyncio.run(main())


def test_an_oversized_stop_of_an_actuator_is_carried_out(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            await armed(remote)
            large = msgspec.msgpack.encode({"type": "Stop", "mode": "decelerate", "more": "x" * LARGEST_REQUEST})
            packed = msgspec.structs.replace(pack(Stop()), data=msgspec.Raw(large))
            sent, doubt = remote.host_time(time.monotonic())
            name, answers = key.ask("arm", "ann", "actuator", *remote["elbow_motor"].path), queue.SimpleQueue()
            publisher = remote.bus.session.zenoh.declare_publisher(name, congestion_control=zenoh.CongestionControl.BLOCK)

            def make(number: int) -> bytes:
                return encode(CommandAsk(remote.session_id, number, sent, doubt, packed, sent, 0.0, 0, 0, 0, None, True, 1.0))

            remote.courier.send(publisher, make, 5.0, answers.put)
            answered = await asyncio.to_thread(answers.get, timeout=5.0)
            assert remote.result(answered.answer) == Accepted()

    asyncio.run(main())


def test_a_trajectory_of_300000_waypoints_is_within_the_limit():
    points = tuple(Waypoint(0.5, 0.001 * k, 0.5, 0.5) for k in range(300_000))
    assert LARGEST_REQUEST < len(encode(Trajectory(points))) < LARGEST_COMMAND


def test_a_long_trajectory_is_carried(host):
    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            await armed(remote)
            points = tuple(Waypoint(0.0, 0.001 * k) for k in range(30_000))
            result = await remote["elbow_motor"].sync.send(Trajectory(points), timeout=10.0)
            assert result.ok
            await remote.disarm()

    asyncio.run(main())


def test_a_command_that_is_too_large_is_refused_before_it_is_sent(host, monkeypatch):
    monkeypatch.setattr("pushrod.net.remote_actuator.LARGEST_COMMAND", 1000)

    async def main() -> None:
        async with await connect("arm", host.link(), operator="ann") as remote:
            result = await remote["elbow_motor"].sync.send(Position(0.0), id="x" * 1000)
            assert result.reason == "malformed"
            assert "allowed are 1000" in result.detail

    asyncio.run(main())


def test_a_lane_bounds_the_bytes_that_wait_for_each_owner():
    lane, gate, begun = Lane("test", start=True), threading.Event(), threading.Event()
    lane.put(lambda: (begun.set(), gate.wait()))
    assert begun.wait(5.0)
    assert sum(lane.put(lambda: None, "a", size=LARGEST_COMMAND) for _ in range(10)) == HELD // LARGEST_COMMAND
    assert lane.put(lambda: None, "b", size=LARGEST_COMMAND)
    assert lane.put(lambda: None, "a", urgent=True)
    gate.set()
    ended = threading.Event()
    assert lane.put(ended.set, "c")
    assert ended.wait(5.0)
    assert sum(lane.put(lambda: None, "a", size=1) for _ in range(3)) == 3
    lane.close()


def test_an_inbox_bounds_the_bytes_that_wait():
    inbox, done = Inbox(), []
    assert sum(inbox.put(lambda: done.append(1), size=LARGEST_COMMAND) for _ in range(10)) == HELD // LARGEST_COMMAND
    assert inbox.serve(lambda: len(done) == 1, 1.0)
    assert inbox.put(lambda: None, size=LARGEST_COMMAND)


def test_the_arguments_of_a_request_stay_encoded_while_it_waits():
    for arguments in ({}, {"a": [1, {"b": 2.5}]}):
        head = decode(encode(Ask("s", 3, 1.5, 0.25, arguments)), AskHead)
        assert (head.session, head.number, head.sent, head.doubt) == ("s", 3, 1.5, 0.25)
        assert isinstance(head.arguments, msgspec.Raw)
        assert decode(head.arguments, dict[str, Any]) == arguments
