"""Cases 41 to 46: how simulated motors move.

adapted: times in seconds, not rounded to milliseconds.
"""

import asyncio
import math

import pytest
from fixture_r import DEG, FAST, TOPIC, WAYS, ask, heard, near, position, simulate

from pushrod.robot import Limits, Transmission
from pushrod.runtime import BeginMotion, Clamped, Position

NO_RAMP = Limits(-math.pi, math.pi, velocity=60.0 * DEG, effort=10.0)


def test_41_trapezoid() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        rt.arm()
        rt["motor"].direct.set_position(1.0, id="go")
        found = []
        for t in (0.25, 0.5, 0.727, 0.955):
            await asyncio.sleep(t - rt.clock.now())
            found.append(await position(rt))
        end = await rt.motion("motor", "go")
        return heard(watch), found, end, rt.clock.now()

    (motion,), found, end, t = simulate(body)
    assert (motion.acceleration, motion.peak_velocity) == (near(2.0944, 1e-3), near(1.0472, 1e-3))
    assert (motion.initial_position, motion.target_position, motion.command_type, motion.command_id) == (0.0, 1.0, "position", "go")
    assert motion.expected_arrival == near(1.455, 5e-4)
    assert found == [near(0.06545, 1e-6), near(0.261799, 1e-6), near(0.499513, 1e-6), near(0.738274, 1e-6)]
    assert (end.reason, end.position, t) == ("completed", 1.0, near(1.455, 5e-4))


def test_41_backwards_and_prismatic() -> None:
    async def body(rt):
        rt.arm()
        rt["motor"].direct.set_position(-1.0)
        await asyncio.sleep(0.727)
        return await position(rt)

    assert simulate(body) == near(-0.499513, 1e-6)
    assert simulate(body, Limits(-3, 3, velocity=60.0 * DEG, acceleration=120.0 * DEG, effort=10.0), kind="prismatic") == near(-0.499513, 1e-6)


def test_42_triangle() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        rt.arm()
        rt["motor"].direct.set_position(0.1)
        return heard(watch)

    (motion,) = simulate(body)
    assert (motion.peak_velocity, motion.acceleration) == (near(0.457646, 1e-6), near(2.0944, 1e-4))
    assert motion.expected_arrival == near(0.437, 5e-4)


def test_43_without_a_limit_of_acceleration() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        rt.arm()
        rt["motor"].direct.set_position(1.0)
        return heard(watch)

    (motion,) = simulate(body, NO_RAMP)
    assert (motion.acceleration, motion.peak_velocity) == (None, None)
    assert motion.expected_arrival == near(0.955, 5e-4)


def test_44_clamped_to_the_travel() -> None:
    # adapted: the answer says that it was clamped, where the reference says ok
    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        rt.arm()
        return rt["motor"].direct.set_position(3.0), heard(watch)

    result, (motion,) = simulate(body, Limits(-90 * DEG, 90 * DEG, velocity=1, effort=1))
    assert isinstance(result, Clamped)
    assert (result.asked.position, result.done.position) == (3.0, near(1.5708, 1e-4))
    assert motion.target_position == near(1.5708, 1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_44_disarmed(way: str) -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        result = await ask(getattr(rt["motor"], way), Position(1.0))
        await asyncio.sleep(0.5)
        return result, heard(watch), await position(rt)

    result, begun, x = simulate(body)
    assert (result.reason, begun, x) == ("not_armed", [], 0.0)


def test_45_a_new_target_on_the_way() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        rt.arm()
        rt["motor"].direct.set_position(1.0)
        await asyncio.sleep(0.05)
        rt["motor"].direct.set_position(0.5)
        return heard(watch)

    _, second = simulate(body, Limits(-3, 3, velocity=10 * DEG, effort=1))
    assert second.initial_position == near(0.0087, 1e-4)
    # adapted: it goes on at the velocity it has, where the reference starts again from rest
    assert second.initial_velocity == near(10 * DEG)


def test_46_through_a_reversed_gear() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [BeginMotion])
        rt.arm()
        rt["motor"].direct.set_position(math.pi / 4 + 0.01, id="go")
        end = await rt.motion("motor", "go")
        return heard(watch), end

    (motion,), end = simulate(body, FAST, Transmission(50, 45 * DEG, True))
    assert motion.target_position == near(math.pi / 4 + 0.01)
    assert end.position == near(math.pi / 4 + 0.01)
