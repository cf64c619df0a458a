"""Wait for the end of a motion by the id of the command that began it."""

from collections.abc import Callable

from pushrod.runtime.bus import Bus
from pushrod.runtime.message import EndMotion
from pushrod.runtime.motions import Motion
from pushrod.runtime.time_limit import time_limit

ADVICE = "see whether its command was accepted with this id, whether its driver reports EndMotion, or give it more time"


async def await_motion(
    bus: Bus, robot: str, topic: tuple[str, ...], find: Callable[[str], Motion | None], command_id: str, timeout: float | None = None
) -> EndMotion:
    """Return the end of the newest motion with this id, or of the first one if none was accepted yet. `find` returns the newest motion."""
    watch = bus.subscribe(topic, (EndMotion,), robot=robot)
    try:
        motion = find(command_id)
        if motion is not None and motion.end is not None:
            return motion.end
        async with time_limit(timeout, f"{'/'.join(topic[1:])}: the motion {command_id!r} has not ended", ADVICE):
            async for _ in watch:
                motion = motion or find(command_id)
                if motion is not None and motion.end is not None:  # the message may be about an earlier motion with this id
                    return motion.end
        raise EOFError(f"the bus was closed before motion {command_id!r} ended")
    finally:
        bus.unsubscribe(watch)
