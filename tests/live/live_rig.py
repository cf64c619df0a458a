"""The arm behind the runtime on the stepped clock, and what was heard of it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from pushrod.live.machine import SimulatedMachine
from pushrod.robot import Actuator, Robot
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.message import BeginMotion, EndMotion, JointState
from pushrod.runtime.runtime import Runtime
from pushrod.sim import machine
from pushrod.sim.worlds.arm import State

DT = 1e-3


def with_options(robot: Robot, **options: Any) -> Robot:
    """The same robot with other options of its motors."""
    motors = [Actuator(a.name, a.joint, a.driver, {**a.options, **options}, a.transmission) for a in robot.actuators]
    return Robot(robot.name, robot.links, robot.joints, motors)


class Arm:
    """A started and armed runtime with the simulated arm."""

    def __init__(self, rt: Runtime, world: SimulatedMachine, clock: SteppedClock) -> None:
        self.rt = rt
        self.world = world
        self.clock = clock
        self.watch = rt.bus.subscribe(("actuator",), (BeginMotion, EndMotion, JointState), size=100_000)
        self.said: list[Any] = []

    def __getitem__(self, name: str) -> Any:
        return self.rt[name].direct

    def q(self, joint: str = "shoulder") -> float:
        return self.world.output(f"{joint}.q")

    def heard(self, kind: type) -> list[Any]:
        while (message := self.watch.poll()) is not None:
            self.said.append(message)
        return [message for message in self.said if type(message.payload) is kind]

    def ended(self) -> list[tuple[str | None, str, str | None]]:
        return [(m.payload.command_id, m.payload.reason, m.payload.detail) for m in self.heard(EndMotion)]


def run(body: Callable[[Arm], Awaitable[Any]], state: State | None = None, overrides: tuple[str, ...] = (), **options: Any) -> Any:
    what = machine.load("arm", overrides)
    world = SimulatedMachine(replace(what, robot=with_options(what.robot, **options)), dt=DT, state=state, record=True)
    clock = SteppedClock()

    async def main() -> Any:
        async with Runtime(world.robot, machine=world, clock=clock) as rt:
            assert rt.arm().ok
            return await body(Arm(rt, world, clock))

    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        return runner.run(main())
