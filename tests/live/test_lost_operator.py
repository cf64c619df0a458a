"""Whoever commanded a shipped machine from elsewhere and vanished: no pedal, no course and no stick of theirs goes on."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

import pytest

from pushrod.core.errors import InputError
from pushrod.live import Actuation, Attitude, Flight, SimulatedMachine
from pushrod.live.autopilot import Course
from pushrod.live.pipeline import Helm
from pushrod.live.pipeline.request import Switch
from pushrod.net.operators import Operators
from pushrod.net.service import Service
from pushrod.recording.taped import Taped
from pushrod.runtime import OperatorVanished, Runtime, SteppedClock, run
from pushrod.runtime.payload import Hold
from pushrod.sim import machine


def served(name, body, dt=0.01):
    """`body(rt, live, ann)`: ann is connected; `ann.do(what, **arguments)`, `ann.vanish()`, `ann.leave()`."""
    live, clock = SimulatedMachine(machine.load(name), dt=dt), SteppedClock()

    async def main():
        async with Runtime(live.robot, machine=live, clock=clock) as rt:
            operators = Operators(rt, None, 1.0)
            service = Service(rt, operators)
            operators.came("ann", "1")

            def leave():
                operators.leave("ann", "1")
                operators.went("ann", "1")()

            ann = SimpleNamespace(
                do=lambda what, **arguments: service.do(what, "ann", arguments),
                ask=lambda part, request: service.do("request", "ann", {"part": part, "request": request, "timeout": 1.0}),
                vanish=lambda: operators.went("ann", "1")(),
                leave=leave,
            )
            assert rt.arm().ok
            return await body(rt, live, ann)

    return run(main(), clock)


async def streamed(rt, name, payload, seconds):
    for _ in range(round(seconds / 0.1)):
        assert rt.handle(name, "ann").direct.send(payload).ok
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("how", ["vanish", "mute"])
def test_the_car_takes_its_foot_off_and_brakes(how):
    async def body(rt, live, ann):
        await streamed(rt, "controls", Actuation(accel=0.6), 4.0)
        fast = live.output("speed")
        assert fast > 1.0
        if how == "vanish":
            ann.vanish()
        await asyncio.sleep(6.0)
        assert live.output("speed") < 0.1 * fast
        assert [name.rpartition("/")[2] for name in rt.watching.bitten()] == ["controls"]
        assert rt.handle("controls", "bob").direct.send(Actuation(accel=0.6)).reason == "watchdog"

    served("car", body)


def test_the_quad_levels_out_and_stays_up():
    async def body(rt, live, ann):
        await streamed(rt, "controls", Flight(z=2.0), 6.0)
        await streamed(rt, "controls", Flight(z=2.0, roll=0.1), 0.5)
        ann.vanish()
        await asyncio.sleep(4.0)
        assert live.output("z") == pytest.approx(2.0, abs=0.2)
        assert live.output("roll") == pytest.approx(0.0, abs=0.02)

    served("quad", body, dt=0.005)


def test_on_the_ground_a_quad_that_holds_does_not_start():
    async def body(rt, live, ann):
        assert rt.handle("controls", "ann").direct.send(Hold()).ok
        await asyncio.sleep(1.0)
        assert live.output("z") < 0.01

    served("quad", body, dt=0.005)


def test_the_satellite_asks_for_no_torque():
    async def body(rt, live, ann):
        await streamed(rt, "wheels", Attitude(yaw=0.5), 1.0)
        assert abs(live.output("torque_ach_z")) > 0.1
        ann.vanish()
        await asyncio.sleep(1.0)
        assert live.output("torque_ach_z") == 0.0

    served("satellite", body)


def test_the_boat_goes_idle_and_forgets_the_course_and_the_log_says_why():
    async def body(rt, live, ann):
        with Taped(rt) as tape:
            heard = rt.subscribe("operator", (OperatorVanished,))
            ann.ask("autopilot", {"type": "Course", "v_req": 1.5, "psi_req": 0.3})
            ann.ask("pipeline", {"type": "Switch", "mode": "autopilot", "by": "operator"})
            await asyncio.sleep(8.0)
            fast = live.output("v")
            assert fast > 0.8
            ann.vanish()
            await asyncio.sleep(0.1)
            assert (Helm(rt).status.mode, Helm(rt).status.owner) == ("idle", "NONE")
            assert heard.poll().payload == OperatorVanished("ann", rested=("autopilot", "pipeline"))
            course = rt.nodes["autopilot"].part.request("course").result(1.0)
            assert course.v_req == 0.0
            await asyncio.sleep(10.0)
            assert live.output("v") < 0.5 * fast
        return [said for said in tape.said if b"ann has vanished; taken to rest: autopilot, pipeline" in repr(said).encode()]

    assert len(served("boat", body, dt=0.02)) == 1


def test_what_one_had_asked_who_left_in_order_goes_on():
    async def body(rt, live, ann):
        ann.ask("pipeline", Switch("autopilot", "operator"))
        ann.leave()
        await asyncio.sleep(0.1)
        assert Helm(rt).status.mode == "autopilot"

    served("boat", body, dt=0.02)


def test_nobody_can_say_in_the_name_of_the_host_that_an_operator_is_gone():
    async def body(rt, live, ann):
        ann.ask("autopilot", Course(1.0, 0.0))
        ann.ask("pipeline", Switch("autopilot", "operator"))
        with suppress(InputError, LookupError):
            ann.ask("pipeline", {"type": "Forsaken", "operator": "ann"})
        assert rt.nodes["pipeline"].part.driver.driver.mode == "autopilot"

    served("boat", body, dt=0.02)
