"""A commander that is known to be gone: the watchdogs of what it commanded last do not wait for silence."""

import asyncio

from pushrod.robot import Actuator, Joint, Limits, Robot, Watchdog
from pushrod.runtime import HardwareError, Runtime, SteppedClock, Velocity, run
from pushrod.safety.watchdog import Reaction

LIMITS = Limits(-9.0, 9.0, velocity=2.0, acceleration=20.0, effort=5.0)
PATIENT = Watchdog(10.0, Reaction.RELEASE)


def robot() -> Robot:
    return Robot(
        "r",
        links=["base", "a", "b", "c"],
        joints=[Joint(f"j{name}", "revolute", "base", name, limits=LIMITS) for name in "abc"],
        actuators=[Actuator("ma", "ja", watchdog=PATIENT), Actuator("mb", "jb", watchdog=PATIENT), Actuator("mc", "jc")],
    )


def live(body):
    async def main():
        async with Runtime(robot(), simulation=True) as rt:
            assert rt.arm().ok
            return await body(rt)

    return run(main(), SteppedClock())


def test_only_what_it_commanded_last_and_has_a_watchdog_reacts():
    async def body(rt):
        for name in ("ma", "mb", "mc"):
            assert rt.handle(name, "ann").direct.send(Velocity(1.0)).ok
        assert rt.handle("mb", "bob").direct.send(Velocity(1.0)).ok
        assert [rt[name].host.gate.commander for name in ("ma", "mb", "mc")] == ["ann", "bob", "ann"]
        errors = rt.subscribe("safety", [HardwareError])
        assert rt.watching.forsake("ann", "ann is gone") == ["base/ja/ma"]
        await asyncio.sleep(0.02)
        assert errors.poll().payload.error == "watchdog tripped: ann is gone; reaction: release"
        assert errors.poll() is None
        assert rt.watching.bitten() == ["base/ja/ma"]
        assert rt.handle("ma", "ann").direct.hold().reason == "watchdog"
        assert rt.handle("mb", "bob").direct.hold().ok
        assert rt.clear_watchdog("ma")
        assert rt.handle("ma", "bob").direct.hold().ok
        await asyncio.sleep(1.0)
        assert rt.watching.bitten() == [], "it is not forsaken any more"

    live(body)


def test_who_is_disarmed_has_nothing_to_stop():
    async def body(rt):
        assert rt.handle("ma", "ann").direct.send(Velocity(1.0)).ok
        rt.disarm()
        assert rt.watching.forsake("ann", "ann is gone") == []
        assert rt.arm().ok
        await asyncio.sleep(0.05)
        assert rt.watching.bitten() == []

    live(body)
