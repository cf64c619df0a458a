"""Robots to measure on: joints with all limits, behind geared and reversed motors, so that nothing of the gate is left out."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from pushrod.guard.settings import Guard
from pushrod.robot.description import Actuator, Joint, Limits, Robot, Transmission
from pushrod.runtime.runtime import Runtime

PATIENT = Guard(limit=60.0)  # heartbeats as ever, but what is measured may keep the event loop for seconds
LIMITS = Limits(-3.0, 3.0, velocity=1.0, acceleration=2.0, effort=10.0)
GEARED = Transmission(50.0, 0.1, True)


def made_safe(options: dict[str, Any]) -> None:
    """Nothing to switch off."""


class Plain:
    """Keeps what it was told last."""

    disarm = "runtime_rig:made_safe"

    def init(self, context: Any, options: Any) -> None:
        self.last = None

    def handle_command(self, payload: Any, command: Any) -> None:
        self.last = payload


class ThreadOwned(Plain):
    blocking = True


def robot(n: int = 1) -> Robot:
    return Robot(
        "bench",
        links=("base", *(f"l{i}" for i in range(n))),
        joints=tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=LIMITS) for i in range(n)),
        actuators=tuple(Actuator(f"m{i}", f"j{i}", transmission=GEARED) for i in range(n)),
    )


def live(what: Robot, drivers: dict[str, Any], body: Callable[[Runtime], Awaitable[Any]]) -> Any:
    """Run a coroutine with an armed runtime on the wall clock."""

    async def main() -> Any:
        async with Runtime(what, drivers, guard=PATIENT) as rt:
            answer = rt.arm()
            assert answer.ok, answer
            return await body(rt)

    return asyncio.run(main())


class Spread(NamedTuple):
    """Of a sample of durations; microseconds."""

    p50: float
    p99: float
    worst: float

    @classmethod
    def of(cls, ns: list[int]) -> "Spread":
        ns = sorted(ns)
        return cls(*(ns[min(len(ns) - 1, int(share * len(ns)))] / 1e3 for share in (0.5, 0.99, 1.0)))

    def __str__(self) -> str:
        return " | ".join(f"{x:.2f}" if x < 10.0 else f"{x:.0f}" for x in self)
