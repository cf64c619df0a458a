"""The network for long: commands at a high rate, none lost; links cut and commanders stopped a hundred times, the joint stopped every time."""

import asyncio
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from net.net_rig import HERE, HostProcess, Wire
from net.waiting import soon
from pushrod.net import RemoteRobot, connect
from pushrod.runtime import Outcome

pytestmark = pytest.mark.soak

RATE, SECONDS = 5000, 60.0
ROOM = 1000  # commands on their way at a time
TIMES = 100
SILENCE = 0.2  # [s] that the watchdog bears
AFTER = 0.05  # [s] that it may act late
GONE = 1.0  # [s] in which a vanished host is seen to be gone


async def acted(remote: RemoteRobot) -> int:
    return next(a for a in (await remote.overview()).actuators if a.name == "shoulder_motor").acted


def test_five_thousand_commands_a_second_for_a_minute_and_none_is_lost():
    async def main() -> None:
        with HostProcess("plain") as host:
            async with await connect("arm", host.link()) as remote:
                motor = remote["shoulder_motor"]
                outcomes = remote.subscribe(motor.topic, [Outcome], size=RATE)
                before = await acted(remote)
                start, sent, seen = time.monotonic(), 0, 0
                while sent < RATE * SECONDS:
                    due = int((time.monotonic() - start) * RATE)
                    while sent < due and remote.waiting < ROOM:  # whoever was kept from running catches up, without a flood
                        answer = motor.publish.set_position(1e-6 * sent)
                        assert answer.ok, f"{answer}, after {sent}"
                        sent += 1
                    while outcomes.poll() is not None:
                        seen += 1
                    await asyncio.sleep(1e-3)
                await soon(lambda: not remote.waiting)
                took = time.monotonic() - start
                await soon(lambda: seen + outcomes.statistics().waiting >= sent)
                print(f"{sent} commands in {took:.2f} s, {await acted(remote) - before} acted, {remote.unanswered} unanswered")
                assert took < SECONDS + 1.0, "the rate is held"
                assert await acted(remote) - before == sent
                assert remote.unanswered == 0
                assert outcomes.statistics().dropped == 0
                assert sum(s.dropped for s in remote.bus.statistics()) == 0

    asyncio.run(main())


def late(host: HostProcess, since: float) -> float:
    """How long after a time the joint was at rest, less what the watchdog bears [s]."""
    host.wait_for("watchdog", after=since)
    return min(line["at"] for line in host.said if line["what"] == "end" and line["at"] > since and line["reason"] == "completed") - since - SILENCE


def tell(what: str, took: list[float]) -> None:
    took = sorted(took)
    p50, p99, worst = (1e3 * took[min(len(took) - 1, int(share * len(took)))] for share in (0.5, 0.99, 1.0))
    print(f"{what}: at rest {p50:.0f} ms (p50), {p99:.0f} ms (p99), {worst:.0f} ms (worst) after the {1e3 * SILENCE:.0f} ms of its watchdog")


@pytest.mark.parametrize("how", ["cut", "hush"])
def test_a_hundred_cuts_of_the_link_while_a_joint_moves(how):
    async def main() -> None:
        took: list[float] = []
        with HostProcess(silence=SILENCE) as host, Wire(host.port) as wire:
            async with await connect("arm", host.link(wire.port), operator="ann") as remote:
                motor = remote["shoulder_motor"]
                for _ in range(TIMES):
                    await remote.clear_watchdog("shoulder_motor")
                    for _ in range(10):
                        motor.publish.set_velocity(1.0)
                        await asyncio.sleep(0.02)
                    assert (await motor.request("state"))["velocity"] == 2.0, "it moves; the motor turns twice as fast"
                    motor.publish.set_velocity(1.0)
                    since = getattr(wire, how)()
                    assert await soon(lambda: not remote.alive) < GONE
                    took.append(await asyncio.to_thread(late, host, since))
                    wire.mend()
                    await soon(lambda: remote.alive)
        tell(how, took)
        assert len(took) == TIMES
        assert max(took) < AFTER

    asyncio.run(main())


def test_a_hundred_commanders_stopped_while_a_joint_moves():
    async def main() -> None:
        took: list[float] = []
        with HostProcess(silence=SILENCE) as host:
            commander = subprocess.Popen([sys.executable, str(HERE / "net_commander.py"), host.endpoint, "again"], stdout=subprocess.PIPE, text=True)
            try:
                assert commander.stdout is not None
                for _ in range(TIMES):
                    assert await asyncio.to_thread(commander.stdout.readline) == "moving\n"
                    since = time.monotonic()
                    commander.send_signal(signal.SIGSTOP)
                    took.append(await asyncio.to_thread(late, host, since))
                    commander.send_signal(signal.SIGCONT)
            finally:
                commander.kill()
                commander.wait()
        tell("stopped", took)
        assert len(took) == TIMES
        assert max(took) < AFTER

    asyncio.run(main())
