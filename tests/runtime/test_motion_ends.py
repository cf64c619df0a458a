"""Every motion that was accepted with an id ends exactly once, and belongs to the command that began it."""

import asyncio
import time
from typing import Any

import pytest
from rig import Servo, robot, run

from pushrod.runtime import Effort, EndMotion, Hold, LocalBus, Position, Runtime, SteppedClock, Trajectory, Velocity, WallClock
from pushrod.runtime.message import BeginMotion
from pushrod.runtime.motions import GRACE, REMEMBERED, SILENT
from pushrod.runtime.payload import Waypoint
from pushrod.runtime.result import Declined
from pushrod.runtime.simulated.kinematic import Kinematic


class Silent(Servo):
    """Never reports a motion."""


class Slow(Servo):
    blocking = True

    def handle_command(self, payload: Any, command: Any) -> None:
        self.told.append(payload)
        time.sleep(0.05)
        self.context.publish(EndMotion(0.5, "completed", command_id=command.id))


class Fragile(Servo):
    def handle_command(self, payload: Any, command: Any) -> None:
        if payload.position < 0.0:
            raise RuntimeError("broken wire")


def ends(watch: Any) -> list[tuple[str, str, str | None]]:
    seen = []
    while (m := watch.poll()) is not None:
        seen.append((m.payload.command_id, m.payload.reason, m.payload.detail))
    return seen


def test_a_reused_id_waits_for_the_new_motion() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].direct.set_position(0.5, id="a")
        first = await rt.motion("motor", "a")
        rt["motor"].direct.set_position(1.5, id="a")
        assert "a" not in rt["motor"].host.ended
        began = rt.clock.now()
        second = await rt.motion("motor", "a", 10.0)
        return first.position, second.position, rt.clock.now() - began

    first, second, took = run(robot(), {"motor": Kinematic}, body)
    assert (first, second) == (pytest.approx(0.5), pytest.approx(1.5))
    assert took > 0.5


def test_an_id_that_is_reused_under_way_gives_each_wait_its_own_end() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].direct.set_position(2.0, id="a")
        before = asyncio.create_task(rt.motion("motor", "a", 10.0))
        await asyncio.sleep(0.2)
        rt["motor"].direct.set_position(1.0, id="a")
        after = await rt.motion("motor", "a", 10.0)
        return await before, after

    before, after = run(robot(), {"motor": Kinematic}, body)
    assert (before.reason, before.detail) == ("cancelled", "superseded")
    assert (after.reason, after.position) == ("completed", pytest.approx(1.0))


def test_a_wait_that_started_before_the_command_gets_its_end() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        wait = asyncio.create_task(rt.motion("motor", "a", 10.0))
        await asyncio.sleep(0.1)
        rt["motor"].direct.set_position(0.5, id="a")
        return (await wait).reason

    assert run(robot(), {"motor": Kinematic}, body) == "completed"


def test_a_reused_id_of_a_blocking_driver_is_forgotten_before_its_thread_acts() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].publish.set_position(0.1, id="a")
        await rt.motion("motor", "a", 5.0)
        rt["motor"].publish.set_position(0.2, id="a")
        ended, reason = "a" in rt["motor"].host.ended, (await rt.motion("motor", "a", 5.0)).reason
        async with asyncio.timeout(5.0):
            while rt["motor"].statistics().acted < 2:  # a driver reports the end before its call returns
                await asyncio.sleep(0.001)
        return ended, reason

    assert run(robot(), {"motor": Slow}, body, WallClock()) == (False, "completed")


def test_a_motion_in_the_slot_that_is_superseded_ends() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        for k in range(3):
            rt["motor"].publish.set_position(0.1 * k, id=str(k))
        return [(end.reason, end.detail) for end in [await rt.motion("motor", str(k), 5.0) for k in range(3)]]

    result = run(robot(), {"motor": Slow}, body, WallClock())
    assert ("cancelled", "superseded") in result
    assert result[-1] == ("completed", None)


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
@pytest.mark.parametrize("stop", ["disarm", "estop"])
def test_the_motion_of_a_silent_driver_ends_when_the_robot_stops(clock: Any, stop: str) -> None:
    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("actuator",), (EndMotion,))
        rt.arm()
        rt["motor"].direct.set_position(0.5, id="a")
        wait = asyncio.create_task(rt.motion("motor", "a", 5.0))
        await asyncio.sleep(0.01)
        getattr(rt, stop)()
        end = await wait
        return end.reason, end.detail, ends(watch)

    assert run(robot(), {"motor": Silent}, body, clock()) == ("cancelled", "disarmed", [("a", "cancelled", "disarmed")])


def test_a_driver_that_ends_its_motions_itself_gives_one_end() -> None:
    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("actuator",), (EndMotion,))
        rt.arm()
        rt["motor"].direct.set_position(2.0, id="a")
        await asyncio.sleep(0.1)
        rt.disarm()
        await asyncio.sleep(3.0 * GRACE)
        rt.arm()
        rt["motor"].direct.set_position(2.0, id="b")
        rt["motor"].direct.set_position(1.0)
        await asyncio.sleep(3.0 * GRACE)
        return ends(watch)

    assert run(robot(), {"motor": Kinematic}, body) == [("a", "cancelled", "disarmed"), ("b", "cancelled", "superseded")]


def test_an_end_that_comes_after_the_host_has_ended_the_motion_is_dropped() -> None:
    servo = Servo()

    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("actuator",), (EndMotion,))
        rt.arm()
        rt["motor"].direct.set_position(0.5, id="a")
        rt.disarm()
        await asyncio.sleep(3.0 * GRACE)
        servo.context.publish(EndMotion(0.5, "cancelled", "disarmed", command_id="a"))
        return ends(watch)

    assert run(robot(), {"motor": lambda: servo}, body) == [("a", "cancelled", "disarmed")]


@pytest.mark.parametrize("begins", [False, True])
def test_a_newer_command_ends_a_motion_that_its_driver_leaves_open(begins: bool) -> None:
    class Forgetful(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            if begins:
                self.context.publish(BeginMotion(0.1, payload.position, 1.0, command.id))

    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].direct.set_position(0.5, id="a")
        rt["motor"].direct.set_position(0.6, id="b")
        old = await rt.motion("motor", "a", 5.0)
        assert "b" not in rt["motor"].host.ended
        rt["motor"].direct.hold()
        return (old.reason, old.detail), (await rt.motion("motor", "b", 5.0)).detail

    class Holding(Forgetful):
        def handle_command(self, payload: Any, command: Any) -> None:
            if isinstance(payload, Position):
                super().handle_command(payload, command)

    assert run(robot(), {"motor": Holding}, body) == (("cancelled", "superseded"), "superseded")


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_a_crash_ends_motions_that_were_never_begun(clock: Any) -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].direct.set_position(0.5, id="a")
        assert rt["motor"].direct.set_position(-0.5, id="b").reason == "driver_error"
        return [(end.reason, end.detail) for end in (await rt.motion("motor", "a", 5.0), await rt.motion("motor", "b", 5.0))]

    assert run(robot(), {"motor": Fragile}, body, clock()) == [("fault", "driver_failed")] * 2


def test_the_end_of_the_runtime_ends_motions_on_a_bus_that_stays() -> None:
    async def main() -> Any:
        bus = LocalBus(clock.now)
        async with Runtime(robot(), {"motor": Silent}, clock=clock, bus=bus) as rt:
            rt.arm()
            rt["motor"].direct.set_position(0.5, id="a")
            wait = asyncio.create_task(rt.motion("motor", "a", 60.0))
            await asyncio.sleep(0.01)
        return (await wait).reason

    clock = SteppedClock()
    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        assert runner.run(main()) == "cancelled"


def test_a_declined_command_leaves_the_earlier_end_of_its_id() -> None:
    class Picky(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            if payload.position < 0.0:
                raise Declined("no")
            self.context.publish(EndMotion(payload.position, "completed", command_id=command.id))

    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].direct.set_position(0.5, id="a")
        rt["motor"].direct.set_position(-0.5, id="a")
        return (await rt.motion("motor", "a", 1.0)).position

    assert run(robot(), {"motor": Picky}, body) == 0.5


def test_motions_take_bounded_memory() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        for k in range(5000):
            rt["motor"].direct.set_position(0.5, id=str(k))
        motions = rt["motor"].host.motions
        return len(motions.open), len(motions.ended), len(motions._newest)

    opened, ended, known = run(robot(), {"motor": Silent}, body)
    assert opened <= REMEMBERED
    assert ended <= REMEMBERED
    assert known <= 2 * REMEMBERED + 1


THERE_AND_BACK = (Waypoint(0.5, 10.0), Waypoint(0.0, 20.0))


def test_a_simulated_motion_of_hours_completes() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        began = rt.clock.now()
        assert rt.send([("motor", Trajectory(THERE_AND_BACK, repeat=400), "a")])[0].ok
        end = await rt.motion("motor", "a")
        return end.reason, end.detail, rt.clock.now() - began

    reason, detail, took = run(robot(options={"feedback_hz": 0.0}), {"motor": Kinematic}, body)
    assert (reason, detail) == ("completed", None)
    assert took == pytest.approx(8000.0)


@pytest.mark.parametrize("payload", [Velocity(0.1), Effort(0.1), Trajectory(THERE_AND_BACK, repeat="forever")])
def test_a_motion_until_the_next_command_has_no_deadline_whatever_is_announced(payload: Any) -> None:
    class Announcing(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            self.context.publish_begin_motion(0.0, 0.2, self.context.now() + 5.0, command_id=command.id)

    async def body(rt: Runtime) -> None:
        rt.arm()
        assert rt.send([("motor", payload, "a")])[0].ok
        with pytest.raises(TimeoutError):
            await rt.motion("motor", "a", timeout=100.0)

    run(robot(), {"motor": Announcing}, body)


def test_a_hold_whose_arrival_is_announced_has_a_deadline() -> None:
    class Announcing(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            self.context.publish_begin_motion(0.0, 0.0, self.context.now() + 1.0, command_id=command.id)

    async def body(rt: Runtime) -> Any:
        rt.arm()
        assert rt.send([("motor", Hold(), "a")])[0].ok
        return (await rt.motion("motor", "a")).detail, rt.clock.now()

    detail, now = run(robot(), {"motor": Announcing}, body)
    assert detail == "silent"
    assert now == pytest.approx(1.0 + SILENT, abs=0.01)
