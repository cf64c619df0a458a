"""A run on the stepped clock is logged with all that was commanded and said, at the times of the run; equal runs give equal files."""

import asyncio
import json
import re

import pytest

from pushrod.live.machine import SimulatedMachine
from pushrod.live.recording import commands_file
from pushrod.live.run import simulate
from pushrod.pipeline.names import TOPICS
from pushrod.recording import Recording
from pushrod.runtime import Runtime, SteppedClock, run
from pushrod.sim import machine, scenario
from pushrod.sim.recording import record
from pushrod.sim.run import simulate as roll
from recorded_run import Plain, read, robot

MOTOR = "/actuator/base/shoulder/shoulder_motor"


@pytest.fixture(scope="module")
def arm_run():
    what = machine.load("arm")
    return [simulate(what, scenario.load(None, what, "3 s"), taped=True) for _ in range(2)]


@pytest.fixture(scope="module")
def arm_log(arm_run, tmp_path_factory):
    live = arm_run[0]
    return live, read(record(live.outcome, tmp_path_factory.mktemp("runs"), [commands_file(live)], live.said, "stepped"))


def test_equal_runs_give_equal_files(arm_run, tmp_path):
    files = [record(live.outcome, tmp_path, [commands_file(live)], live.said, "stepped").read_bytes() for live in arm_run]
    assert files[0] == files[1]


def test_commands_motions_and_transitions_are_topics(arm_log):
    live, log = arm_log
    sent = [a for a in live.answers if a.command.to == "shoulder_motor"]
    assert [c["id"] for c in log.of(f"{MOTOR}/command")] == [a.command.id for a in sent]
    times = [one.ns for one in log.said if one.topic == f"{MOTOR}/command"]
    assert times == [round(a.command.k * live.machine.dt * 1e9) for a in sent]
    assert {f"{MOTOR}/BeginMotion", f"{MOTOR}/EndMotion", "/joint_states", "/safety", "/events", "/loops", "/in", "/out"} <= log.topics
    assert [t["to"] for t in log.of("/safety")] == ["disarmed", "armed", "disarming", "disarmed"]
    assert len(log.of("/out")) == live.outcome.scenario.steps


def test_messages_are_in_the_order_of_time(arm_log):
    _, log = arm_log
    times = [one.ns for one in log.said]
    assert times == sorted(times)
    assert times[0] == 0
    assert max(times) == 3 * 10**9


def test_the_log_says_what_it_came_to_and_holds_its_files(arm_log):
    live, log = arm_log
    assert (log.about["kind"], log.about["machine"], log.about["robot"], log.about["ticks"]) == ("stepped", "arm", "arm", "3000")
    assert "started" not in log.about
    verdict = json.loads(log.files["verdict.json"])
    assert verdict["held"] is live.outcome.held
    assert len(verdict["expectations"]) == len(live.outcome.outcomes)
    assert [one["achieved"] for one in verdict["responses"]] == [pair.achieved for pair, _ in live.outcome.responses]
    assert log.files["machine.yaml"] == live.outcome.machine.document.text
    assert log.files["scenario.yaml"] == live.outcome.scenario.document.text
    assert re.search(r"^robot: arm", log.files["robot.yaml"], re.MULTILINE) or "joints" in log.files["robot.yaml"]
    assert "commands.json" in log.files


def test_a_pipeline_is_there_once_and_its_commands_beside_it(tmp_path):
    what = machine.load("boat")
    live = simulate(what, scenario.load("boat_windup", what, "2 s"), taped=True)
    log = read(record(live.outcome, tmp_path, (), live.said, "stepped"))
    for topic in TOPICS:
        assert len(log.of(topic)) == live.outcome.scenario.steps
    (port,) = [topic for topic in log.topics if topic.endswith("/left/command")]
    assert {command["source"] for command in log.of(port)} == {"pipeline"}
    assert [row["u_L"] for row in log.of("ESC_OUTPUT")] == [command["payload"]["u"] for command in log.of(port)][: len(log.of("ESC_OUTPUT"))]


def test_without_a_tape_nothing_is_kept():
    what = machine.load("arm")
    assert simulate(what, scenario.load(None, what, "100 ms")).said == ()


def test_files_that_are_named_are_in_the_log(tmp_path):
    what = machine.load("car")
    log = read(record(roll(what, scenario.load(None, what, "100 ms")), tmp_path))
    assert log.about["kind"] == "rollout"
    named = set(re.findall(r"[\w/]+\.csv", what.document.text))
    assert named
    for name in named:
        assert log.files[name] == (what.document.folder / name).read_text()


def test_a_signal_from_a_file_is_in_the_log(tmp_path):
    (tmp_path / "angle.csv").write_text("t,y\n0,0\n1,0.2\n")
    (tmp_path / "s.yaml").write_text("scenario: s\nmachine: servo\nduration: 100 ms\ndt: 1 ms\nsignals: {CHANNEL: [{recorded: {file: angle.csv}}]}\n")
    what = machine.load("servo")
    channel = what.world.In._fields[0]
    (tmp_path / "s.yaml").write_text((tmp_path / "s.yaml").read_text().replace("CHANNEL", channel))
    log = read(record(roll(what, scenario.load(str(tmp_path / "s.yaml"), what)), tmp_path))
    assert log.files["angle.csv"] == "t,y\n0,0\n1,0.2\n"


def recorded_twice(body, make, tmp_path):
    files = []
    for name in ("a", "b"):
        clock = SteppedClock()

        async def main(clock=clock, name=name):
            rt = make(clock)
            with Recording(rt, tmp_path / name) as recording:
                async with rt:
                    await body(rt)
            return recording

        recording = run(main(), clock)
        assert recording.problem == ""
        files.append(recording.file)
    return files


def test_a_program_on_the_stepped_clock_is_recorded_as_a_live_one(tmp_path):
    async def body(rt):
        rt.arm()
        rt["motor"].direct.set_position(0.25)
        rt.parameters.set("gain", 1.0)
        await asyncio.sleep(1.5)
        rt["motor"].publish.set_position(9.0)

    first, second = recorded_twice(body, lambda clock: Runtime(robot(), {"motor": Plain}, clock=clock), tmp_path)
    assert first.read_bytes() == second.read_bytes()
    log = read(first)
    assert [(one.ns, one.data["result"]) for one in log.said if one.topic.endswith("/command")] == [(0, "accepted"), (1_500_000_000, "clamped")]
    assert log.about["kind"] == "stepped"


def test_so_is_a_simulated_machine(tmp_path):
    arms = []

    def make(clock):
        arms.append(SimulatedMachine(machine.load("arm"), dt=1e-2, record=True))
        return Runtime(arms[-1].robot, machine=arms[-1], clock=clock)

    async def body(rt):
        rt.arm()
        rt["elbow_motor"].direct.set_position(0.3)
        await asyncio.sleep(0.5)

    first, second = recorded_twice(body, make, tmp_path)
    assert first.read_bytes() == second.read_bytes()
    log = read(first)
    assert [row["elbow"]["q"] for row in log.of("/out")] == arms[0].run()["elbow.q"].tolist()
    assert [one.ns for one in log.said if one.topic == "/out"][:2] == [10_000_000, 20_000_000]
    assert [one.ns for one in log.said if one.topic == "/in"][:2] == [0, 10_000_000]
