"""A robot with Dynamixels on a fake bus, and ways to run it in real time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from pushrod.drivers.dynamixel.line import Line, leave, share
from pushrod.drivers.dynamixel.model import MODELS
from pushrod.drivers.dynamixel.servo import Servo
from pushrod.guard.settings import Guard
from pushrod.robot.description import Actuator, Budget, Joint, Limits, Robot, Transmission
from pushrod.runtime.runtime import Runtime

LIMITS = Limits(-2.0, 2.0, velocity=6.0, acceleration=60.0, effort=1.0)
# patient where nothing goes wrong: the machine may be busy
QUICK: dict[str, Any] = {"baud": 1_000_000, "feedback_hz": 50.0, "patience": 0.2, "stale_after": 60.0, "bus_watchdog": 0.0}


def robot(path: str, *ids: int, limits: Limits = LIMITS, transmission: Transmission | None = None, restarts: int = 3, **options: Any) -> Robot:
    """One joint after the other, a servo on each: joint1 with motor1 and id 1 ..."""
    ids = ids or (1,)
    names = [f"link{id}" for id in ids]
    return Robot(
        "r",
        links=("base", *names),
        joints=tuple(
            Joint(f"joint{id}", "revolute", parent, f"link{id}", limits=limits) for id, parent in zip(ids, ("base", *names[:-1]), strict=True)
        ),
        actuators=tuple(
            Actuator(
                f"motor{id}",
                f"joint{id}",
                driver="pushrod.drivers.dynamixel:Dynamixel",
                options={**QUICK, "port": path, "id": id, **options},
                transmission=transmission or Transmission(),
            )
            for id in ids
        ),
        restarts=Budget(restarts, 60.0),
    )


def run(what: Robot, body: Callable[[Runtime], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with Runtime(what, guard=Guard(limit=5.0)) as rt:  # as patient as the rest
            return await body(rt)

    return asyncio.run(main())


async def until(true: Callable[[], Any], seconds: float = 5.0) -> Any:
    """Look until it is true."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it did not come true in time"
        await asyncio.sleep(0.002)
    return found


class Opened:
    """A line and a servo on it, without a driver."""

    def __init__(self, path: str, id: int = 1, model: int = 1200, patience: float = 0.1, attempts: int = 3) -> None:
        self.line: Line = share(path, 1_000_000, patience, self, "test")
        self.servo = Servo(self.line, id, MODELS[model], attempts)

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *error: object) -> None:
        leave(self.line, self)
