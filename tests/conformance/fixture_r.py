"""Fixture R: base -shoulder(revolute, -180 to 180 deg, 10 N.m, 60 deg/s)- arm, actuator motor; and a driver that remembers what reached it."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pushrod.robot import Actuator, Joint, Limits, Robot, Transmission
from pushrod.runtime import (
    Accepted,
    Clamped,
    Clock,
    Effort,
    Guard,
    Hold,
    Position,
    Refused,
    Runtime,
    SteppedClock,
    Stop,
    Subscription,
    Trajectory,
    Velocity,
    WallClock,
    Waypoint,
)

DEG = math.pi / 180.0
LIMITS = Limits(-180.0 * DEG, 180.0 * DEG, velocity=60.0 * DEG, effort=10.0)
TOPIC = ("actuator", "base", "shoulder", "motor")
WAYS = ("direct", "sync", "publish")
SIX = [Position(0.5), Velocity(0.1), Effort(1.0), Trajectory((Waypoint(0.5, 1.0),)), Hold(), Stop()]
FAST = Limits(-math.pi, math.pi, velocity=60.0 * DEG, acceleration=120.0 * DEG, effort=10.0)
DISARMED: list[dict[str, Any]] = []  # what the disarm function was called with


def near(x: Any, tolerance: float = 1e-9) -> Any:
    return pytest.approx(x, abs=tolerance)


def torque_off(options: dict[str, Any]) -> None:
    DISARMED.append(options)


class Probe:
    """Remembers what reached it, in motor space."""

    disarm = "fixture_r:torque_off"

    def __init__(self) -> None:
        self.commands: list[Any] = []
        self.messages: list[Any] = []
        self.options_seen: list[Any] = []

    def init(self, context: Any, options: Any) -> None:
        self.context = context
        self.options_seen.append(options)

    def handle_command(self, payload: Any, command: Any) -> Any:
        self.commands.append(payload)

    def handle_options(self, context: Any, options: Any) -> None:
        self.context = context
        self.options_seen.append(options)

    def handle_message(self, topic: Any, message: Any) -> None:
        self.messages.append((topic, message.payload))


def robot(transmission: Transmission | None = None, limits: Limits | None = LIMITS, kind: Any = "revolute", name: str = "r", **more: Any) -> Robot:
    on_robot = {key: more.pop(key) for key in ("parameters", "sensors", "controllers", "restarts") if key in more}
    return Robot(
        name,
        links=["base", "arm"],
        joints=[Joint("shoulder", kind, "base", "arm", limits=limits)],
        actuators=[Actuator("motor", "shoulder", transmission=transmission or Transmission(), **more)],
        **on_robot,
    )


PATIENT = Guard(limit=5.0)  # the machine may be busy


def drive(what: Robot, drivers: dict[str, Any], body: Callable[[Runtime], Awaitable[Any]], clock: Clock | None = None, **runtime: Any) -> Any:
    """Run a coroutine beside a started runtime; on the stepped clock unless told otherwise."""
    clock = clock or SteppedClock()

    async def main() -> Any:
        async with (
            Runtime(what, drivers, clock=clock, **{"guard": PATIENT, **runtime}) as rt,
            asyncio.timeout(10.0 if isinstance(clock, WallClock) else None),
        ):
            return await body(rt)

    DISARMED.clear()
    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        return runner.run(main())


def one(probe: Probe) -> dict[str, Any]:
    """This very driver for the motor."""
    return {"motor": lambda: probe}


def simulate(body: Callable[[Runtime], Awaitable[Any]], limits: Limits = FAST, transmission: Transmission | None = None, **more: Any) -> Any:
    return drive(robot(transmission, limits, **more), {}, body, simulation=True)


async def position(rt: Runtime) -> float:
    """Where the joint is; the motor is asked, because reports come at a rate of their own."""
    transmission = rt.robot.actuator("motor").transmission
    return transmission.position_to_joint((await rt["motor"].request("state"))["position"])


async def ask(view: Any, payload: Any, **envelope: Any) -> Any:
    """Send, and wait where that delivery waits."""
    answer = view.send(payload, **envelope)
    return answer if isinstance(answer, Accepted | Clamped | Refused) else await answer


def heard(watch: Subscription, *kinds: type) -> list[Any]:
    """The payloads that wait, of these kinds or of all."""
    found = []
    while (message := watch.poll()) is not None:
        if not kinds or isinstance(message.payload, kinds):
            found.append(message.payload)
    return found
