"""A boat of two thrusters with its pipeline on the stepped clock, and all that was heard of it, tick by tick."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pushrod.core.record import flat
from pushrod.live.pipeline import Helm, controller, parameters
from pushrod.live.thruster import Thruster
from pushrod.pipeline.act import Act, Params, Slew
from pushrod.pipeline.topic import ActuatorCmd, ActuatorReq, Allocated, Diagnostics, EscOutput, MixerFeedback
from pushrod.pipeline.two_motor_pipeline import Out, settling
from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Runtime, SteppedClock
from pushrod.runtime import run as run_on

HZ = 100.0
DT = 1.0 / HZ
ACT = Act(slew=Slew(2.0, 3.0, 0.4))
SETTLING = settling(Params(ACT))  # [s] for the motors to come to rest
DRIVER = "pushrod.live.thruster:Thruster"


def boat(act: Any = ACT, motors: tuple[str, ...] = ("left", "right"), policy: Any = "clamp", feedback_hz: float = 0.0, **options: Any) -> Robot:
    propeller = Limits(velocity=200.0, effort=10.0)
    thruster = {"neutral_time": 0.4, "feedback_hz": feedback_hz}
    return Robot(
        "boat",
        links=["hull", *(f"{name}_prop" for name in motors)],
        joints=[Joint(f"{name}_shaft", "continuous", "hull", f"{name}_prop", limits=propeller) for name in motors],
        actuators=[Actuator(name, f"{name}_shaft", DRIVER, thruster, limit_policy=policy) for name in motors],
        controllers=[controller(motors=motors, act=act, hz=HZ, **options)],
        parameters=parameters(act),
    )


class Boat:
    """A started runtime, its helm, its thrusters, and what the pipeline published."""

    def __init__(self, rt: Runtime) -> None:
        self.rt = rt
        self.helm = Helm(rt)
        self.pilot = Helm(rt, by="pilot")
        self.watch = rt.subscribe("controller/pipeline", size=1_000_000)
        self.said: list[Any] = []

    def thruster(self, name: str) -> Thruster:
        driver: Thruster = self.rt.hosts[name].part.driver.driver
        return driver

    def gives(self) -> tuple[float, ...]:
        """What the thrusters give now."""
        return tuple(self.thruster(name).u for name in self.rt.hosts)

    def heard(self, *kinds: type) -> list[Any]:
        while (message := self.watch.poll()) is not None:
            self.said.append(message)
        return [message.payload for message in self.said if type(message.payload) in kinds]

    def outs(self) -> list[Out]:
        """Tick by tick, put together from what was published."""
        rows = [self.heard(kind) for kind in (ActuatorReq, ActuatorCmd, Allocated, EscOutput, MixerFeedback, Diagnostics)]
        return [Out(*parts) for parts in zip(*rows, strict=True)]

    def rows(self) -> list[list[float]]:
        return [flat(out) for out in self.outs()]


def run(body: Callable[[Boat], Awaitable[Any]], robot: Robot | None = None, arm: bool = True, kind: Any = Boat) -> Any:
    async def main() -> Any:
        async with Runtime(boat() if robot is None else robot) as rt:
            if arm:
                assert rt.arm().ok
            return await body(kind(rt))

    return run_on(main(), SteppedClock())


async def under_way(b: Boat, seconds: float = 0.6) -> None:
    """On autopilot, asked for every tick."""
    assert b.helm.switch("autopilot").ok
    for _ in range(round(seconds / DT)):
        b.helm.autopilot(0.6, 0.3)
        await asyncio.sleep(DT)
    assert b.gives() == pytest.approx((0.3, 0.9))


def rates(b: Boat) -> list[float]:
    """Greatest change of an output from tick to tick."""
    esc = [(0.0, 0.0), *((e.u_L, e.u_R) for e in b.heard(EscOutput))]
    return [max(abs(b - a) for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(esc)]
