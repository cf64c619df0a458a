"""One who only looks: what it sees of robots that are there, gone, and back as another."""

import asyncio
import signal

from net_rig import HostProcess, arm, free_port

from pushrod.net import Link, connect
from pushrod.net.told import overview
from pushrod.net.watcher import Seen, Watcher
from pushrod.runtime import Runtime


def test_a_robot_is_seen_and_seen_to_be_gone_and_back():
    async def main() -> None:
        port = free_port()
        with HostProcess(port=port) as host:
            watcher = Watcher(host.link())

            (seen,) = await watcher.look()
            assert (seen.robot, seen.gone) == ("arm", "")
            assert seen.overview is not None
            assert seen.overview.state == "armed"
            assert seen.overview.operators == (), "who looks is no operator"
            assert seen.description is not None
            assert {told.name: told.kind for told in seen.description.actuators} == {"shoulder_motor": "revolute", "elbow_motor": "revolute"}
            async with await connect("arm", host.link(), operator="ann") as remote:
                await remote.disarm()
                (seen,) = await watcher.look("arm")
                assert seen.overview is not None
                assert (seen.overview.state, seen.overview.operators) == ("disarmed", ("ann",))
            host.signal(signal.SIGKILL)
            host.process.wait(10.0)
            (seen,) = await watcher.look()
            assert (seen.overview, seen.gone) == (None, "its host does not answer")
        with HostProcess(port=port):
            seen = await _until_seen(watcher)
            assert seen.overview is not None
            assert seen.overview.state == "armed"
        watcher.close()

    asyncio.run(main())


async def _until_seen(watcher: Watcher) -> Seen:
    async with asyncio.timeout(10.0):
        while True:
            (seen,) = await watcher.look()
            if seen.overview is not None:
                return seen
            await asyncio.sleep(0.02)


def test_a_host_that_was_stopped_and_disarmed_by_its_guard_is_not_told_to_be_armed():
    """It goes on, and is asked before it has heard what its guard did; its gates know."""

    async def main() -> None:
        async with Runtime(arm(), simulation=True, guard=False) as rt:
            rt.arm()
            assert overview(rt, ()).state == "armed"
            for host in rt.hosts.values():
                host.gate.fuse = b"\1"
            now = overview(rt, ())
            assert (now.state, now.why) == ("error", "the guard has disarmed it")

    asyncio.run(main())


def test_nobody_is_there():
    async def main() -> None:
        watcher = Watcher(Link(f"tcp/127.0.0.1:{free_port()}"))
        assert await watcher.look(wait=0.2) == []
        watcher.close()

    asyncio.run(main())
