"""An operator in a process of its own: `net_commander.py ENDPOINT` moves the shoulder until it is ended, under a lease."""

import asyncio
import sys

from pushrod.net import Link, connect


async def stream(endpoint: str) -> None:
    remote = await connect("arm", Link(connect=endpoint), operator="commander")
    motor = remote["shoulder_motor"]
    await remote.clear_watchdog("shoulder_motor")
    assert await motor.take_lease()
    for k in range(100_000):
        motor.publish.set_velocity(1.0)
        if k == 10:
            print("moving", flush=True)
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    asyncio.run(stream(sys.argv[1]))
