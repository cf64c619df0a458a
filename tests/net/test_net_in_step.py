"""A machine on a stepped clock and its commander in two processes: equal to the last bit with one process, and with a rollout."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from net_rig import HERE, free_port
from net_step_commander import law, named

from pushrod.compiled.rollout import rollout
from pushrod.core.errors import InputError, NetworkError
from pushrod.live.machine import SimulatedMachine
from pushrod.live.run import simulate
from pushrod.net import Link, ZenohBus, expose, in_step
from pushrod.robot import Actuator, Robot
from pushrod.runtime import Runtime, SteppedClock, WallClock
from pushrod.runtime.run import run
from pushrod.sim import machine


def commanded(live: SimulatedMachine, case: str, seconds: float | None = None, patience: float = 30.0) -> dict[str, Any]:
    """Move a machine here, commanded by another process; what that says when it is over."""
    end = f"tcp/127.0.0.1:{free_port()}"
    clock = SteppedClock()

    async def main() -> None:
        over = asyncio.Event()
        live.finished = over.set
        with ZenohBus(Link(end)) as bus:
            async with Runtime(live.robot, machine=live, clock=clock, bus=bus) as rt:
                assert rt.arm().ok
                with expose(rt) as exposure:
                    in_step(exposure, "planner", hz=1.0 / live.dt, patience=patience)
                    await (over.wait() if seconds is None else asyncio.sleep(seconds))

    commander = subprocess.Popen(
        [sys.executable, str(HERE / "net_step_commander.py"), end, case, live.robot.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        run(main(), clock)
        out, errors = commander.communicate(timeout=20.0)
        assert out, errors
        return dict(json.loads(out))
    finally:
        commander.kill()
        commander.wait()


def straight(robot: Robot) -> Robot:
    """The arm with its motors told positions as they come."""
    motors = [Actuator(a.name, a.joint, a.driver, {"profile": "none", "feedback_hz": 0.0}, a.transmission) for a in robot.actuators]
    return Robot(robot.name, robot.links, robot.joints, motors)


WHOLE = [
    pytest.param(f"whole {name}", marks=pytest.mark.soak) for name in ("car_default", "car_fault", "satellite_slew", "satellite_fault", "arm_default")
]


@pytest.mark.parametrize("name", ["car_default", "satellite_slew", "arm_default", "stream", *WHOLE])
def test_a_scenario_commanded_from_elsewhere_is_the_one_of_a_single_process_and_a_rollout(name):
    what, how = named(name)
    if name == "stream":
        what = replace(what, robot=straight(what.robot))
    alone = simulate(what, how)
    live = SimulatedMachine.of(what, how)
    live.surround({path: values for path, values in alone.machine.inputs().items() if path in _surroundings(live, how)})
    told = commanded(live, name)
    assert set(told["said"]) <= {"Accepted", "Clamped"}
    assert sum(told["said"].values()) >= len(how.commands)
    run = live.run()
    assert np.array_equal(run.data, alone.outcome.run.data)
    assert np.array_equal(run.state_rows, alone.outcome.run.state_rows)
    again = rollout(how.world, how.params, live.inputs(), steps=how.steps, dt=how.dt, seed=how.seed, state=how.state)
    assert np.array_equal(run.data, again.data)


def _surroundings(live: SimulatedMachine, how: Any) -> set[str]:
    """What no port tells the world."""
    owned = {path for place in live.places.values() for path in place.paths.values()}
    return {channel for channel in how.tracks if channel not in owned}


def test_a_loop_elsewhere_that_reads_and_sends_sees_and_moves_the_world_of_the_same_tick():
    live = SimulatedMachine(machine.load("satellite", ["noise.attitude=0", "noise.rate=0"]), dt=0.01, record=True, ticks=1000)
    assert commanded(live, "steer")["said"] == {"Accepted": 1001}, "the last one comes when the world stands still"
    run, told = live.run(), live.inputs()
    before = np.concatenate([[0.0], run["roll"][:-1]]), np.concatenate([[0.0], run["w_x"][:-1]])
    assert np.array_equal(told["torque_x"], [law(*row) for row in zip(*before, strict=True)])
    assert run["roll"][-1] == pytest.approx(0.2, abs=0.05)


def test_commands_sent_as_one_from_elsewhere_are_seen_in_the_same_tick():
    live = SimulatedMachine(replace(machine.load("arm"), robot=straight(machine.load("arm").robot)), dt=1e-3, record=True)
    assert commanded(live, "together", 0.02)["said"] == {"Accepted": 2}
    told = live.inputs()
    assert told["shoulder.stiff"].tolist() == told["elbow.stiff"].tolist() == [0.0] * 7 + [1.0] * 13
    assert set(told["shoulder.position"][7:]) == {25.0}


def test_what_is_beyond_the_limits_is_clamped_for_the_world_and_said_elsewhere():
    live = SimulatedMachine(machine.load("car"), dt=0.01, record=True)
    clamped, malformed, foreign = commanded(live, "beyond", 0.1)["said"]
    assert clamped.startswith("clamped: asked Actuation(accel=1.7, brake=-0.2, steer=12.0")
    assert "refused Actuation: malformed (gear must be a code" in malformed
    assert "refused Position: unsupported" in foreign
    told = live.inputs()
    assert (told["accel"][0], told["brake"][0], told["wheel"][0]) == (1.0, 0.0, pytest.approx(9.42477796))


@pytest.mark.parametrize(
    ("case", "why"),
    [("fails", "the commander planner failed in tick 3: RuntimeError: no idea"), ("dies", "has not answered tick 3 .* or has vanished")],
    ids=["fails", "dies"],
)
def test_a_commander_that_fails_or_dies_ends_the_run_with_everything_disarmed(case, why):
    live = SimulatedMachine(machine.load("arm"), dt=1e-3, record=True)
    with pytest.raises(NetworkError, match=why):
        commanded(live, case, 0.1)


def test_a_commander_that_never_comes_is_told_with_what_to_do():
    live = SimulatedMachine(machine.load("arm"), dt=1e-3)
    with pytest.raises(NetworkError, match=r"no commander 'planner' came within 0.2 s: let it connect and call `remote.in_step`"):
        alone(live, SteppedClock(), lambda exposure: in_step(exposure, "planner", hz=1000.0, patience=0.2))


def test_the_wall_clock_waits_for_nobody():
    live = SimulatedMachine(machine.load("arm"), dt=1e-3)
    with pytest.raises(InputError, match=r"runs on the wall clock, which waits for nobody: in_step needs Runtime\(..., clock=SteppedClock"):
        alone(live, WallClock(), lambda exposure: in_step(exposure, "planner", hz=1000.0))


def alone(live: SimulatedMachine, clock: Any, body: Callable[[Any], Any]) -> None:
    async def main() -> None:
        with ZenohBus(Link()) as bus:
            async with Runtime(live.robot, machine=live, clock=clock, bus=bus, guard=False) as rt:
                with expose(rt) as exposure:
                    body(exposure)
                    await asyncio.sleep(0.01)

    run(main(), clock)
