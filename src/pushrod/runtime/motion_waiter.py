"""Wait for the end of a motion by the id of the command that began it."""

from collections.abc import Mapping

from pushrod.runtime.bus import Bus
from pushrod.runtime.message import EndMotion
from pushrod.runtime.time_limit import time_limit

ADVICE = "see whether its command was accepted with this id, whether its driver reports EndMotion, or give it more time"


async def await_motion(
    bus: Bus, robot: str, topic: tuple[str, ...], ended: Mapping[str, EndMotion], command_id: str, timeout: float | None = None
) -> EndMotion:
    """The EndMotion that carries the id. `ended` are those that were published before the call."""
    watch = bus.subscribe(topic, (EndMotion,), robot=robot)
    try:
        if command_id in ended:
            return ended[command_id]
        async with time_limit(timeout, f"{'/'.join(topic[1:])}: the motion {command_id!r} has not ended", ADVICE):
            async for message in watch:
                end: EndMotion = message.payload
                if end.command_id == command_id:
                    return end
        raise EOFError(f"the bus was closed before motion {command_id!r} ended")
    finally:
        bus.unsubscribe(watch)
