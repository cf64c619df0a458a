"""Car and spacecraft behind the runtime: payloads of their own, what stopping and disarming mean, and what they report."""

import asyncio

import numpy as np
import pytest

from pushrod.core.errors import InputError, PushrodError
from pushrod.live import Actuation, Attitude, Flight, SimulatedMachine, Torque
from pushrod.live.command_port import Outputs
from pushrod.robot import Actuator, Robot
from pushrod.runtime import Runtime, SteppedClock, WallClock, run
from pushrod.runtime.payload import Stop
from pushrod.sim import machine
from pushrod.vehicles.gear import REVERSE

DT = 0.01


def drive(name, body, **options):
    """Without its watchdog: here one command holds for seconds."""
    what = machine.load(name)
    a = what.robot.actuators[0]
    what = machine.Machine(
        **{**vars(what), "robot": Robot(name, what.robot.links, what.robot.joints, [Actuator(a.name, a.joint, a.driver, options)])}
    )
    live = SimulatedMachine(what, dt=DT, record=True)
    clock = SteppedClock()

    async def main():
        async with Runtime(live.robot, machine=live, clock=clock) as rt:
            assert rt.arm().ok
            return await body(rt, live)

    return run(main(), clock)


def test_the_car_does_what_it_was_told_last_until_it_is_told_otherwise():
    async def body(rt, live):
        assert rt["controls"].direct.send(Actuation(accel=0.5)).ok
        await asyncio.sleep(3.0)
        assert live.output("speed") > 2.0
        assert (await rt["controls"].sync.send(Actuation(steer=1.0, gear=REVERSE))).ok
        await asyncio.sleep(0.5)
        told = live.inputs()
        assert (told["accel"][299], told["accel"][-1], told["wheel"][-1], told["gear"][-1]) == (0.5, 0.0, 1.0, REVERSE)

    drive("car", body)


@pytest.mark.parametrize("how", ["stop", "disarm"])
def test_stopped_or_disarmed_the_car_brakes_and_keeps_its_wheel(how):
    async def body(rt, live):
        rt["controls"].direct.send(Actuation(accel=0.6, steer=0.4))
        await asyncio.sleep(3.0)
        fast = live.output("speed")
        assert rt["controls"].direct.send(Stop()).ok if how == "stop" else rt.disarm("test").ok
        await asyncio.sleep(6.0)
        told = live.inputs()
        assert (told["accel"][-1], told["brake"][-1], told["wheel"][-1]) == (0.0, 0.3, 0.4)
        assert live.output("speed") < 0.1 * fast

    drive("car", body, brake=0.3)


def test_the_spacecraft_turns_to_an_attitude_or_by_torques_and_stops_pushing():
    async def body(rt, live):
        wheels = rt["wheels"].direct
        assert wheels.send(Attitude(yaw=0.1)).ok
        await asyncio.sleep(20.0)
        assert live.output("yaw") == pytest.approx(0.1, abs=2e-3)
        answer = wheels.send(Torque(x=0.5, z=7.0))
        assert (answer.asked, answer.done) == (Torque(0.5, 0.0, 7.0), Torque(0.5, 0.0, 5.0))
        await asyncio.sleep(0.5)
        assert (live.output("torque_ach_x"), live.output("torque_ach_z")) == (0.5, 5.0)
        assert rt.disarm("test").ok
        await asyncio.sleep(0.5)
        assert [live.output(f"torque_ach_{axis}") for axis in "xyz"] == [0.0, 0.0, 0.0]
        assert wheels.send(Attitude(float("nan"))).reason == "malformed"

    drive("satellite", body)


def test_it_reports_every_output():
    async def body(rt, live):
        watch = rt.bus.subscribe(("actuator",), (Outputs,))
        await asyncio.sleep(1.001)
        found = []
        while (message := watch.poll()) is not None:
            found.append(message.payload.values)
        assert len(found) == 10
        assert found[-1] == await rt["controls"].request("state") == {name: live.output(name) for name in live.run().names}
        with pytest.raises(LookupError, match="'state'"):
            await rt["controls"].request("temperature")

    drive("car", body, feedback_hz=10.0)


@pytest.mark.parametrize("options", [{"brake": 1.5}, {"feedback_hz": -1.0}, {"colour": 1}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(PushrodError, match=next(iter(options))):
        drive("car", lambda rt, live: asyncio.sleep(0.0), **options)


class TestSurroundings:
    def test_what_no_actuator_tells_the_world_can_be_set(self):
        live = SimulatedMachine(machine.load("car"), dt=DT, record=True)
        live.surround({"slope": [0.0, 1.0, 2.0]})
        for _ in range(5):
            live.step()
        assert live.inputs()["slope"].tolist() == [0.0, 1.0, 2.0, 2.0, 2.0]

    def test_what_an_actuator_tells_it_cannot(self):
        live = SimulatedMachine(machine.load("car"), dt=DT)
        with pytest.raises(InputError, match="wheel is told by the actuator controls"):
            live.surround({"wheel": 1.0})
        with pytest.raises(PushrodError, match="did you mean 'slope'"):
            live.surround({"slop": 1.0})


@pytest.mark.parametrize("clock", [WallClock, SteppedClock])
def test_its_world_is_compiled_before_anything_is_live(clock, monkeypatch):
    done = []
    live = SimulatedMachine(machine.load("car"), dt=0.02)
    monkeypatch.setattr(live, "warm", lambda: done.append("warm"))
    step = live.step
    monkeypatch.setattr(live, "step", lambda: (done.append("tick"), step()))
    now = clock()

    async def main():
        async with Runtime(live.robot, machine=live, clock=now, guard=False) as rt:
            assert done == (["warm"] if clock is WallClock else [])
            assert rt.state == "disarmed"
            await asyncio.sleep(0.1)
        assert done.count("tick") >= 1

    run(main(), now)


def test_a_machine_without_a_robot_or_without_a_record_says_so():
    with pytest.raises(InputError, match="servo has no robot"):
        SimulatedMachine(machine.load("servo"), dt=DT)
    live = SimulatedMachine(machine.load("car"), dt=DT)
    live.step()
    with pytest.raises(InputError, match="record=True"):
        live.inputs()
    assert live.k == 1


def test_after_its_ticks_it_stands_still_and_says_so_once():
    live = SimulatedMachine(machine.load("car"), dt=DT, record=True, ticks=3)
    calls = []
    live.finished = lambda: calls.append(live.k)
    for _ in range(5):
        live.step()
    assert (live.k, calls) == (3, [3])
    assert np.array_equal(live.run().t, [0.01, 0.02, 0.03])


def test_the_multirotor_is_disarmed_until_it_is_commanded_and_comes_down_where_it_is_stopped():
    async def body(rt, live):
        await asyncio.sleep(0.1)
        assert live.inputs()["armed"].tolist() == [0.0] * live.k
        assert rt["controls"].direct.send(Flight(z=2.0)).ok
        await asyncio.sleep(3.0)
        assert live.output("z") > 1.0
        assert rt["controls"].direct.stop().ok
        await asyncio.sleep(1.0 + 2 * DT)  # act.slew.neutral_time
        assert [live.output(f"pipe.u.e{j}") for j in range(4)] == [0.0] * 4
        assert (live.inputs()["armed"][-1], live.inputs()["z_req"][-1]) == (0.0, 2.0)
        answer = rt["controls"].direct.send(Flight(z=-1.0, roll=1.5, yaw=0.3))
        assert answer.done == Flight(z=0.0, roll=1.0, yaw=0.3)
        rt.disarm()
        assert rt["controls"].direct.send(Flight(z=1.0)).reason == "not_armed"
        await asyncio.sleep(DT)
        assert live.inputs()["armed"][-1] == 0.0
        assert rt["controls"].direct.send(Flight(z=np.nan)).reason == "malformed"

    drive("quad", body)
