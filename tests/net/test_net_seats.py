"""Leases and "commanded last" belong to a connection: two programs of one name are two commanders. And two hosts of one name are two robots."""

import asyncio
import signal
import subprocess
import sys
import time

import pytest
from net_rig import HERE, HostProcess, Wire
from waiting import soon, until

from pushrod.net import RemoteRobot, Session, connect, key, robots
from pushrod.net.watcher import Watcher

SILENCE = 5.0  # [s]: a watchdog that bites sooner does so because its commander is gone


async def lease(remote: RemoteRobot, name: str = "elbow_motor") -> str | None:
    return next(a for a in (await remote.overview()).actuators if a.name == name).lease


def test_two_programs_of_one_name_exclude_each_other_by_the_lease():
    async def main() -> None:
        with HostProcess(silence=SILENCE) as host:
            async with await connect("arm", host.link(), operator="ann") as first:
                second = await connect("arm", host.link(), operator="ann")
                assert (first.seat, second.seat, second.operator) == ("ann", "ann/2", "ann")
                assert (await first.overview()).operators == ("ann", "ann/2")
                motor = second["elbow_motor"]
                assert motor.source == "ann/2"
                taken = await motor.take_lease()
                assert (taken.ok, taken.owner) == (True, "ann/2")
                answer = await first["elbow_motor"].sync.hold()
                assert (answer.reason, answer.detail) == ("lease", "leased by ann/2")
                assert not await first["elbow_motor"].take_lease()
                assert (await motor.sync.hold()).ok
                assert next(a for a in (await first.overview()).actuators if a.name == "elbow_motor").commander == "ann/2"
                await second.close()
                assert await lease(first) is None, "it ended with its connection"
                assert (await first["elbow_motor"].sync.hold()).ok
                async with await connect("arm", host.link(), operator="ann") as third:
                    assert third.seat == "ann/2", "the seat is free again"
        until(lambda: "operator ann/2 has left; its leases end: base/shoulder/upper/elbow/elbow_motor" in host.log)

    asyncio.run(main())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_one_that_vanishes_is_missed_though_another_of_its_name_stays(number):
    async def main() -> None:
        with HostProcess(silence=SILENCE) as host:
            async with await connect("arm", host.link(), operator="commander") as stays:
                assert await stays["elbow_motor"].take_lease()
                commander = subprocess.Popen([sys.executable, str(HERE / "net_commander.py"), host.endpoint], stdout=subprocess.PIPE, text=True)
                try:
                    assert commander.stdout is not None
                    assert await asyncio.to_thread(commander.stdout.readline) == "moving\n"
                    assert await lease(stays, "shoulder_motor") == "commander/2"
                    since = time.monotonic()
                    commander.send_signal(number)
                    bitten = await asyncio.to_thread(host.wait_for, "watchdog", 5.0, since)
                    assert bitten["time"] - since < 0.5 * SILENCE, "it does not wait for silence"
                    await asyncio.to_thread(until, lambda: "operator commander/2 has vanished; watchdogs act on base/shoulder" in host.log)
                finally:
                    commander.kill()
                    commander.wait()
                assert await lease(stays, "shoulder_motor") == "watchdog"
                assert await lease(stays) == "commander", "what belongs to the one that stays is left alone"

    asyncio.run(main())


def test_what_another_connection_of_that_name_had_commanded_is_not_its_doing():
    async def main() -> None:
        with HostProcess(silence=SILENCE) as host, Wire(host.port) as wire:
            async with await connect("arm", host.link(), operator="ann") as first:
                assert (await first["shoulder_motor"].sync.set_velocity(0.1)).ok
            async with await connect("arm", host.link(), operator="bob") as bob, await connect("arm", host.link(wire.port), operator="ann") as again:
                assert again.seat == "ann"
                wire.cut()
                await asyncio.to_thread(until, lambda: "operator ann has vanished" in host.log)
                assert "watchdogs act" not in host.log
                assert (await bob["shoulder_motor"].sync.hold()).ok

    asyncio.run(main())


def test_one_that_was_cut_off_and_is_back_knows_its_seat():
    async def main() -> None:
        with HostProcess(silence=SILENCE) as host, Wire(host.port) as wire:
            first = await connect("arm", host.link(), operator="ann")
            second = await connect("arm", host.link(wire.port), operator="ann")
            assert second.seat == "ann/2"
            wire.cut()
            await soon(lambda: not second.alive)
            await asyncio.to_thread(until, lambda: "operator ann/2 has vanished" in host.log)
            third = await connect("arm", host.link(), operator="ann")
            assert third.seat == "ann/2"
            wire.mend()
            await soon(lambda: second.seat == "ann/3")
            assert (await second["elbow_motor"].sync.hold()).ok
            now = await first.overview()
            assert now.operators == ("ann", "ann/2", "ann/3")
            assert next(a for a in now.actuators if a.name == "elbow_motor").commander == "ann/3"
            for each in (first, second, third):
                await each.close()

    asyncio.run(main())


def test_of_two_hosts_of_one_name_each_is_asked_by_itself_and_warns_of_the_other():
    async def main() -> None:
        with HostProcess() as one, HostProcess(connect=one.endpoint) as two:
            await asyncio.to_thread(until, lambda: "another host of a robot of this name is on the network" in one.log)
            found = await robots(one.link())
            assert [hello.robot for hello in found] == ["arm", "arm"]
            assert {str(host.process.pid) for host in (one, two)} == {hello.where.rpartition(" ")[2] for hello in found}
            watcher = Watcher(one.link())
            for hello in found:
                async with await connect("arm", one.link(), operator="ann", host=hello) as remote:
                    assert remote.seat == "ann"
                    assert (await remote.disarm()).ok
                seen = await watcher.look()
                assert [one.robot for one in seen] == ["arm", "arm"]
                stopped = {one.where for one in seen if one.overview is not None and one.overview.state == "disarmed"}
                assert stopped == {each.where for each in found[: found.index(hello) + 1]}, "the other one did not hear of it"
            two.signal(signal.SIGKILL)
            two.process.wait(10.0)
            async with asyncio.timeout(5.0):
                while len(seen := await watcher.look()) > 1:
                    await asyncio.sleep(0.05)
            assert seen[0].overview is not None
            watcher.close()
            for host in (one, two):
                assert "arm: another host of a robot of this name is on the network" in host.log

    asyncio.run(main())


def test_malformed_tokens_are_ignored_with_few_log_lines():
    with HostProcess() as host, Session(host.link()) as session:
        live = session.zenoh.liveliness()
        names = ["operator", *(f"operator/a{n}" for n in range(20)), "operator/a/b/c/d", *(f"operator/{'x' * 2000}{n}/y" for n in range(20))]
        tokens = [live.declare_token(key.of("arm", name)) for name in (*names, *(f"host/{n}" for n in range(20)), "operator/ann/last")]
        until(lambda: "operator ann is connected" in host.log)
        for token in tokens:
            token.undeclare()
        until(lambda: "operator ann" in host.log.partition("is connected")[2])
        assert "Traceback" not in host.log
        assert "too many connections" not in host.log
        assert 1 <= host.log.count("ignored a malformed token of an operator, pushrod/1/arm/operator") <= 3
        assert host.log.count("is too long; allowed are 128 characters") == 1
        assert 1 <= host.log.count("another host of a robot of this name") <= 3
