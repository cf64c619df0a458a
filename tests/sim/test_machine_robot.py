"""`robot`, `ports` and `commands`: what they mean, and that each mistake is answered with file, line and path."""

import shutil
from pathlib import Path

import pytest

from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError, InputError
from pushrod.sim import machine, machine_robot, scenario
from pushrod.sim.run import simulate

HEAD = "machine: m\nworld: arm\n"
ARM = HEAD + "robot: arm\nports: {shoulder_motor: shoulder, elbow_motor: elbow}\n"
PORTS = "robot: arm\nports:\n  shoulder_motor: shoulder\n"
SCENARIO = "scenario: s\nduration: 2 s\ndt: 1 ms\ncommands:\n"


def problems(make, *args):
    with pytest.raises(ConfigError) as raised:
        make(*args)
    return list(raised.value.problems)


def build(text, folder=Path()):
    return machine.build(yaml_file.parse(text, str(folder / "m.yaml")))


def script(commands, head=SCENARIO):
    return scenario.build(yaml_file.parse(head + commands, "s.yaml"), build(ARM))


def test_a_machine_without_a_robot_has_none():
    assert build(HEAD).robot is None
    assert build(HEAD).ports == {}


def test_a_robot_may_be_shipped_or_lie_beside_the_machine(tmp_path):
    assert build(ARM).robot.name == "arm"
    shutil.copy(machine_robot.shipped()["arm"], tmp_path / "mine.yaml")
    assert build(ARM.replace("robot: arm", "robot: mine.yaml"), tmp_path).robot == build(ARM).robot


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("robot: amr\n", "m.yaml:3: robot: there is no robot named 'amr'; did you mean"),
        ("robot: none.yaml\n", "m.yaml:3: robot: none.yaml: cannot be read: No such file or directory"),
        ("robot: 7\n", "m.yaml:3: robot: "),
        ("ports: {shoulder_motor: shoulder}\n", "m.yaml:3: ports: there is no robot whose actuators these are"),
        ("robot: arm\n", "m.yaml:3: robot: nothing is said of shoulder_motor, elbow_motor"),
        ("robot: arm\nports: {shoulder_motor: shoulder}\n", "m.yaml:4: ports: nothing is said of elbow_motor"),
        (PORTS + "  elbow_moter: elbow\n", "m.yaml:6: ports.elbow_moter: there is no actuator named 'elbow_moter'"),
        (
            "robot: arm\nports:\n  shoulder_motor: shoulder\n  elbow_motor: elbo\n",
            "m.yaml:6: ports.elbow_motor: no part 'elbo' of the world arm",
        ),
        (PORTS + "  elbow_motor: shoulder\n", "m.yaml:6: ports.elbow_motor: 'shoulder' is the place of"),
    ],
)
def test_mistakes_in_robot_and_ports(text, said):
    assert any(line.startswith(said) for line in problems(build, HEAD + text)), problems(build, HEAD + text)


def test_mistakes_in_the_robot_file_itself_are_told_with_its_lines(tmp_path):
    (tmp_path / "r.yaml").write_text("robot: r\nlinks: [a]\njoints: {j: {kind: revolute, parent: a, child: b}}\n")
    found = problems(build, HEAD + "robot: r.yaml\n", tmp_path)
    assert found
    assert all(f"{tmp_path}/r.yaml:3" in line for line in found)


def test_every_shipped_robot_belongs_to_a_machine_and_every_port_fits():
    from pushrod.live import SimulatedMachine

    named = {}
    for name in machine.shipped():
        what = machine.load(name)
        if what.robot is not None:
            live = SimulatedMachine(what, dt=0.01)
            assert set(live.drivers) == {part.name for part in (*what.robot.actuators, *what.robot.sensors)}
            named[what.robot.name] = name
    assert set(named) == set(machine_robot.shipped())


def test_commands_are_read_in_si_and_in_order_of_time():
    how = script(
        "  - {at: 500 ms, to: elbow_motor, position: 90 deg, velocity: 45 deg/s, duration: 2 s, id: bend}\n"
        "  - {at: 0, to: shoulder_motor, velocity: 1, duration: 100 ms}\n"
        "  - {at: 0.1, to: elbow_motor, effort: 2000 N.mm}\n"
        "  - {at: 0.2, to: elbow_motor, trajectory: [{time: 1 s, position: 10 deg, velocity: 1 deg/s}], repeat: forever}\n"
        "  - {at: 0.3004, to: elbow_motor, hold: true}\n"
        "  - {at: 0.4, to: elbow_motor, stop: decelerate}\n"
    )
    assert how.live
    told = [(c.k, c.to, c.verb, dict(c.values), c.id, c.line) for c in how.commands]
    rad = 0.017453292519943295
    assert told[0] == (0, "shoulder_motor", "velocity", {"velocity": 1.0, "duration": 0.1}, "#2", 6)
    assert told[1] == (100, "elbow_motor", "effort", {"effort": 2.0}, "#3", 7)
    assert told[2][2:4] == (
        "trajectory",
        {"waypoints": [{"time": 1.0, "position": pytest.approx(10 * rad), "velocity": pytest.approx(rad)}], "repeat": "forever"},
    )
    assert told[3][:4] == (301, "elbow_motor", "hold", {})
    assert told[4][2:4] == ("stop", {"mode": "decelerate"})
    assert told[5][2:5] == ("position", {"position": pytest.approx(90 * rad), "velocity": pytest.approx(45 * rad), "duration": 2.0}, "bend")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("{to: elbow_motor, hold: true}", "s.yaml:5: commands[0]: at is missing"),
        ("{at: -1, to: elbow_motor, hold: true}", "s.yaml:5: commands[0].at: -1 s is outside its legal range"),
        ("{at: 5, to: elbow_motor, hold: true}", "s.yaml:5: commands[0].at: 5 s is not before the end of the run, 2 s"),
        ("{at: 1, to: elbow_moter, hold: true}", "s.yaml:5: commands[0].to: there is no actuator named 'elbow_moter'; did you mean 'elbow_motor'"),
        ("{at: 1, to: elbow_motor}", "s.yaml:5: commands[0]: says nothing to elbow_motor; give one of position"),
        ("{at: 1, to: elbow_motor, hold: true, stop: immediate}", "s.yaml:5: commands[0].stop: does not go with hold"),
        ("{at: 1, to: elbow_motor, effort: 1, velocity: 2}", "s.yaml:5: commands[0].effort: does not go with velocity"),
        ("{at: 1, to: elbow_motor, stop: immediate, duration: 1}", "s.yaml:5: commands[0].duration: does not go with stop"),
        ("{at: 1, to: elbow_motor, hold: false}", "s.yaml:5: commands[0].hold: "),
        ("{at: 1, to: elbow_motor, stop: slowly}", "s.yaml:5: commands[0].stop: "),
        ("{at: 1, to: elbow_motor, position: 1 m}", "s.yaml:5: commands[0].position: '1 m' is in m, which cannot be turned into rad"),
        ("{at: 1, to: elbow_motor, position: .inf}", "s.yaml:5: commands[0].position: inf is not a finite number"),
        ("{at: 1, to: elbow_motor, positon: 1}", "s.yaml:5: commands[0].positon: unknown key; did you mean 'position'"),
        ("{at: 1, to: elbow_motor, position: 1, duration: 0}", "s.yaml:5: commands[0].duration: must be longer than 0 s"),
        ("{at: 1, to: elbow_motor, trajectory: []}", "s.yaml:5: commands[0]: says nothing to elbow_motor"),
        ("{at: 1, to: elbow_motor, trajectory: [{position: 1}]}", "s.yaml:5: commands[0].trajectory[0]: time is missing"),
        (
            "{at: 1, to: elbow_motor, trajectory: [{time: 1, position: 1}, {time: 1, position: 2}]}",
            "s.yaml:5: commands[0].trajectory[1].time: 1 s is not later than the point before it, 1 s",
        ),
        ("{at: 1, to: elbow_motor, trajectory: [{time: 1, position: 1 kg}]}", "s.yaml:5: commands[0].trajectory[0].position: '1 kg' is in kg"),
        ("{at: 1, to: elbow_motor, trajectory: [{time: 1, position: 1}], repeat: 0}", "s.yaml:5: commands[0].repeat: must be a whole number above 0"),
        (
            "{at: 1, to: elbow_motor, hold: true, id: a}\n  - {at: 1, to: elbow_motor, hold: true, id: a}",
            "s.yaml:6: commands[1]: the id 'a' is given twice",
        ),
        ("7", "s.yaml:5: commands[0]: must be a mapping"),
    ],
)
def test_mistakes_in_a_command(command, said):
    found = problems(script, f"  - {command}\n")
    assert any(line.startswith(said) for line in found), found


def test_a_run_cut_short_by_hand_leaves_out_the_commands_after_its_end():
    text = SCENARIO + "  - {at: 1.5, to: elbow_motor, hold: true}\n  - {at: 0.1, to: elbow_motor, hold: true}\n"
    how = scenario.build(yaml_file.parse(text, "s.yaml"), build(ARM), "1 s")
    assert [command.at for command in how.commands] == [0.1]
    assert how.notes == ("--duration 1 s: the run ends before 1 command of the scenario; left out",)


def test_commands_need_a_robot():
    text = SCENARIO + "  - {at: 1, to: elbow_motor, hold: true}\n"
    (said,) = problems(scenario.build, yaml_file.parse(text, "s.yaml"), build(HEAD))
    assert said.startswith("s.yaml:4: commands: this machine has no robot that could be commanded")


def test_a_signal_by_the_name_of_an_actuator_is_a_stream_of_positions():
    how = script("", "scenario: s\nduration: 1 s\ndt: 1 ms\nsignals: {elbow_motor: [{constant: 10 deg}], shoulder.effort: [{constant: 1}]}\n")
    assert set(how.streams) == {"elbow_motor"}
    assert set(how.tracks) == {"shoulder.effort"}
    assert how.live
    (said,) = problems(script, "", "scenario: s\nduration: 1 s\ndt: 1 ms\nsignals: {elbow_motr: [{constant: 1}]}\n")
    assert "did you mean 'elbow_motor'" in said


def test_a_scenario_with_commands_is_not_run_without_the_runtime_by_mistake():
    with pytest.raises(InputError, match=r"pushrod\.live\.run\.simulate"):
        simulate(build(ARM), script("  - {at: 1, to: elbow_motor, hold: true}\n"))


def test_the_robot_in_the_file_is_the_one_of_the_example():
    import runpy

    example = Path(__file__).resolve().parents[2] / "examples" / "arm.py"
    assert runpy.run_path(str(example))["robot"] == machine.load("arm").robot


def test_all_mistakes_of_a_scenario_are_told_at_once():
    text = (
        "scenario: s\nduration: 2\ncommands:\n"
        "  - {at: -1, to: elbow_moter, stop: slowly}\n"
        "  - {at: 1, to: elbow_motor, position: 1 m, hold: true}\n"
        "  - {at: 1, to: nobody, trajectory: [{time: 2, position: 1}, {time: 1, position: x}, {time: 1}], repeat: 0}\n"
        "  - {at: 1, to: elbow_motor, effort: 2 rad, duration: 0, id: a}\n"
        "  - {at: 1, to: elbow_motor, hold: maybe, id: a}\n"
        "expectations: [{signal: nothing, metric: max, below: 1}]\n"
        "faults: [{channel: nothing, kind: stuck, at: 0}]\n"
    )
    found = problems(lambda: scenario.build(yaml_file.parse(text, "s.yaml"), build(ARM)))
    for said in (
        "s.yaml:1: dt is missing",
        "s.yaml:4: commands[0].at: -1 s is outside",
        "s.yaml:4: commands[0].to: there is no actuator named 'elbow_moter'",
        "s.yaml:4: commands[0].stop: must be one of immediate, decelerate, got text 'slowly'",
        "s.yaml:5: commands[1].position: '1 m' is in m",
        "s.yaml:5: commands[1].hold: does not go with position",
        "s.yaml:6: commands[2].to: there is no actuator named 'nobody'",
        "s.yaml:6: commands[2].trajectory[1].time: 1 s is not later than the point before it, 2 s",
        "s.yaml:6: commands[2].trajectory[1].position: 'x' is not a number",
        "s.yaml:6: commands[2].trajectory[2].time: 1 s is not later than the point before it, 1 s",
        "s.yaml:6: commands[2].trajectory[2]: position is missing",
        "s.yaml:6: commands[2].repeat: must be a whole number above 0",
        "s.yaml:7: commands[3].effort: '2 rad' is in rad, which cannot be turned into N.m",
        "s.yaml:7: commands[3].duration: must be longer than 0 s",
        "s.yaml:8: commands[4].hold: ",
        "s.yaml:8: commands[4]: the id 'a' is given twice",
        "s.yaml:9: expectations[0].signal: ",
        "s.yaml:10: faults[0].channel: ",
    ):
        assert any(line.startswith(said) for line in found), (said, found)
    assert len(found) == 18, found
