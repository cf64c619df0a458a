"""The other verbs: list, check, schema, new, verify, and the command as a whole."""

import json
import os
import subprocess
import sys

import pytest

from pushrod.sim import machine, scenario
from pushrod.sweep import study


def test_help_and_version(pushrod):
    got = pushrod("--help", columns=60)
    assert got.exit_code == 0
    assert max(len(line) for line in got.stdout.splitlines()) <= 60
    for verb in ("run", "list", "check", "schema", "new", "urdf", "verify", "serve", "top", "cmd", "arm", "disarm", "estop", "reset", "acknowledge"):
        assert f" {verb} " in got.stdout
    assert pushrod("--version").stdout.startswith("pushrod 0.")
    assert pushrod("rum").exit_code == 2


VERBS = (
    "run",
    "list",
    "check",
    "schema",
    "new",
    "urdf",
    "excite",
    "export",
    "verify",
    "serve",
    "top",
    "cmd",
    "arm",
    "disarm",
    "estop",
    "reset",
    "acknowledge",
)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_tells_its_exit_codes_in_words_that_are_whole(pushrod, verb):
    said = pushrod(verb, "--help", columns=60).stdout
    assert "Exit codes: 0 " in said
    assert "[[" not in said
    assert "list[" not in said
    if verb == "cmd":
        for word in ("set_position", "set_velocity", "clear_watchdog", "[VALUE]..."):
            assert word in said


@pytest.mark.parametrize("verb", ["serve", "cmd", "estop"])
def test_on_a_narrow_terminal_the_texts_of_options_have_most_of_the_width(program, verb):
    lines = program(verb, "--help", columns=60).stdout.partition("Options:\n")[2].splitlines()
    assert lines
    assert max(map(len, lines)) <= 60
    assert {len(line) - len(line.lstrip()) for line in lines if line.startswith("   ")} <= set(range(10, 19)), lines


def test_help_is_quick_because_nothing_heavy_is_imported():
    code = (
        "import sys; sys.argv = ['pushrod', '--help']\nfrom pushrod.cli.main import main\ntry: main()\nexcept SystemExit: print(sorted(sys.modules))"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(got.stdout.splitlines()[-1].replace("'", '"')))
    assert not loaded & {
        "numpy",
        "numba",
        "ruamel.yaml",
        "msgspec",
        "foxglove",
        "plotly",
        "pushrod.sim.worlds",
        "pushrod.vehicles",
        "pushrod.compiled",
    }
    took = []
    for _ in range(3):
        start = cpu_of_children()
        subprocess.run([sys.executable, "-m", "pushrod", "--help"], capture_output=True, check=True)
        took.append(cpu_of_children() - start)
    assert min(took) < 0.4


def cpu_of_children():
    """Seconds of processor time: what a machine with nothing else to do would need."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.parametrize("columns", [60, 130])
def test_list_names_everything_there_is(pushrod, columns):
    got = pushrod("list", columns=columns)
    assert got.exit_code == 0
    assert max(len(line) for line in got.stdout.splitlines()) <= columns
    for name in (
        "car",
        "satellite",
        "car_default",
        "satellite_slew",
        "first_order",
        "rigid_body",
        "ACTUATION_CMD_MECHANICAL",
        "chirp",
        *machine.shipped(),
        *scenario.shipped(),
    ):
        assert any(line.split()[:1] == [name] for line in got.stdout.splitlines()), name
    assert "chirp" not in pushrod("list", "machines").stdout


def test_check_says_what_a_sound_file_is(pushrod, tiny):
    got = pushrod("check", "--trust", tiny / "m.yaml", tiny / "s.yaml")
    assert got.exit_code == 0, got.stderr
    assert "m.yaml: ok, machine tiny of world tiny: 11 parameters, 1 tracked pair" in got.stdout
    assert "s.yaml: ok, scenario open for tiny: 100 ticks, 1 signal, 1 expectation" in got.stdout


def test_check_tells_the_mistakes_of_all_files(pushrod, tiny):
    (tiny / "bad.yaml").write_text("machine: m\nworld: nope\n")
    (tiny / "worse.yaml").write_text("scenario: s\nmachine: m.yaml\nduration: 1\ndt: 1\nsignals: {angel: 1}\n")
    got = pushrod("check", "--trust", tiny / "bad.yaml", tiny / "worse.yaml", tiny / "gone.yaml", tiny / "s.yaml")
    assert got.exit_code == 2
    assert "s.yaml: ok" in got.stdout
    for text in ("bad.yaml:2: world: there is no world named 'nope'", "worse.yaml:5: signals.angel:", "gone.yaml: cannot be read"):
        assert text in got.stderr


def test_check_tells_a_missing_machine_by_the_line_that_names_it(pushrod, tiny):
    for name, why in (("gone.yaml", "there is no file"), ("5 parsec", "there is no machine named '5 parsec'")):
        (tiny / "s.yaml").write_text(f"scenario: s\nmachine: {name}\nduration: 1\ndt: 10 ms\n")
        assert f"s.yaml:2: machine: {why}" in pushrod("check", "--trust", tiny / "s.yaml").stderr


def test_check_refuses_a_signal_that_run_would_refuse(pushrod, tiny):
    text = (tiny / "s.yaml").read_text().replace("constant: 0.5", "constant: 5")
    (tiny / "s.yaml").write_text(text)
    for file in ("s.yaml", "m.yaml"):
        got = pushrod("check", "--trust", tiny / file)
        assert got.exit_code == 2
        assert "s.yaml:5: signals.angle: reaches 5 rad at 0.2 s, outside the range of the channel" in got.stderr


ROBOT = """robot: lifter
links: [frame, carriage]
joints:
  lift: {kind: prismatic, parent: frame, child: carriage, limits: {lower: 0 m, upper: 50 cm, velocity: {parameter: speed}, effort: 200 N}}
actuators:
  motor: {joint: lift, driver: mine:Mine, transmission: {reduction: 600}, watchdog: {silence: 200 ms, reaction: ramp}}
parameters:
  speed: {default: 10 cm/s, lo: 0 m/s, unit: m/s, doc: how fast it may lift}
"""


def test_check_says_what_a_robot_is(pushrod, tmp_path):
    (tmp_path / "r.yaml").write_text(ROBOT)
    got = pushrod("check", tmp_path / "r.yaml")
    assert got.exit_code == 0, got.stderr
    assert "r.yaml: ok as far as it can be checked without the code below, robot lifter: 2 links, 1 joint, 1 actuator, 1 parameter" in got.stdout
    for line in (
        "  joint       lift              prismatic, frame to carriage, 0 to 0.5 m, {speed} m/s, 200 N",
        "  actuator    frame/lift/motor  mine:Mine, reduction 600, ramp after 0.2 s of silence",
        "  parameter   speed             0.1 m/s (0 to open), how fast it may lift",
    ):
        assert line in got.stdout.splitlines()


def test_check_looks_at_the_drivers_of_a_urdf_robot_too(pushrod, tmp_path):
    (tmp_path / "r.urdf").write_text(
        """<robot name="r">
  <link name="a"/><link name="b"/>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><limit velocity="1" effort="1"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j"/><actuator name="m"/></transmission>
  <pushrod>
    <actuator name="m" driver="pushrod.live.thruster:Thruster"><options>{"neutral_tim": 1}</options></actuator>
    <controller name="c" driver="pushrod.live.thruster:Thrust"/>
    <sensor name="s" link="a" driver="nowhere.at_all:S"/>
  </pushrod>
</robot>"""
    )
    got = pushrod("check", "--trust", tmp_path / "r.urdf")
    assert got.exit_code == 2
    assert "r.urdf:6: actuators.m.options.neutral_tim: unknown key; did you mean 'neutral_time'" in got.output
    assert "r.urdf:7: controllers.c.driver: 'pushrod.live.thruster:Thrust' cannot be imported" in got.output
    (tmp_path / "r.urdf").write_text((tmp_path / "r.urdf").read_text().replace('neutral_tim"', 'neutral_time"').replace(':Thrust"', ':Thruster"'))
    got = pushrod("check", "--trust", tmp_path / "r.urdf")
    assert got.exit_code == 2, got.output
    problem = "sensors.s.driver: 'nowhere.at_all:S' cannot be imported: No module named 'nowhere'; install it, or put it beside the robot file"
    assert got.stderr.rstrip().endswith(f"r.urdf:8: {problem}")


def test_urdf_takes_shipped_robots_by_name_and_files(pushrod, tmp_path):
    assert '<robot name="arm"' in pushrod("urdf", "arm").stdout
    assert pushrod("urdf", "arm", "--out", tmp_path / "a.urdf").exit_code == 0
    assert '<robot name="arm"' in pushrod("urdf", tmp_path / "a.urdf").stdout
    got = pushrod("urdf", "amr")
    assert (got.exit_code, "no robot named 'amr'; did you mean" in got.stderr) == (2, True), got.output


def test_check_reads_urdf_and_says_what_is_left_out_of_it(pushrod, tmp_path):
    (tmp_path / "r.yaml").write_text(ROBOT)
    urdf = pushrod("urdf", tmp_path / "r.yaml").stdout
    (tmp_path / "r.urdf").write_text(urdf.replace("</robot>", "<gazebo/></robot>"))
    got = pushrod("check", tmp_path / "r.urdf")
    assert got.exit_code == 0, got.stderr
    assert "robot lifter: 2 links, 1 joint, 1 actuator, 1 parameter" in got.stdout
    assert "note: " in got.stdout
    assert "gazebo" in got.stdout


def test_check_tells_all_mistakes_of_robots_by_line(pushrod, tmp_path):
    (tmp_path / "r.yaml").write_text(
        ROBOT.replace("reduction: 600", "reduction: 0").replace("upper: 50 cm", "upper: 50 deg").replace("robot:", "robto:")
    )
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">\n<link name="a"/>\n<joint name="j" type="hinge"><parent link="a"/><child link="b"/></joint></robot>'
    )
    (tmp_path / "twice.yaml").write_text("robot: a\nlinks: [a]\nlinks: [b]\n")
    got = pushrod("check", tmp_path / "r.yaml", tmp_path / "r.urdf", tmp_path / "twice.yaml", tmp_path / "gone.urdf")
    assert got.exit_code == 2
    for text in (
        "r.yaml:1: robto: unknown key; did you mean 'robot'?",
        "r.yaml:4: joints.lift.limits.upper:",
        "r.yaml:6: actuators.motor.transmission.reduction: must be above 0",
        "r.urdf:3: joints.j",
        "twice.yaml:3: links",
        "gone.urdf",
    ):
        assert text in got.stderr


DRIVERS = """import msgspec
from typing import Literal

class Options(msgspec.Struct, forbid_unknown_fields=True):
    port: str
    mode: Literal["slow", "quick"] = "slow"
    rate: float = 1.0

def park(options): ...

class Good:
    options = Options
    disarm = "drivers_of_a_test:park"
    def init(self, context, options): ...
    def handle_command(self, payload, command): ...

class Bad(Good):
    disarm = None
    async def handle_command(self, payload, command): ...
"""


def test_check_looks_at_drivers_and_their_options_too(pushrod, tmp_path):
    (tmp_path / "drivers_of_a_test.py").write_text(DRIVERS)
    head = (
        "robot: r\nlinks: [a, b]\njoints:\n  j: {kind: continuous, parent: a, child: b}\n"
        "parameters:\n  rate: {default: 5}\nactuators:\n  m:\n    joint: j\n    driver: "
    )
    (tmp_path / "r.yaml").write_text(head + "drivers_of_a_test:Good\n    options:\n      port: a\n      rate: {parameter: rate}\n")
    good = pushrod("check", "--trust", tmp_path / "r.yaml")
    assert (good.exit_code, "ok, robot r" in good.stdout) == (0, True)
    (tmp_path / "r.yaml").write_text(head + "drivers_of_a_test:Bad\n    options:\n      mode: quik\n      rte: 5\n")
    bad = pushrod("check", "--trust", tmp_path / "r.yaml").stderr
    for text in (
        "r.yaml:10: actuators.m.driver: Bad is no driver: handle_command is async",
        "r.yaml:10: actuators.m.driver: Bad is no driver: disarm must be the import path",
        "r.yaml:11: actuators.m.options: port is missing",
        "r.yaml:12: actuators.m.options.mode: must be one of slow, quick, got text 'quik'; did you mean 'quick'?",
        "r.yaml:13: actuators.m.options.rte: unknown key; did you mean 'rate'",
    ):
        assert text in bad
    (tmp_path / "r.yaml").write_text(head + "drivers_of_a_test:Godo\n")
    assert "r.yaml:10: actuators.m.driver: 'drivers_of_a_test:Godo' cannot be imported" in pushrod("check", "--trust", tmp_path / "r.yaml").stderr


@pytest.mark.parametrize(
    ("driver", "why"),
    [
        ("elsewhere_of_a_test:Motor", "No module named 'elsewhere_of_a_test'"),
        ("broken_of_a_test:Motor", "RuntimeError: no bus"),
        ("needy_of_a_test:Motor", "No module named 'library_of_a_test'"),
    ],
)
def test_code_that_cannot_be_imported_is_a_problem_and_is_listed_as_not_loaded(pushrod, tmp_path, driver, why):
    (tmp_path / "broken_of_a_test.py").write_text("raise RuntimeError('no bus')\n")
    (tmp_path / "needy_of_a_test.py").write_text("import library_of_a_test\n")
    joint = "links: [a, b]\njoints:\n  j: {kind: continuous, parent: a, child: b}\n"
    (tmp_path / "r.yaml").write_text(f"robot: r\n{joint}actuators:\n  m: {{joint: j, driver: '{driver}'}}\n")
    got = pushrod("check", "--trust", tmp_path / "r.yaml")
    assert got.exit_code == 2
    assert f"r.yaml:6: actuators.m.driver: '{driver}' cannot be imported: {why}" in got.stderr
    assert "(loaded)" not in got.stdout
    assert f"{driver}" in got.stdout
    assert f"not loaded: '{driver}' cannot be imported: {why}" in got.stdout
    (one,) = json.loads(pushrod("check", "--trust", "--json", tmp_path / "r.yaml").stdout)["files"]
    assert not one["valid"]
    assert [(each["loaded"], why in each["why"]) for each in one["code"]] == [(False, True)]


def test_a_world_that_cannot_be_imported_is_listed_as_not_loaded(pushrod, tmp_path):
    (tmp_path / "w.py").write_text("raise RuntimeError('no licence')\n")
    (tmp_path / "m.yaml").write_text("machine: m\nworld: w.py:W\n")
    got = pushrod("check", "--trust", tmp_path / "m.yaml")
    assert got.exit_code == 2
    assert "w.py cannot be imported: RuntimeError: no licence" in got.stderr
    assert "(loaded)" not in got.stdout
    assert "not loaded: " in got.stdout


def test_without_trust_a_robot_is_ok_only_as_far_as_it_was_checked(pushrod, tmp_path):
    (tmp_path / "drivers_of_a_test.py").write_text(DRIVERS)
    joint = "links: [a, b]\njoints:\n  j: {kind: continuous, parent: a, child: b}\n"
    for driver, found in (("drivers_of_a_test:Good", True), ("elsewhere_of_a_test:Motor", False)):
        (tmp_path / "r.yaml").write_text(f"robot: r\n{joint}actuators:\n  m: {{joint: j, driver: '{driver}'}}\n")
        got = pushrod("check", tmp_path / "r.yaml")
        assert got.exit_code == 0, got.output
        assert "r.yaml: ok as far as it can be checked without the code below, robot r: 2 links" in got.stdout
        assert ("no module 'elsewhere_of_a_test' was found" in got.stdout) is not found


def test_check_suggests_drivers_alone(pushrod, tmp_path):
    """Other names of the module are near, too: a function, a base class without a disarm function, an import."""
    near = "class MotorOptions: ...\ndef Motors(): ...\nclass Moto:\n    def init(self, context, options): ...\n"
    good = "class MyMotor:\n    disarm = f'{__name__}:off'\n    def init(self, context, options): ...\n"
    good += "    def handle_command(self, payload, command): ...\ndef off(options): ...\n"
    joint = "links: [a, b]\njoints:\n  j: {kind: continuous, parent: a, child: b}\n"
    for module, text, hint in (("near_of_a_test", near, "it has no driver class"), ("far_of_a_test", near + good, "did you mean 'MyMotor'?")):
        (tmp_path / f"{module}.py").write_text(text)
        (tmp_path / "r.yaml").write_text(f"robot: r\n{joint}actuators:\n  m: {{joint: j, driver: '{module}:Motor'}}\n")
        got = pushrod("check", "--trust", tmp_path / "r.yaml")
        assert got.exit_code == 2
        assert f"module '{module}' has no 'Motor'; {hint}" in got.stderr
        assert "Moto'" not in got.stderr
        assert "Motors" not in got.stderr
        assert "MotorOptions" not in got.stderr


def test_the_drivers_of_a_machine_that_are_not_loaded_are_not_listed_as_loaded(pushrod, tmp_path):
    from pushrod.sim import machine as machines

    robot = (machines.FOLDER.parent / "robots" / "arm.yaml").read_text()
    (tmp_path / "own_robot.yaml").write_text(robot.replace("pushrod.runtime.simulated.kinematic:Kinematic", "elsewhere_of_a_test:M"))
    (tmp_path / "own.yaml").write_text((machines.FOLDER / "arm.yaml").read_text().replace("robot: arm", "robot: own_robot.yaml"))
    got = pushrod("check", "--trust", tmp_path / "own.yaml")
    assert got.exit_code == 0, got.output
    assert "(loaded)" not in got.stdout
    assert "not loaded: a machine replaces it or loads it live; to check it: pushrod check" in got.stdout


def test_check_finds_a_motor_that_a_pipeline_is_to_drive_and_the_robot_does_not_have(pushrod, tmp_path):
    joints = "".join(f"  j{i}: {{kind: continuous, parent: a, child: b{i}}}\n" for i in (1, 2))
    motors = "".join(f"  {name}: {{joint: j{i}}}\n" for i, name in ((1, "left"), (2, "right")))
    pipeline = 'controllers:\n  pipe:\n    driver: "pushrod.live.pipeline:TwoMotorNode"\n    options: {motors: [left, rigt]}\n'
    (tmp_path / "r.yaml").write_text(f"robot: r\nlinks: [a, b1, b2]\njoints:\n{joints}actuators:\n{motors}{pipeline}")
    got = pushrod("check", tmp_path / "r.yaml")
    assert got.exit_code == 2
    assert "controllers.pipe.options.motors[1]: there is no actuator named 'rigt'; did you mean 'right'?" in got.stderr


def test_a_machine_that_names_a_robot_is_still_a_machine(pushrod, tiny):
    (tiny / "m.yaml").write_text((tiny / "m.yaml").read_text() + "robot: nobody\n")
    assert "m.yaml:5: robot: " in pushrod("check", "--trust", tiny / "m.yaml").stderr


def test_a_scenario_without_a_machine_is_checked_as_far_as_it_goes(pushrod, tiny):
    (tiny / "s.yaml").write_text("scenario: s\nduration: 1\ndt: 10 ms\nsignals: {angel: 1}\n")
    assert "as far as it goes" in pushrod("check", "--trust", tiny / "s.yaml").stdout
    assert "did you mean 'angle'" in pushrod("check", "--trust", tiny / "s.yaml", "--machine", tiny / "m.yaml").stderr


def test_a_new_model_passes_its_own_test(pushrod, tmp_path):
    got = pushrod("new", "model", "my_valve", "--dir", tmp_path)
    assert got.exit_code == 0, got.stderr
    check_own_test(tmp_path, "test_my_valve.py", passed=6)


@pytest.mark.parametrize("name", sorted(machine.shipped().keys() - {"arm"}))
def test_a_new_study_of_any_machine_can_be_read(pushrod, tmp_path, name):
    got = pushrod("new", "study", "tolerance", "--like", name, "--dir", tmp_path)
    assert got.exit_code == 0, got.stderr
    made = study.load(tmp_path / "tolerance.yaml")
    assert 1 <= len(made.names) <= 6
    assert made.metrics
    assert len(made.criteria) == len(made.metrics)
    free = [line.removeprefix("#") for line in (tmp_path / "tolerance.yaml").read_text().splitlines() if "uniform: [" in line]
    (tmp_path / "all.yaml").write_text(
        "\n".join(["study: all", f"machine: {name}", "runs: 10", "vary:", *(f"  {line.strip()}" for line in free)])
        + "\nmetrics: "
        + json.dumps({"a": {"signal": next(iter(made.metrics.values())).signal, "metric": "max"}})
    )
    assert len(study.load(tmp_path / "all.yaml").names) == len(free), "each of the others can be moved up, too"


def test_a_new_study_of_a_machine_that_only_a_runtime_can_run_is_refused(pushrod, tmp_path):
    got = pushrod("new", "study", "tolerance", "--like", "arm", "--dir", tmp_path)
    assert got.exit_code == 2
    assert "arm_default, the scenario of arm, commands actuators" in got.stderr
    assert not list(tmp_path.iterdir())


def test_a_new_study_runs(pushrod, tmp_path):
    assert pushrod("new", "study", "off", "--like", "servo", "--dir", tmp_path).exit_code == 0
    got = pushrod("sweep", tmp_path / "off.yaml", "--runs", "50", "--out", tmp_path / "found")
    assert got.exit_code == 0, got.stderr
    assert "50 of 50 runs" in got.stdout + got.stderr


def test_a_new_machine_passes_its_own_test_and_runs(pushrod, tmp_path):
    got = pushrod("new", "machine", "my_car", "--dir", tmp_path)
    assert got.exit_code == 0, got.stderr
    check_own_test(tmp_path, "test_my_car.py", passed=2)
    assert pushrod("run", tmp_path / "my_car.yaml", "--no-log").exit_code == 0
    text = (tmp_path / "my_car.yaml").read_text()
    assert "#   vehicle.wheelbase: 2.79  # [m, 0.1 to 20] front to rear axle" in text


@pytest.mark.parametrize(("name", "made"), [("my_servo", "MyServoDriver"), ("motor", "MotorDriver"), ("winch_driver", "WinchDriver")])
def test_a_new_driver_passes_its_own_test_and_moves(pushrod, program, tmp_path, name, made):
    got = pushrod("new", "driver", name, "--dir", tmp_path)
    assert got.exit_code == 0, got.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"{name}.py", f"{name}.yaml", f"test_{name}.py", f"try_{name}.py"])
    steps = [line.strip() for line in got.stdout.splitlines() if line.startswith("  ")]
    assert [step.split()[:2] for step in steps] == [["pytest", str(tmp_path / f"test_{name}.py")], ["python", str(tmp_path / f"try_{name}.py")]] + [
        ["pushrod", verb] for verb in ("check", "serve")
    ]
    assert f"pushrod serve {tmp_path / name}.yaml --trust" in got.stdout
    assert f"fill in: {tmp_path / name}.py: Motor and disarm" in got.stdout
    check_own_test(tmp_path, f"test_{name}.py", passed=18)
    done = subprocess.run([sys.executable, tmp_path / f"try_{name}.py"], capture_output=True, text=True, check=False)
    assert "EndMotion(position=0.5, reason='completed'" in done.stdout, done.stderr
    assert f"frame/hinge/motor  {name}:{made}, reduction 20" in pushrod("check", tmp_path / f"{name}.yaml").stdout


@pytest.mark.parametrize("kind", ["model", "machine", "driver"])
def test_what_new_writes_is_clean_for_a_linter_in_a_folder_of_its_own(pushrod, tmp_path, kind):
    assert pushrod("new", kind, "mine", "--dir", tmp_path).exit_code == 0
    rules = ["--isolated", "--target-version", "py311", "--line-length", "150"]
    for words in (["check", "--select", "E,F,W,I,B,UP,SIM,C4,PIE,RUF,PT", *rules], ["format", "--check", *rules]):
        got = subprocess.run([sys.executable, "-m", "ruff", *words, "."], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert got.returncode == 0, got.stdout


def check_own_test(folder, file, passed):
    got = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file], cwd=folder, capture_output=True, text=True, check=False
    )
    assert f"{passed} passed" in got.stdout, got.stdout


def test_new_overwrites_nothing_and_takes_names_python_can_import(pushrod, tmp_path):
    (tmp_path / "mine.py").write_text("mine")
    got = pushrod("new", "model", "mine", "--dir", tmp_path)
    assert got.exit_code == 2
    assert "already exists; nothing was written" in got.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
    assert "my_valve" in pushrod("new", "model", "My-Valve", "--dir", tmp_path).stderr
    assert "did you mean 'car'" in pushrod("new", "machine", "m", "--like", "carr", "--dir", tmp_path).stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("class", "a keyword of Python"),
        *((name, "a module of Python's standard library") for name in ("os", "sys", "json", "math", "typing", "turtle")),
        *((name, "an importable module (/") for name in ("pushrod", "pytest", "numpy")),
    ],
)
@pytest.mark.parametrize("kind", ["model", "driver"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_name_that_python_could_not_import_is_refused(pushrod, tmp_path, monkeypatch, name, why, kind, inside):
    """Also in the current folder: frozen modules, such as os, have no file that tells them from one there."""
    monkeypatch.chdir(tmp_path)
    got = pushrod("new", kind, name, *(() if inside else ("--dir", tmp_path)))
    assert got.exit_code == 2
    assert f"{name!r} cannot name a {kind}: it is {why}" in got.stderr
    assert got.stderr.rstrip().endswith(f"Choose another name, such as my_{name}")
    assert list(tmp_path.iterdir()) == []


def test_new_says_where_it_cannot_write(pushrod, tmp_path):
    (tmp_path / "afile").write_text("")
    for folder in (tmp_path / "afile", tmp_path / "afile" / "deeper", "/proc", "/proc/none"):
        for kind in ("model", "machine"):
            got = pushrod("new", kind, "zz", "--dir", folder)
            assert got.exit_code == 2, got.exception
            assert "cannot be written" in got.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["afile"]


def test_two_machines_share_the_maps_in_a_folder(pushrod, tmp_path):
    for name in ("one", "two"):
        assert pushrod("new", "machine", name, "--dir", tmp_path).exit_code == 0
    (tmp_path / "maps" / "car_accel.csv").write_text("mine")
    got = pushrod("new", "machine", "three", "--dir", tmp_path)
    assert "car_accel.csv: already exists" in got.stderr
    assert not (tmp_path / "three.yaml").exists()


def test_a_new_machine_speaks_of_itself(pushrod, tmp_path):
    pushrod("new", "machine", "lorry", "--dir", tmp_path)
    text = (tmp_path / "lorry.yaml").read_text()
    head = text[: text.index("\nmachine: lorry")]
    assert "pushrod run lorry.yaml" in head
    assert "car" not in head
    assert (tmp_path / "lorry_default.yaml").read_text().startswith("# What lorry is asked to do")


def test_verify_replays_folders_and_files_and_says_the_worst_of_each(pushrod, golden):
    got = pushrod("verify", golden / "signals", golden / "vehicle" / "lookups" / "vgr.csv.gz")
    assert got.exit_code == 0, got.output
    assert "cases.json" in got.stdout
    assert "vgr.json" in got.stdout
    assert "2 files, 1448 rows: all within tolerance" in got.stdout
    narrow = pushrod("verify", golden / "signals", golden / "signals" / "cases.json", columns=60)
    assert "1 file, 1178 rows" in narrow.stdout


def test_verify_fails_past_the_tolerance_and_says_where(pushrod, golden, tmp_path):
    for name in ("cases.json", "expected.csv"):
        (tmp_path / name).write_text((golden / "signals" / name).read_text())
    lines = (tmp_path / "expected.csv").read_text().splitlines()
    k = next(i for i, line in enumerate(lines) if ",inside," in line)
    cells = lines[k].split(",")
    column = lines[0].split(",").index("value")
    cells[column] = str(float(cells[column]) + 1e-6)
    (tmp_path / "expected.csv").write_text("\n".join([*lines[:k], ",".join(cells), *lines[k + 1 :]]) + "\n")
    got = pushrod("verify", tmp_path)
    assert got.exit_code == 1, got.output
    assert "FAILED" in got.stdout
    assert "1 past tolerance" in got.stdout
    assert "worst at" in got.stdout


def test_verify_refuses_what_it_cannot_understand(pushrod, golden, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert "no file in this folder is in a known format" in pushrod("verify", tmp_path).stderr
    got = pushrod("verify", golden / "signals", tmp_path / "notes.txt", tmp_path / "gone.json")
    assert got.exit_code == 2
    assert "notes.txt: is in no known format" in got.stderr
    assert "gone.json: there is no such file or folder" in got.stderr
    (tmp_path / "cases.json").write_text((golden / "signals" / "cases.json").read_text())
    got = pushrod("verify", tmp_path)
    assert got.exit_code == 2
    assert "the expected values cannot be read" in got.stderr


def test_every_reference_file_in_the_tree_is_claimed_and_passes(pushrod, golden):
    got = pushrod("verify", golden)
    assert got.exit_code == 0, got.stdout
    jsons = [file for file in golden.rglob("*.json") if "maps" not in file.parts]
    tables = list(golden.rglob("alloc_cases.csv"))  # a table that needs nothing beside it
    assert f"{len(jsons) + len(tables)} files" in got.stdout


@pytest.mark.parametrize("name", ["vehicle", "vehicle_upstream_maps", "actuator_driver", "signals", "pipeline"])
def test_the_reference_files_beside_the_checkout_pass(pushrod, shared, name):
    got = pushrod("verify", shared / "golden" / name)
    assert got.exit_code == 0, got.stdout
