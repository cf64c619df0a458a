"""A minute of 20,000 commands a second over 100 actuators: each passes the whole gate, none is refused, and nothing is left behind."""

import asyncio
import gc
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pushrod.guard.settings import Guard
from pushrod.robot.description import Actuator, Joint, Limits, Robot, Transmission
from pushrod.runtime.result import Accepted
from pushrod.runtime.runtime import Runtime

pytestmark = pytest.mark.soak

ACTUATORS = 100
RATE = 20_000  # [1/s]
SECONDS = 60
BEHIND = 1.0  # [s] that a loaded machine may keep the loop waiting before the rate counts as not held
DEAR = 10e-6  # [s] of processor time for a command, a fifth of what the rate leaves for it
GROWTH = 1 << 20  # [B]


def torque_off(options: dict[str, Any]) -> None:
    """Nothing to switch off."""


class Servo:
    disarm = f"{__name__}:torque_off"

    def init(self, context: Any, options: Any) -> None:
        self.told = 0

    def handle_command(self, payload: Any, command: Any) -> None:
        self.told += 1


def robot() -> Robot:
    limits, geared = Limits(-3.0, 3.0, velocity=1.0, effort=10.0), Transmission(50.0, 0.1, True)
    return Robot(
        "many",
        links=("base", *(f"l{i}" for i in range(ACTUATORS))),
        joints=tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=limits) for i in range(ACTUATORS)),
        actuators=tuple(Actuator(f"m{i}", f"j{i}", transmission=geared) for i in range(ACTUATORS)),
    )


def memory() -> tuple[int, int]:
    """Resident bytes, and objects that Python holds."""
    gc.collect()
    statm = Path("/proc/self/statm")
    resident = int(statm.read_text().split()[1]) * resource.getpagesize() if statm.exists() else 0
    return resident, sys.getallocatedblocks()


def test_the_rate_is_held_with_flat_memory() -> None:
    servos = [Servo() for _ in range(ACTUATORS)]
    sent = answered = 0
    cpu = 0.0
    behind = 0.0  # [s] at most

    async def body(rt: Runtime) -> list[tuple[int, int]]:
        assert rt.arm().ok
        send = [rt[f"m{i}"].direct.set_position for i in range(ACTUATORS)]
        start = time.monotonic()

        def control(k: int) -> None:
            nonlocal sent, answered, cpu, behind
            began, now = time.thread_time(), time.monotonic() - start
            behind = max(behind, now - sent / RATE)
            while sent < (time.monotonic() - start) * RATE:  # in rounds of all actuators; what the machine held up is made good
                for set_position in send:
                    answered += type(set_position(1e-6 * (k % 1000), 0.5)) is Accepted
                sent += ACTUATORS
            cpu += time.thread_time() - began

        cadence = rt.loop(hz=RATE / ACTUATORS)(control)
        await asyncio.sleep(SECONDS / 6)
        seen = [memory()]
        await asyncio.sleep(SECONDS * 5 / 6 - (time.monotonic() - start - SECONDS / 6))
        cadence.stop()
        assert cadence.error is None  # type: ignore[attr-defined]
        seen.append(memory())
        refused = {name: host.statistics().refused for name, host in rt.hosts.items() if host.statistics().refused}
        assert not refused
        return seen

    async def main() -> list[tuple[int, int]]:
        drivers = {f"m{i}": (lambda servo=servo: servo) for i, servo in enumerate(servos)}
        async with Runtime(robot(), drivers, guard=Guard(limit=2.0 * BEHIND)) as rt:
            return await body(rt)

    (resident, blocks), (resident_after, blocks_after) = asyncio.run(main())
    assert sent >= 0.99 * RATE * SECONDS
    assert answered == sent
    assert [servo.told for servo in servos] == [sent // ACTUATORS] * ACTUATORS
    assert cpu / sent < DEAR, f"{1e6 * cpu / sent:.2f} us of processor time for a command"
    assert resident_after - resident < GROWTH
    assert blocks_after - blocks < 1000
    print(f"{sent / SECONDS:.0f} commands/s, {1e6 * cpu / sent:.2f} us of processor time each, at most {1e3 * behind:.0f} ms behind")
    assert behind < BEHIND
