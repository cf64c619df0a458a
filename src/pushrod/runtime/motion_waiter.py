"""Wait for the end of a motion by the id of the command that began it."""

import asyncio

from pushrod.runtime.bus import Bus
from pushrod.runtime.message import EndMotion


async def await_motion(bus: Bus, robot: str, topic: tuple[str, ...], command_id: str, timeout: float | None = None) -> EndMotion:
    """The EndMotion that carries the id. One that was published before the call is found if it is the newest of its topic."""
    watch = bus.subscribe(topic, (EndMotion,), latched=True, robot=robot)
    try:
        async with asyncio.timeout(timeout):
            async for message in watch:
                end: EndMotion = message.payload
                if end.command_id == command_id:
                    return end
        raise EOFError(f"the bus was closed before motion {command_id!r} ended")
    finally:
        bus.unsubscribe(watch)
