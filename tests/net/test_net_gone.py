"""Whoever vanishes is missed: an operator by the watchdogs, a host by its operators; and nobody keeps a program from ending."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from net_rig import HERE, HostProcess, Wire
from waiting import soon, until

from pushrod.core.errors import NetworkError
from pushrod.net import HostGoneError, RemoteRobot, connect
from pushrod.net.lane import Lane
from pushrod.runtime import LeaseChanged

SILENCE = 0.2  # [s] that the watchdog bears
AFTER = 0.05  # [s] that it may act late
GONE = 1.0  # [s] in which a vanished host is seen to be gone
COMMANDER = HERE / "net_commander.py"


async def moving(remote: RemoteRobot) -> "asyncio.Task[None]":
    """The shoulder turns as long as it is told to, every 20 ms."""
    motor = remote["shoulder_motor"]
    await remote.clear_watchdog("shoulder_motor")

    async def stream() -> None:
        while True:
            motor.publish.set_velocity(1.0)
            await asyncio.sleep(0.02)

    task = asyncio.create_task(stream())
    async with asyncio.timeout(5.0):
        while (await motor.request("state"))["velocity"] != 2.0:  # the motor turns twice as fast; what was reported may be old
            await asyncio.sleep(1e-3)
    return task


def stopped(host: HostProcess, since: float) -> float:
    """How long after a time the watchdog stopped the joint [s]."""
    host.wait_for("watchdog", after=since)
    return min(line["at"] for line in host.said if line["what"] == "end" and line["at"] > since and line["reason"] == "completed") - since


@pytest.mark.parametrize("how", ["cut", "hush"])
def test_a_joint_that_moves_is_stopped_when_the_link_is_cut_and_both_ends_see_it(how):
    async def main() -> None:
        with HostProcess(silence=SILENCE) as host, Wire(host.port) as wire:
            async with await connect("arm", host.link(wire.port), operator="ann") as remote:
                task = await moving(remote)
                for _ in range(3):
                    since = getattr(wire, how)()
                    assert await soon(lambda: not remote.alive, 3.0) < GONE
                    assert await asyncio.to_thread(stopped, host, since) < SILENCE + AFTER
                    start = time.monotonic()
                    answer = await remote["shoulder_motor"].sync.set_position(0.0)
                    assert answer.reason == "gone"
                    with pytest.raises(NetworkError, match="the host of arm is not there any more"):
                        await remote.arm()
                    assert time.monotonic() - start < 0.1, "nobody waits for one that is gone"
                    wire.mend()
                    await soon(lambda: remote.alive)
                    assert (await remote["shoulder_motor"].sync.set_position(0.0)).reason == "watchdog"
                    task.cancel()
                    task = await moving(remote)
                task.cancel()

    asyncio.run(main())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_an_operator_that_vanishes_loses_its_lease_and_the_watchdog_acts(number):
    async def main() -> None:
        with HostProcess(silence=SILENCE) as host:
            async with await connect("arm", host.link(), operator="onlooker") as remote:
                leases = remote.subscribe("actuator", [LeaseChanged])
                await remote.overview()  # the host knows of the subscription by now
                commander = subprocess.Popen([sys.executable, str(COMMANDER), host.endpoint], stdout=subprocess.PIPE, text=True)
                try:
                    assert commander.stdout is not None
                    assert await asyncio.to_thread(commander.stdout.readline) == "moving\n"
                    since = time.monotonic()
                    commander.send_signal(number)
                    assert await asyncio.to_thread(stopped, host, since) < SILENCE + AFTER
                    while (change := (await leases.get()).payload).old != "commander":
                        pass
                    assert change.new == "watchdog", "it takes the lease over from the vanished one"
                    now = await remote.overview()
                    assert next(a for a in now.actuators if a.name == "shoulder_motor").lease == "watchdog"
                    await asyncio.to_thread(until, lambda: "operator commander has vanished" in host.log)
                finally:
                    commander.kill()
                    commander.wait()

    asyncio.run(main())


def test_a_host_that_is_stopped_or_killed_is_seen_to_be_gone_within_a_second():
    async def main() -> None:
        with HostProcess("slow") as host:
            async with await connect("arm", host.link()) as remote:
                assert (await remote["shoulder_motor"].sync.hold()).ok
                waiting = asyncio.create_task(remote["shoulder_motor"].sync.set_velocity(0.1, duration=1.0))
                await asyncio.sleep(0.05)
                host.signal(signal.SIGSTOP)
                since = time.monotonic()
                with pytest.raises(HostGoneError, match="whether it acted is not known|vanished while it was asked"):
                    await waiting
                await soon(lambda: not remote.alive)
                assert time.monotonic() - since < GONE
                host.signal(signal.SIGCONT)
                await soon(lambda: remote.alive)
                host.signal(signal.SIGKILL)
                assert await soon(lambda: not remote.alive) < GONE
                assert (await remote["shoulder_motor"].sync.hold()).reason == "gone"
                assert remote["shoulder_motor"].publish.hold().reason == "gone"

    asyncio.run(main())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_who_waits_for_the_end_of_a_motion_is_told_that_its_host_is_gone(number):
    async def main() -> None:
        with HostProcess() as host:
            async with await connect("arm", host.link()) as remote:
                assert (await remote["shoulder_motor"].sync.set_velocity(0.1, id="long")).ok
                waiting = asyncio.create_task(remote.motion("shoulder_motor", "long"))
                await asyncio.sleep(0.05)
                host.signal(number)
                since = time.monotonic()
                with pytest.raises(HostGoneError, match="before .*shoulder_motor had told the end of the motion 'long'"):
                    await waiting
                assert time.monotonic() - since < GONE
                await soon(lambda: remote.state == "gone")
                since = time.monotonic()
            assert time.monotonic() - since < 2.0 * GONE, "it is not kept from ending"

    asyncio.run(main())


def test_commands_that_lay_in_the_buffers_of_a_stopped_host_do_not_act_when_it_wakes():
    async def main() -> None:
        with HostProcess("plain") as host:
            async with await connect("arm", host.link()) as remote:
                motor = remote["shoulder_motor"]
                assert (await motor.sync.hold()).ok
                before = next(a for a in (await remote.overview()).actuators if a.name == "shoulder_motor").acted
                host.signal(signal.SIGSTOP)
                sent = 0
                while remote.alive:
                    sent += motor.publish.hold().ok
                    await asyncio.sleep(0.01)
                await asyncio.sleep(1.2)  # the last one is too old by then as well
                host.signal(signal.SIGCONT)
                await soon(lambda: remote.alive)
                after = next(a for a in (await remote.overview()).actuators if a.name == "shoulder_motor").acted
                assert sent > 10
                assert after == before

    asyncio.run(main())


def test_a_host_that_was_started_again_is_another_one():
    async def main() -> None:
        with HostProcess() as first:
            remote = await connect("arm", first.link(), operator="ann")
            first.signal(signal.SIGKILL)
            await soon(lambda: not remote.alive)
            with HostProcess(port=first.port) as second:
                async with await connect("arm", second.link(), operator="bob") as other:
                    assert other.alive
                    assert not remote.alive, "its armings, leases and clock are not those of the first"
                    await soon(lambda: remote.caller.followed)
                    with pytest.raises(NetworkError, match="the host of arm was started again: connect anew"):
                        await remote.arm()
                    answer = await remote["elbow_motor"].sync.hold()
                    assert (answer.reason, "was started again: connect anew" in answer.detail) == ("gone", True)
                    assert (await other.overview()).operators == ("bob",), "who was with the first host is not with this one"
                    await remote.close()
                    async with await connect("arm", second.link(), operator="ann"):
                        pass
                until(lambda: "operator ann has left" in second.log)
                assert "vanished" not in second.log

    asyncio.run(main())


def test_the_state_of_a_host_that_is_back_is_not_known_until_it_was_asked():
    async def main() -> None:
        with HostProcess() as host:
            async with await connect("arm", host.link()) as remote:
                host.signal(signal.SIGSTOP)
                await soon(lambda: remote.state == "gone")
                seen: list[Any] = []
                remote.host_changed.append(lambda alive: seen.append((alive, remote.state)))
                host.signal(signal.SIGCONT)
                assert await soon(lambda: remote.state == "armed") < GONE
                assert seen == [(True, "gone")], "it is there again, and nobody knows how it is"

    asyncio.run(main())


def test_a_socket_that_a_killed_host_left_behind_is_taken_over(tmp_path: Path):
    end = f"unixsock-stream/{tmp_path}/arm.sock"
    with HostProcess(endpoint=end) as first:
        first.signal(signal.SIGKILL)
        first.process.wait()
    with HostProcess(endpoint=end) as second:

        async def main() -> None:
            async with await connect("arm", second.link()) as remote:
                assert (await remote["elbow_motor"].sync.hold()).ok

        asyncio.run(main())


def test_what_waits_in_a_lane_that_closes_is_not_done():
    lane, done, held = Lane("test"), [], threading.Event()
    lane.put(lambda: held.wait(5.0))
    for k in range(10):
        assert lane.put(lambda k=k: done.append(k))
    threading.Timer(0.05, held.set).start()
    lane.close()
    assert done == []
    assert not lane.put(lambda: done.append(99))


ENDS = {
    "forgets to close": "asyncio.run(connected()); print('done', flush=True)",
    "fails": "asyncio.run(connected()); print('done', flush=True); raise SystemExit(3)",
    "raises": "asyncio.run(connected()); print('done', flush=True); 1 / 0",
    "only a bus": "bus = ZenohBus(Link(connect=END)); bus.subscribe(latched=True, notify=lambda: None); print('done', flush=True)",
    "a thread waits": "threading.Thread(target=threading.Event().wait, daemon=True).start(); asyncio.run(connected()); print('done', flush=True)",
}


@pytest.mark.parametrize("how", ENDS)
def test_a_program_that_leaves_everything_open_ends(how, tmp_path: Path):
    text = f"""
import asyncio, sys, threading
from pushrod.net import Link, ZenohBus, connect
END = sys.argv[1]
kept = []
async def connected():
    remote = await connect("arm", Link(connect=END))
    kept.append((remote, remote.subscribe(latched=True), remote["elbow_motor"].joint_state))
    await remote["elbow_motor"].sync.hold()
{ENDS[how]}
"""
    (tmp_path / "program.py").write_text(text)
    with HostProcess() as host:
        program = subprocess.Popen(
            [sys.executable, str(tmp_path / "program.py"), host.endpoint], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "done\n"
            start = time.monotonic()
            program.wait(10.0)
        finally:
            program.kill()
        assert time.monotonic() - start < 3.0
        assert program.returncode == {"fails": 3, "raises": 1}.get(how, 0)


def test_a_host_that_leaves_everything_open_ends_too(tmp_path: Path):
    text = """
import asyncio, sys
from net_rig import arm
from pushrod.net import Link, ZenohBus, expose
from pushrod.runtime import Runtime
async def main():
    bus = ZenohBus(Link(sys.argv[1]))
    async with Runtime(arm(), simulation=True, bus=bus, guard=False) as rt:
        expose(rt)
asyncio.run(main())
"""
    (tmp_path / "program.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(HERE), *sys.path))}
    end = f"unixsock-stream/{tmp_path}/arm.sock"
    subprocess.run([sys.executable, str(tmp_path / "program.py"), end], env=environment, check=True, timeout=20.0)


def test_importing_the_runtime_does_not_import_the_network():
    loaded = "import sys, pushrod.runtime, pushrod.cli.main; assert not [m for m in sys.modules if m.startswith(('zenoh', 'pushrod.net'))]"
    subprocess.run([sys.executable, "-c", loaded], check=True)
