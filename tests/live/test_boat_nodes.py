"""The boat taken apart: thrusters and hull behind gates, pipeline and autopilot as nodes of a runtime. It sails as the whole world does."""

import asyncio
import math

import numpy as np
import pytest

from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError, InputError
from pushrod.live import SimulatedMachine, Throttle
from pushrod.live.autopilot import Course, Steering
from pushrod.live.nav import Nav
from pushrod.live.pipeline import Helm
from pushrod.live.run import Difference, against_rollout, simulate
from pushrod.pipeline.topic import MixerFeedback
from pushrod.robot import load
from pushrod.runtime import Runtime, SteppedClock, run
from pushrod.sim import machine, scenario
from pushrod.sim import run as direct
from pushrod.sim.machine_robot import shipped

DT = 0.02
MIXED = """
scenario: mixed
duration: 12 s
dt: 20 ms
seed: 3
signals:
  mode: [{for: 3 s, constant: autopilot}, {for: 3 s, constant: manual}, {for: 2 s, constant: test}, {for: 1 s, constant: idle}, {constant: autopilot}]
  v_req: [{constant: 1.5}]
  psi_req: [{for: 8 s, linear: [0, 90 deg]}, {constant: 90 deg}]
  rc_s: [{constant: 1800}]
  rc_d: [{for: 5 s, constant: 1650}, {constant: 1400}]
  u_s_test: [{constant: 0.4}]
  u_d_test: [{constant: -0.2}]
"""


@pytest.mark.parametrize("name", ["boat_windup", "boat_zigzag", "boat_motor_failure", "boat_weak_motor", "boat_manual", "boat_accelerate"])
def test_every_scenario_is_that_of_the_whole_world_to_the_last_bit(name):
    what = machine.load("boat")
    how = scenario.load(name, what, "24 s" if name != "boat_manual" else None)
    live, plain = simulate(what, how), direct.simulate(what, how)
    for signal, column in plain.columns.items():
        assert np.array_equal(live.outcome.columns[signal], column), signal
    assert np.array_equal(live.outcome.run.state_rows, plain.run.state_rows)
    assert against_rollout(live) == Difference(len(live.outcome.run.names), how.steps)
    assert [(s.actuator, s.sent, s.clamped, s.refused) for s in live.streams] == [("left", how.steps, 0, 0), ("right", how.steps, 0, 0)]


def test_who_owns_the_motors_may_change_from_tick_to_tick():
    what = machine.load("boat", ["feedback=false", "act.alloc.policy=ALLOC_WEIGHTED", "act.trim.offset_L=0.02"])
    how = scenario.build(yaml_file.parse(MIXED), what)
    live = simulate(what, how)
    assert against_rollout(live).signal == ""
    assert len(np.unique(live.outcome.columns["req.src"])) == 4


def test_the_comparisons_of_a_scenario_are_run_through_the_nodes_too():
    what = machine.load("boat")
    how = scenario.load("boat_motor_failure", what, "26 s")
    live, plain = simulate(what, how), direct.simulate(what, how)
    assert live.outcome.compared[0].values == plain.compared[0].values
    assert live.outcome.held


def test_disarmed_by_the_scenario_it_differs_from_then_on_and_that_is_said():
    what = machine.load("boat")
    text = MIXED.replace("  v_req", "  armed: [{for: 2 s, constant: 1}, {for: 2 s, constant: 0}, {constant: 1}]\n  v_req")
    live = simulate(what, scenario.build(yaml_file.parse(text), what))
    found = against_rollout(live)
    # the motors come to rest by themselves, at the rate of their own neutral_time
    assert found.since == pytest.approx(2.0 + 2 * DT)  # the first interval has the point both share
    u = live.machine.inputs()["left.u"]
    assert u[101] > 0.1
    assert u[102] < u[101]
    assert u[101 + 25] == 0.0
    assert live.outcome.columns["req.reason"][150] == 3.0


def test_the_age_of_a_request_cannot_be_told_to_a_runtime():
    what = machine.load("boat")
    how = scenario.build(yaml_file.parse(MIXED.replace("  rc_s", "  age: [{constant: 0.7}]\n  rc_s")), what)
    with pytest.raises(ConfigError, match="signals.age: through the runtime a request is as old as it is"):
        simulate(what, how)


def test_a_switch_that_is_refused_is_noted():
    text = MIXED.replace("{for: 3 s, constant: autopilot}, {for: 3 s, constant: manual}", "{for: 3 s, constant: abort}, {for: 3 s, constant: manual}")
    what = machine.load("boat")
    live = simulate(what, scenario.build(yaml_file.parse(text), what))
    assert live.notes[0] == "to manual in tick 151: an abort ends in idle, not in manual; switch to idle first"


def sail(body, **options):
    live = SimulatedMachine(machine.load("boat", **options), dt=DT, record=True)

    async def main():
        async with Runtime(live.robot, machine=live) as rt:
            assert rt.arm().ok
            return await body(rt, live)

    return run(main(), SteppedClock())


def test_a_program_sails_it_by_a_course_and_hears_all_topics():
    async def body(rt, live):
        feedback, seen = rt.subscribe("controller/pipeline/MIXER_FEEDBACK", [MixerFeedback]), rt.subscribe("sensor", [Nav])
        steering = rt.subscribe("controller/autopilot", [Steering], size=2)
        assert Helm(rt).switch("autopilot").ok
        await rt.request("autopilot", Course(1.0, math.radians(30.0)))
        assert await rt.request("autopilot", "course") == Course(1.0, math.radians(30.0))
        await asyncio.sleep(15.0)
        assert live.output("v") == pytest.approx(1.0, abs=0.05)
        assert live.output("psi") == pytest.approx(math.radians(30.0), abs=math.radians(2.0))
        assert (feedback.statistics().received, seen.statistics().received) == (751, 750)  # the pipeline ticks at 0 too
        assert steering.poll().payload.active == 1.0
        assert Helm(rt, by="pilot").switch("manual").ok
        await asyncio.sleep(0.05)
        last = [steering.poll(), steering.poll()][-1].payload
        assert (last.active, last.out.I_s, last.out.I_d) == (0.0, 0.0, 0.0), "its integrals are emptied as soon as it has no say"
        with pytest.raises(InputError, match="v_req must be finite"):
            await rt.request("autopilot", Course(math.nan))
        with pytest.raises(LookupError, match="answers Course"):
            await rt.request("autopilot", "speed")

    sail(body)


def test_a_parameter_of_the_machine_is_one_of_the_robot_and_may_be_changed_while_it_sails():
    async def body(rt, live):
        assert rt.parameters.get("act.sw.u_s_max") == 0.5
        Helm(rt).switch("test")
        for k in range(100):
            if k == 50:
                rt.parameters.set("act.sw.u_s_max", 0.25)
            Helm(rt).test(1.0, 0.0)
            await asyncio.sleep(DT)
        told = live.inputs()["left.u"]
        assert (told[49], told[-1]) == (0.5, 0.25)

    sail(body, overrides=["act.sw.u_s_max=0.5"])


def test_another_commander_of_a_motor_is_seen_by_pipeline_and_autopilot():
    async def body(rt, live):
        Helm(rt).switch("autopilot")
        await rt.request("autopilot", Course(1.0))
        await asyncio.sleep(3.0)
        rt.handle("left", "diver").take_lease(priority=5)
        assert rt.handle("left", "diver").direct.send(Throttle(-0.2)).ok
        await asyncio.sleep(1.0)
        assert live.inputs()["left.u"][-1] == -0.2
        assert live.inputs()["right.u"][-1] == 0.0
        assert rt.nodes["autopilot"].part.driver.driver.state.speed.I == 0.0

    sail(body)


def test_without_a_world_the_robot_runs_on_simulated_thrusters():
    async def main():
        async with Runtime(load(shipped()["boat"])) as rt:
            assert rt.arm().ok
            helm = Helm(rt)
            helm.switch("test")
            helm.test(0.4, 0.1)
            await asyncio.sleep(0.3)
            assert await rt["left"].request("u") == pytest.approx(0.3)

    run(main(), SteppedClock())


@pytest.mark.parametrize("options", [{"hz": 0}, {"control": {"speed": {"k_ff": -1}}}, {"control": {"sped": {}}}])
def test_options_that_make_no_sense_are_refused(options):
    from pushrod.live.autopilot import Options
    from pushrod.runtime.driver import checked_options

    with pytest.raises(InputError, match="hz|k_ff|sped"):
        checked_options(options, Options, "autopilot")


def test_a_world_that_is_no_part_of_the_machines_own_is_refused(tmp_path):
    (tmp_path / "m.yaml").write_text("machine: m\nworld: boat\nrobot: boat\nlive: servo\n")
    with pytest.raises(ConfigError, match="servo is no part of boat"):
        machine.load(str(tmp_path / "m.yaml"))
    (tmp_path / "m.yaml").write_text("machine: m\nworld: boat\nrobot: boat\nlive: hul\n")
    with pytest.raises(ConfigError, match="live: there is no world named 'hul'"):
        machine.load(str(tmp_path / "m.yaml"))
