"""A robot with one geared joint, a driver that remembers, and ways to run it on the stepped clock without waiting."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pushrod.guard.settings import Guard
from pushrod.robot.description import Actuator, Joint, Limits, Robot, Transmission
from pushrod.runtime.clock import Clock, SteppedClock
from pushrod.runtime.runtime import Runtime

DISARMED: list[Any] = []  # what the disarm functions were called with, in order


def torque_off(options: dict[str, Any]) -> None:
    DISARMED.append(options)


def torque_stuck(options: dict[str, Any]) -> None:
    raise OSError("Hardware communication failed")


class Servo:
    """Remembers what it was told, in motor space."""

    disarm = "rig:torque_off"

    def __init__(self) -> None:
        self.told: list[Any] = []

    def init(self, context: Any, options: Any) -> None:
        self.context = context

    def handle_command(self, payload: Any, command: Any) -> Any:
        self.told.append(payload)


def robot(transmission: Transmission | None = None, **actuator: Any) -> Robot:
    limits = Limits(-3.0, 3.0, velocity=1.0, acceleration=2.0, effort=10.0)
    return Robot(
        "r",
        links=("base", "arm"),
        joints=(Joint("shoulder", "revolute", "base", "arm", limits=limits),),
        actuators=(Actuator("motor", "shoulder", transmission=transmission or Transmission(), **actuator),),
    )


def run(what: Robot, drivers: dict[str, Any], body: Callable[[Runtime], Awaitable[Any]], clock: Clock | None = None) -> Any:
    """Run a coroutine with a started runtime; the stepped clock unless told otherwise."""
    clock = clock or SteppedClock()

    async def main() -> Any:
        async with Runtime(what, drivers, clock=clock, guard=Guard(limit=5.0)) as rt:  # patient: the machine may be busy
            return await body(rt)

    DISARMED.clear()
    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        return runner.run(main())
