"""The same scenario through the runtime under the stepped clock, through `rollout` and through `batch`: equal to the last bit."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from pushrod.compiled.rollout import batch, rollout
from pushrod.config import yaml_file
from pushrod.live.machine import SimulatedMachine
from pushrod.live.payload import Actuation, Torque
from pushrod.live.run import Difference, against_rollout, simulate
from pushrod.robot import Actuator, Robot, Transmission
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.payload import Position
from pushrod.runtime.runtime import Runtime
from pushrod.sim import machine, scenario
from pushrod.sim import run as direct


def same(run, inputs, how):
    """The recorded inputs through a rollout and through every instance of a batch."""
    common = {"steps": how.steps, "dt": how.dt, "seed": how.seed, "state": how.state}
    one = rollout(how.world, how.params, inputs, **common)
    assert np.array_equal(run.data, one.data)
    assert np.array_equal(run.state_rows, one.state_rows)
    many = batch(how.world, how.params, inputs, n=2, every=1, **common)
    assert np.array_equal(run.data[:, :, 0], many.data[:, :, 0])  # noise differs by instance; the first is the one that ran alone


def straight(robot):
    """The arm with its motors told positions as they come."""
    motors = [Actuator(a.name, a.joint, a.driver, {"profile": "none", "feedback_hz": 0.0}, a.transmission) for a in robot.actuators]
    return Robot(robot.name, robot.links, robot.joints, motors)


# the quad takes long to compile: here it is run, in the soak in batch too
BROKEN = pytest.param("quad_motor_loss", marks=pytest.mark.timeout(300))
WHOLE = pytest.param("quad_default", marks=[pytest.mark.soak, pytest.mark.timeout(600)])


@pytest.mark.parametrize("name", ["car_default", "car_fault", "satellite_slew", "satellite_fault", BROKEN, WHOLE])
def test_signals_through_the_runtime_and_through_a_rollout(name):
    what = machine.load(yaml_file.load(scenario.shipped()[name]).data["machine"])
    how = scenario.load(name, what, "11 s" if name.startswith("quad") else "15 s")
    live, plain = simulate(what, how), direct.simulate(what, how)
    (stream,) = live.streams
    assert (stream.sent, stream.refused, stream.clamped) == (how.steps, 0, 0)
    for signal, column in plain.columns.items():
        assert np.array_equal(live.outcome.columns[signal], column), signal
    assert np.array_equal(live.outcome.run.state_rows, plain.run.state_rows)
    assert against_rollout(live) == Difference(len(live.outcome.run.names), how.steps)
    if name != "quad_motor_loss":
        same(live.outcome.run, live.machine.inputs(), how)


def test_the_script_of_the_arm():
    what = machine.load("arm")
    how = scenario.load(None, what)
    live = simulate(what, how)
    assert {type(a.result).__name__ for a in live.answers} == {"Accepted", "Clamped"}
    same(live.outcome.run, live.machine.inputs(), how)


def test_positions_streamed_to_the_arm_are_a_rollout_of_its_set_points():
    """The motor-space set-points are computed here, apart from runtime and drivers."""
    what = machine.load("arm")
    text = """
scenario: stream
duration: 2 s
dt: 1 ms
signals:
  shoulder_motor: [{for: 2 s, sine: {amplitude: 60 deg, frequency: 0.7}}]
  elbow_motor: [{for: 1 s, linear: [0, 1 rad]}, {constant: -20 deg}]
"""
    how = scenario.build(yaml_file.parse(text), what)
    assert how.live
    live = simulate(replace(what, robot=straight(what.robot)), how)
    inputs = {"shoulder.stiff": 1.0, "elbow.stiff": 1.0}
    t = np.arange(how.steps) * how.dt
    for actuator, place in what.ports.items():
        gear: Transmission = what.robot.actuator(actuator).transmission
        inputs[f"{place}.position"] = np.array([gear.position_to_motor(q) for q in direct.sample_track(how.streams[actuator], t)])
    common = {"steps": how.steps, "dt": how.dt}
    one, many = rollout(how.world, how.params, inputs, **common), batch(how.world, how.params, inputs, n=3, every=1, **common)
    assert np.array_equal(live.outcome.run.data, one.data)
    for i in range(3):
        assert np.array_equal(live.outcome.run.data[:, :, 0], many.data[:, :, i])
    assert np.ptp(one["shoulder.q"]) > 1.0, "it does move"


def through_runtime(live, seconds, tick):
    clock = SteppedClock()

    async def main():
        async with Runtime(live.robot, machine=live, clock=clock) as rt:
            assert rt.arm().ok
            rt.loop(hz=round(1.0 / live.dt))(lambda k: tick(rt, k))
            await asyncio.sleep(seconds)

    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        runner.run(main())


def test_a_control_loop_that_reads_and_sends_sees_and_moves_the_world_of_the_same_tick():
    """Proportional control of the satellite's roll by torques: the loop's law, applied to the recorded outputs, gives the recorded inputs."""
    live = SimulatedMachine(machine.load("satellite", ["noise.attitude=0", "noise.rate=0"]), dt=0.01, record=True, ticks=2000)

    def law(roll, rate):
        return 5.0 * (0.2 - roll) - 20.0 * rate

    def tick(rt, k):
        x = law(live.output("roll"), live.output("w_x"))
        assert rt["wheels"].direct.send(Torque(x=x)).ok

    through_runtime(live, 20.0, tick)
    run, told = live.run(), live.inputs()
    assert len(told["torque_x"]) == 2000
    before = np.concatenate([[0.0], run["roll"][:-1]]), np.concatenate([[0.0], run["w_x"][:-1]])
    assert np.array_equal(told["torque_x"], [law(*row) for row in zip(*before, strict=True)])
    assert run["roll"][-1] == pytest.approx(0.2, abs=0.01)
    again = rollout(live.machine.world, live.machine.params, told, steps=2000, dt=0.01)
    assert np.array_equal(run.data, again.data)


def test_commands_sent_as_one_are_seen_in_the_same_tick():
    live = SimulatedMachine(replace(machine.load("arm"), robot=straight(machine.load("arm").robot)), dt=1e-3, record=True)

    def tick(rt, k):
        if k == 7:
            assert all(result.ok for result in rt.send([("shoulder_motor", Position(0.5)), ("elbow_motor", Position(0.1))]))

    through_runtime(live, 0.02, tick)
    told = live.inputs()
    assert told["shoulder.stiff"].tolist() == told["elbow.stiff"].tolist() == [0.0] * 7 + [1.0] * 13
    assert set(told["shoulder.position"][7:]) == {25.0}


def test_what_is_beyond_the_limits_is_clamped_for_the_world_and_says_so():
    live = SimulatedMachine(machine.load("car"), dt=0.01, record=True)
    answers = []

    def tick(rt, k):
        if k == 0:
            answers.append(rt["controls"].direct.send(Actuation(accel=1.7, brake=-0.2, steer=12.0)))
            answers.append(rt["controls"].direct.send(Actuation(gear=77.0)))
            answers.append(rt["controls"].direct.send(Position(1.0)))

    through_runtime(live, 0.1, tick)
    clamped, malformed, foreign = answers
    assert clamped.asked == Actuation(1.7, -0.2, 12.0)
    assert clamped.done == Actuation(1.0, 0.0, pytest.approx(9.42477796))
    assert (malformed.reason, foreign.reason) == ("malformed", "unsupported")
    told = live.inputs()
    assert (told["accel"][0], told["brake"][0], told["wheel"][0]) == (1.0, 0.0, pytest.approx(9.42477796))
