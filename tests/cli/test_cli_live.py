"""`pushrod run` through the runtime: what became of each command, the log, and what is said when a scenario cannot run."""

import json

from mcap.reader import make_reader


def test_the_arm_runs_its_script_and_tells_what_became_of_each_command(pushrod, tmp_path):
    got = pushrod("run", "arm", "--out", tmp_path, columns=150)
    assert got.exit_code == 0, got.output
    assert "arm, scenario arm_default: 10000 ticks" in got.output
    for text in (
        "shoulder.q_req → shoulder.q",
        "shoulder_motor: position 1.396 rad, velocity 0.7854 rad/s",
        "clamped to 2.618 rad",
        "cancelled (superseded) at 0.6 s",
        "elbow_motor: trajectory of 3 points, 2 times",
        "elbow_motor: hold",
        "shoulder_motor: stop, immediate",
        "completed at 9 s",
    ):
        assert text in got.output, got.output
    reader = make_reader((tmp_path / "arm-arm_default.mcap").open("rb"))
    units = {channel.topic: json.loads(channel.metadata["units"]) for channel in reader.get_summary().channels.values()}
    assert (units["/in"]["elbow.effort"], units["/out"]["shoulder.q"]) == ("N.m", "rad")
    (kept,) = [json.loads(a.data) for a in reader.iter_attachments() if a.name == "commands.json"]
    assert len(kept["commands"]) == 10
    assert kept["commands"][3]["answer"]["type"] == "Clamped"
    assert kept["commands"][3]["end"]["reason"] == "cancelled"


def test_the_same_run_twice_gives_the_same_bytes(pushrod, tmp_path):
    for _ in range(2):
        assert pushrod("run", "arm", "--duration", "9.5 s", "--out", tmp_path).exit_code == 0
    first, second = sorted(tmp_path.iterdir())
    assert first.read_bytes() == second.read_bytes()


def test_live_and_direct_runs_of_the_car_say_the_same_and_differ_in_the_line_of_the_commands(pushrod, tmp_path):
    live, direct = pushrod("run", "car", "--live", "--no-log"), pushrod("run", "car", "--no-log")
    assert (live.exit_code, direct.exit_code) == (0, 0)
    more = [line for line in live.stdout.splitlines() if line not in direct.stdout.splitlines()]
    assert more[0] == "controls: 2900 commands, one every tick; 0 clamped, 0 refused"
    assert " ".join(more[1:]).startswith("against a rollout of the same inputs: ")
    assert " ".join(more[1:]).endswith(", 2900 ticks, equal to the last bit")


def test_the_boat_runs_its_loops_and_its_pipeline_as_nodes_and_says_that_it_is_the_same(pushrod, tmp_path):
    got = pushrod("run", "boat", "boat_motor_failure", "--live", "--duration", "24 s", "--out", tmp_path, columns=150)
    for line in ("left: 1200 commands, one every tick; 0 clamped, 0 refused", "signals, 1200 ticks, equal to the last bit", "announced = false"):
        assert line in got.output, got.output


def test_a_refused_command_is_shown_with_its_reason(pushrod, tmp_path):
    (tmp_path / "s.yaml").write_text("scenario: s\nduration: 1 s\ndt: 10 ms\ncommands: [{at: 0.5, to: controls, position: 1}]\n")
    got = pushrod("run", "car", tmp_path / "s.yaml", "--no-log", columns=150)
    assert "refused: unsupported (it accepts Actuation, Stop)" in got.output


def test_signals_of_a_motor_and_the_runtime_do_not_go_together(program, tmp_path):
    (tmp_path / "s.yaml").write_text("scenario: s\nduration: 1 s\ndt: 1 ms\nsignals:\n  elbow.effort: [{constant: 0.1}]\n")
    assert program("run", "arm", tmp_path / "s.yaml", "--no-log").returncode == 0, "straight through the world it may"
    got = program("run", "arm", tmp_path / "s.yaml", "--no-log", "--live")
    assert got.returncode == 2
    assert "s.yaml:5: signals.elbow.effort: through the runtime this is told by elbow_motor" in got.stderr


def test_a_machine_without_a_robot_cannot_go_through_the_runtime(program):
    got = program("run", "servo", "--live", "--no-log")
    assert got.returncode == 2
    assert "the machine servo has no robot" in got.stderr


def test_check_reads_robot_and_commands_too(pushrod, tmp_path):
    (tmp_path / "s.yaml").write_text("scenario: s\nmachine: arm\nduration: 1 s\ndt: 1 ms\ncommands: [{at: 0.5, to: elbow, hold: true}]\n")
    got = pushrod("check", tmp_path / "s.yaml")
    assert got.exit_code == 2
    assert "commands[0].to: there is no actuator named 'elbow'" in got.output


def test_list_and_schema_know_robots(pushrod):
    assert "shoulder_motor, elbow_motor" in pushrod("list", "robots").output
    assert json.loads(pushrod("schema", "robot").stdout)["title"] == "a Pushrod robot"
    made = json.loads(pushrod("schema", "scenario", "--machine", "arm").stdout)
    assert made["$defs"]["CommandEntry"]["properties"]["to"]["enum"] == ["shoulder_motor", "elbow_motor"]
    assert "elbow_motor" in made["properties"]["signals"]["properties"]
