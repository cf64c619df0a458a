"""The simulated thruster: it does what it is told, and goes to rest on its own way down where it is told no more."""

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest
from pipeline_rig import Boat, boat, run

from pushrod.live.payload import Throttle
from pushrod.live.thruster import ThrusterState
from pushrod.robot import Transmission


def alone(**changes: Any) -> Any:
    robot = boat()
    return replace(robot, controllers=(), parameters=(), actuators=tuple(replace(a, **changes) for a in robot.actuators))


def steered(body: Any, **changes: Any) -> None:
    async def main(b: Any) -> None:
        await body(b.rt)

    class Free(Boat):
        def __init__(self, rt: Any) -> None:
            self.rt = rt

    run(main, alone(**changes), kind=Free)


def gives(rt: Any, name: str = "left") -> float:
    u: float = rt.hosts[name].part.driver.driver.u
    return u


def test_it_gives_what_it_is_told_within_its_limits() -> None:
    async def body(rt: Any) -> None:
        assert rt["left"].direct.send(Throttle(0.4)).ok
        assert gives(rt) == 0.4
        assert await rt["left"].request("u") == 0.4
        answer = rt["left"].direct.send(Throttle(-3.0))
        assert (answer.done, gives(rt)) == (Throttle(-1.0), -1.0)
        assert rt["left"].direct.send(Throttle(math.nan)).reason == "malformed"
        assert rt["left"].direct.set_velocity(1.0).reason == "unsupported"
        with pytest.raises(LookupError, match="answers 'u'"):
            await rt["left"].request("thrust")

    steered(body)


def test_mounted_the_other_way_round_it_turns_the_other_way() -> None:
    async def body(rt: Any) -> None:
        rt["left"].direct.send(Throttle(0.4))
        assert gives(rt) == -0.4

    steered(body, transmission=Transmission(reversed=True))


@pytest.mark.parametrize("u", [0.8, -0.8])
def test_it_comes_to_rest_at_a_constant_rate_and_asked_twice_no_later(u: float) -> None:
    async def body(rt: Any) -> None:
        rt["left"].direct.send(Throttle(u))
        rt.disarm()
        await asyncio.sleep(0.1)
        assert gives(rt) == pytest.approx(u - math.copysign(0.25, u))
        rt.disarm()
        await asyncio.sleep(0.1)
        assert gives(rt) == pytest.approx(u - math.copysign(0.5, u))
        await asyncio.sleep(0.121)
        assert gives(rt) == 0.0

    steered(body)


def test_a_stop_is_at_once_or_slowly() -> None:
    async def body(rt: Any) -> None:
        rt["left"].direct.send(Throttle(1.0))
        rt["left"].direct.stop("decelerate")
        await asyncio.sleep(0.1)
        assert gives(rt) == pytest.approx(0.75)
        rt["left"].direct.stop()
        assert gives(rt) == 0.0

    steered(body)


def test_it_tells_what_it_gives() -> None:
    async def body(rt: Any) -> None:
        seen = rt.subscribe("actuator", (ThrusterState,))
        rt["left"].direct.send(Throttle(0.4))
        await asyncio.sleep(0.105)
        assert [seen.poll().payload.u for _ in range(4)] == [0.4, 0.0] * 2
        assert seen.statistics().received == 20

    steered(body, options={"feedback_hz": 100.0})


@pytest.mark.parametrize("options", [{"neutral_time": -1.0}, {"feedback_hz": 1e9}])
def test_options_that_make_no_sense_are_refused(options: dict[str, float]) -> None:
    async def body(rt: Any) -> None: ...

    with pytest.raises(Exception, match="allowed are 0"):
        steered(body, options=options)
