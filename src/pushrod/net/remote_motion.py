"""Wait for the end of a motion of a robot elsewhere.

Its end is told on the actuator's topic, which is quick; but a message can be lost on its way, and a host can die. So the host, which remembers the
ends of motions, is asked as well, before the wait and every now and then: no wait lasts longer than the motion, and none outlives its host.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pushrod.core.errors import NetworkError
from pushrod.net.caller import HostGoneError
from pushrod.runtime.bus import Subscription
from pushrod.runtime.message import EndMotion
from pushrod.runtime.motion_waiter import ADVICE
from pushrod.runtime.time_limit import time_limit

if TYPE_CHECKING:
    from pushrod.net.remote import RemoteRobot
    from pushrod.net.remote_actuator import RemoteActuator

AGAIN = 0.2  # [s] after which the host is asked again


async def await_end(remote: "RemoteRobot", actuator: "RemoteActuator", command_id: str, timeout: float | None) -> EndMotion:
    """HostGoneError where the host vanished meanwhile: whether the motion ended is not known then."""
    watch = remote.subscribe(actuator.topic, (EndMotion,))
    try:
        async with time_limit(timeout, f"{actuator.name}: the motion {command_id!r} has not ended", ADVICE):
            while True:
                end = await _asked(remote, actuator, command_id) or await _heard(watch, command_id)
                if end is not None:
                    return end
    finally:
        remote.bus.unsubscribe(watch)


async def _asked(remote: "RemoteRobot", actuator: "RemoteActuator", command_id: str) -> EndMotion | None:
    try:
        told: Mapping[str, Any] | None = await remote.tell("ended", address=actuator.name, id=command_id)
    except NetworkError as error:
        gone = f"the host of {remote.robot} vanished before {actuator.name} had told the end of the motion {command_id!r}"
        raise HostGoneError(f"{gone}: whether it ended is not known; look at the robot, and connect again") from error
    return None if told is None else EndMotion(**{name: value for name, value in told.items() if name != "type"})


async def _heard(watch: Subscription, command_id: str) -> EndMotion | None:
    """What comes on the topic for a while; what is lost where both times are up at once, the host knows."""
    try:
        async with asyncio.timeout(AGAIN):
            while True:
                end: EndMotion = (await watch.get()).payload
                if end.command_id == command_id:
                    return end
    except TimeoutError:
        return None
