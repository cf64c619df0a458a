"""An operator in a process of its own: `net_commander.py ENDPOINT` moves the shoulder until it is ended, under a lease.

With `again` after it, it begins anew, and says so, whenever the watchdog has tripped.
"""

import asyncio
import sys

from pushrod.net import Link, RemoteRobot, connect


async def move(remote: RemoteRobot, again: bool) -> None:
    """Until the watchdog bites, which it does once this process was stopped for long."""
    motor = remote["shoulder_motor"]
    while not remote.alive:
        await asyncio.sleep(0.01)
    await remote.clear_watchdog("shoulder_motor")
    assert await motor.take_lease()
    for k in range(100_000):
        answer = await motor.sync.set_velocity(1.0)
        if not answer.ok and again:
            return
        if k == 10:
            print("moving", flush=True)
        await asyncio.sleep(0.02)


async def main(endpoint: str, again: bool) -> None:
    remote = await connect("arm", Link(connect=endpoint), operator="commander")
    while True:
        try:
            await move(remote, again)
        except (ConnectionError, TimeoutError, AssertionError):
            if not again:
                raise
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], "again" in sys.argv))
