"""Files are data: no verb loads code outside Pushrod that a file names without --trust; with it, the type is checked first."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.core.errors import ConfigError, InputError
from pushrod.robot import load
from pushrod.robot.named_drivers import loaded_drivers
from pushrod.runtime import Runtime, SteppedClock
from pushrod.runtime.building import sources
from pushrod.sim import machine as machines

EVIL = """from pathlib import Path
Path(__file__).with_name("executed").touch()
def make():
    Path(__file__).with_name("called").touch()
class NoDriver:
    def __init__(self):
        Path(__file__).with_name("called").touch()
W = NoDriver
"""
ROBOT = """robot: lifter
links: [a, b]
joints:
  j: {kind: prismatic, parent: a, child: b, limits: {lower: 0, upper: 1, velocity: 1, effort: 10}}
actuators:
  m: {joint: j, driver: "DRIVER"}
"""
ROBOT_URDF = """<robot name="lifter">
  <link name="a"/><link name="b"/>
  <joint name="j" type="prismatic"><parent link="a"/><child link="b"/><limit lower="0" upper="1" velocity="1" effort="10"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j"/><actuator name="m"/></transmission>
  <pushrod>
    <actuator name="m" driver="DRIVER"/>
  </pushrod>
</robot>
"""
MACHINE = "machine: m\nworld: evil.py:W\nscenario: s.yaml\n"
SCENARIO = "scenario: s\nmachine: m.yaml\nduration: 1 s\ndt: 10 ms\n"
STUDY = "study: t\nmachine: m.yaml\nruns: 4\ndesign: random\nvary: {lag.T: 10 %}\nmetrics: {a: {signal: y, metric: final}}\n"
GOOD = """
class Good:
    disarm = "good_driver:park"
    def init(self, context, options): ...
    def handle_command(self, payload, command): ...
def park(options): ...
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"evil.py": EVIL, "m.yaml": MACHINE, "s.yaml": SCENARIO, "st.yaml": STUDY}
    for text, name in ((ROBOT, "r.yaml"), (ROBOT_URDF, "r.urdf")):
        files[name] = text.replace("DRIVER", "evil:make")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "log.csv").write_text("t [s],u,y\n" + "".join(f"{k * 0.01},1,{k}\n" for k in range(50)))
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in ("evil", "good_driver"):
        sys.modules.pop(name, None)


def call(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def executed(folder: Path) -> bool:
    return (folder / "executed").exists() or (folder / "called").exists()


REFUSED = {
    "run": ("run", "m.yaml"),
    "run with a scenario": ("run", "m.yaml", "s.yaml"),
    "serve a machine": ("serve", "m.yaml"),
    "serve a robot": ("serve", "r.yaml"),
    "serve a robot in URDF": ("serve", "r.urdf"),
    "fit": ("fit", "log.csv", "--model", "m.yaml", "--output", "y", "--free", "T"),
    "excite": ("excite", "m.yaml", "--input", "u=1", "--output", "y=1"),
    "export": ("export", "m.yaml", "--to", "mujoco"),
    "sweep": ("sweep", "st.yaml"),
    "layout": ("layout", "foxglove", "m.yaml"),
    "schema of a scenario": ("schema", "scenario", "--machine", "m.yaml"),
    "schema of a study": ("schema", "study", "--machine", "m.yaml"),
    "new machine": ("new", "machine", "other", "--like", "m.yaml"),
    "new study": ("new", "study", "other", "--like", "m.yaml"),
}


@pytest.mark.parametrize("verb", REFUSED)
def test_a_verb_refuses_code_by_file_and_line(folder, verb):
    got = call(*REFUSED[verb])
    assert got.exit_code == 2, got.output
    assert not executed(folder)
    if "robot" in verb:
        where, code = ("r.urdf:6" if "URDF" in verb else "r.yaml:6") + ": actuators.m.driver: the driver 'evil:make'", "(evil.py)"
    else:
        where, code = "m.yaml:2: world: the world 'evil.py:W'", "(evil.py)"
    text = " ".join(got.output.split())
    assert where in text
    assert code in text
    assert "re-run with --trust" in text


@pytest.mark.parametrize("file", ["m.yaml", "s.yaml", "st.yaml", "r.yaml", "r.urdf"])
def test_check_executes_nothing_and_lists_the_code(folder, file):
    got = call("check", file)
    assert got.exit_code == 0, got.output
    assert not executed(folder)
    assert "evil.py" in got.output
    assert "not loaded; read it, then re-run with --trust" in got.output
    one = json.loads(call("check", file, "--json").stdout)["files"][0]
    assert one["valid"]
    assert one["trusted"] is False
    driver = file.startswith("r")
    assert [(each["what"], each["code"], each["file"]) for each in one["code"]] == [
        ("driver", "evil:make", "evil.py") if driver else ("world", "evil.py:W", "evil.py")
    ]
    assert one["code"][0]["where"].startswith({"r.yaml": "r.yaml:6", "r.urdf": "r.urdf:6"}.get(file, "m.yaml:2"))


def test_check_reports_what_shows_without_the_code(folder):
    (folder / "m.yaml").write_text("machine: m\nworld: evil.py:W\nrobot: r.yaml\nscenaro: s.yaml\n")
    (folder / "r.yaml").write_text(ROBOT.replace("velocity: 1", "velocity: -1").replace("DRIVER", "evil:make"))
    (folder / "s.yaml").write_text(SCENARIO.replace("10 ms", "ten"))
    (folder / "st.yaml").write_text(STUDY.replace("runs: 4", "runs: many"))
    got = call("check", "m.yaml", "s.yaml", "st.yaml")
    assert got.exit_code == 2
    for text in ("m.yaml:4: scenaro", "velocity", "st.yaml:3: runs"):
        assert text in got.output
    assert not executed(folder)
    (folder / "m.yaml").write_text("machine: m\nworld: gone.py:W\n")
    assert "m.yaml:2: world: there is no file gone.py" in call("check", "m.yaml").output


@pytest.mark.parametrize("driver", [":D", "evil", "evil:", "..evil:D", "evil :D", "evil:class", "1:D"])
def test_check_refuses_what_is_no_import_path(folder, driver):
    (folder / "r.yaml").write_text(ROBOT.replace("DRIVER", driver))
    got = call("check", "r.yaml")
    assert got.exit_code == 2, got.output
    assert f"r.yaml:6: actuators.m.driver: {driver!r} is no import path: write 'package.module:Class'" in got.output
    (folder / "m.yaml").write_text("machine: m\nworld: 'evil.py:'\n")
    assert "m.yaml:2: world: 'evil.py:' names no world: write 'file.py:WORLD'" in call("check", "m.yaml").output
    assert not executed(folder)


@pytest.mark.parametrize(
    ("driver", "problem"),
    [
        ("evil:make", "an import path names a driver class, got function"),
        ("evil:NoDriver", "NoDriver is no driver: it has no init"),
        ("os:abort", "an import path names a driver class, got builtin_function_or_method"),
        ("subprocess:Popen", "Popen is no driver: it has no init"),
        ("pushrod.cli.main:main", "an import path names a driver class, got function"),
    ],
)
def test_trusted_code_is_checked_by_type_before_it_is_called(folder, driver, problem):
    (folder / "r.yaml").write_text(ROBOT.replace("DRIVER", driver))
    for verb in ("check", "serve"):
        got = call(verb, "r.yaml", "--trust", *(("--no-guard", "--no-log") if verb == "serve" else ()))
        assert got.exit_code == 2, got.output
        assert problem in got.output
        assert not (folder / "called").exists()


def test_the_world_of_a_trusted_file_is_checked_by_type(folder):
    for verb in ("check", "run"):
        got = call(verb, "m.yaml", "--trust")
        assert got.exit_code == 2
        assert "there is no World named 'W'" in got.output
        assert not (folder / "called").exists()


def test_code_of_pushrod_needs_no_trust_and_programs_are_no_drivers(folder):
    (folder / "r.yaml").write_text(ROBOT.replace("DRIVER", "pushrod.runtime.simulated.kinematic:Kinematic"))
    got = json.loads(call("check", "r.yaml", "--json").stdout)["files"][0]
    assert got["valid"]
    assert got["code"] == []
    (folder / "r.yaml").write_text(ROBOT.replace("DRIVER", "pushrod.guard.__main__:X"))
    assert json.loads(call("check", "r.yaml", "--json").stdout)["files"][0]["code"]


def test_a_package_beside_the_file_cannot_pass_for_pushrod(folder):
    (folder / "pushrod").mkdir()
    (folder / "pushrod" / "evil.py").write_text(EVIL)
    (folder / "pushrod" / "__init__.py").write_text(EVIL)
    (folder / "r.yaml").write_text(ROBOT.replace("DRIVER", "pushrod.evil:make"))
    call("check", "r.yaml")
    assert not (folder / "pushrod" / "executed").exists()


def test_trusted_drivers_beside_the_file_are_found(folder):
    (folder / "good_driver.py").write_text(GOOD)
    (folder / "r.yaml").write_text(ROBOT.replace("DRIVER", "good_driver:Good"))
    got = call("check", "r.yaml", "--trust")
    assert got.exit_code == 0, got.output
    assert "(loaded)" in got.output
    assert "good_driver:Good (good_driver.py)" in got.output


def test_an_ideal_motor_needs_no_driver_and_no_trust(folder):
    robot = load(folder / "r.yaml")
    assert loaded_drivers(robot, simulation=True) == []
    assert loaded_drivers(robot) == [(("actuators", "m", "driver"), "evil:make")]


def test_the_drivers_refused_are_those_that_a_runtime_would_load(folder, monkeypatch):
    parts = "sensors:\n  s: {joint: j, driver: evil:S}\ncontrollers:\n" + "".join(
        f"  c{i}: {{driver: evil:C{i}, simulation: {how}}}\n" for i, how in enumerate(("start", "mock", "omit"))
    )
    (folder / "r.yaml").write_text(ROBOT.replace("DRIVER", "evil:M") + parts)
    robot = load(folder / "r.yaml")
    asked: list[str] = []

    def note(source, needs, name):
        asked.append(source)
        raise InputError(name)

    monkeypatch.setattr("pushrod.runtime.building.check_driver_class", note)
    for simulation in (True, False):
        asked.clear()
        with pytest.raises(InputError):
            sources(robot, {}, None, simulation)
        assert sorted(asked) == sorted(driver for _, driver in loaded_drivers(robot, simulation=simulation))

    machine = SimpleNamespace(drivers={"m": object, "s": object})

    asked.clear()
    with pytest.raises(InputError):
        sources(robot, {}, machine, False)  # type: ignore[arg-type]
    assert sorted(asked) == sorted(driver for _, driver in loaded_drivers(robot, replaced=machine.drivers, machine=True))


def test_a_machine_whose_robot_has_own_drivers(folder):
    """The world replaces the actuators' drivers; a controller's own driver is code and needs trust where the machine runs live."""
    shutil.copy(machines.FOLDER / "arm.yaml", folder / "arm_copy.yaml")
    robot = (machines.FOLDER.parent / "robots" / "arm.yaml").read_text().replace("pushrod.runtime.simulated.kinematic:Kinematic", "evil:make")
    text = (machines.FOLDER / "arm.yaml").read_text()
    (folder / "own.yaml").write_text(text.replace("robot: arm", "robot: own_robot.yaml"))
    (folder / "own_robot.yaml").write_text(robot)
    assert call("run", "own.yaml", "--live", "--duration", "20 ms", "--no-log").exit_code in (0, 1)
    (folder / "own_robot.yaml").write_text(f"{robot}\ncontrollers:\n  c: {{driver: evil:make, simulation: start}}\n")
    for verb in (("run", "own.yaml", "--live", "--no-log"), ("serve", "own.yaml")):
        got = call(*verb)
        assert got.exit_code == 2, got.output
        assert "controllers.c.driver: the driver 'evil:make'" in got.output
    assert not executed(folder)
    listed = json.loads(call("check", "own.yaml", "--json").stdout)["files"][0]["code"]
    assert "evil:make" in [each["code"] for each in listed]
    assert not executed(folder)


def test_code_in_a_folder_of_results_needs_trust(folder):
    root = Path(__file__).resolve().parents[1]
    shutil.copy(root / "sim" / "tiny_world.py", folder)
    (folder / "m.yaml").write_text("machine: tiny\nworld: tiny_world.py:TINY\nscenario: s.yaml\n")
    (folder / "s.yaml").write_text(SCENARIO)
    (folder / "st.yaml").write_text(
        "study: t\nmachine: m.yaml\nruns: 4\ndesign: random\nvary: {lag.T: {uniform: [0.1, 0.2]}}\nmetrics: {a: {signal: angle_ach, metric: final}}\n"
    )
    assert call("sweep", "st.yaml", "--threads", "1").exit_code == 2
    got = call("sweep", "st.yaml", "--threads", "1", "--trust")
    assert got.exit_code == 0, got.output
    (kept,) = (folder / "sweeps" / "t").rglob("tiny_world.py")
    kept.write_text(f"open({str(folder / 'executed')!r}, 'w')\n" + kept.read_text())
    for verb in (("sweep", "report", "sweeps/t"), ("sweep", "one", "sweeps/t", "0")):
        got = call(*verb)
        assert got.exit_code == 2
        assert "is code outside Pushrod" in got.output
    assert not executed(folder)


def test_code_typed_on_the_command_line_is_trusted(folder):
    got = call("excite", "evil.py:W")
    assert (folder / "executed").exists()
    assert "there is no World named 'W'" in got.output


def test_the_python_functions_need_trust_too_and_a_runtime_loads_its_drivers(folder):
    with pytest.raises(ConfigError, match="trust=True"):
        machines.load(str(folder / "m.yaml"))
    assert not executed(folder)
    assert load(folder / "r.yaml").actuators[0].driver == "evil:make"
    assert not executed(folder)
    sys.path.append(str(folder))
    with pytest.raises(InputError, match="an import path names a driver class, got function"):
        Runtime(load(folder / "r.yaml"), clock=SteppedClock())
    assert not (folder / "called").exists()


def test_every_verb_that_reads_a_machine_has_the_option():
    from pushrod.cli.main import VERBS

    named = {name for name, verb in VERBS.items() if "trust" in verb.__annotations__}
    assert named == {
        *("run", "replay", "fit", "excite", "export", "sweep", "sweep report", "sweep one", "layout", "check", "schema", "new", "serve"),
    }


def test_check_in_a_process_of_its_own_loads_no_file_of_the_folder(folder):
    """Not even by a name that Pushrod itself might import: the folder of a file is no place for modules without --trust."""
    for name in ("msgspec", "yaml", "sitecustomize_not", "mujoco", "ray"):
        (folder / f"{name}.py").write_text(EVIL)
    program = str(Path(sys.executable).parent / "pushrod")
    got = subprocess.run([program, "check", "m.yaml", "r.yaml", "r.urdf"], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert got.returncode == 0, got.stderr
    assert not executed(folder)


def test_the_next_steps_of_a_machine_with_code_work(folder):
    root = Path(__file__).resolve().parents[1]
    shutil.copy(root / "sim" / "tiny_world.py", folder)
    (folder / "m.yaml").write_text("machine: tiny\nworld: tiny_world.py:TINY\nscenario: s.yaml\n")
    (folder / "s.yaml").write_text(
        f"{SCENARIO}signals: {{angle: [{{constant: 0.5}}]}}\nexpectations: [{{signal: angle_ach, metric: final, above: 0.1}}]\n"
    )
    got = call("new", "machine", "other", "--like", "m.yaml", "--trust")
    assert got.exit_code == 0, got.output
    assert "pushrod run other.yaml --trust" in got.output
    assert "trust=True" in (folder / "test_other.py").read_text()
    assert call("run", "other.yaml", "--trust", "--no-log").exit_code == 0
    assert "--trust" in call("new", "study", "many", "--like", "m.yaml", "--trust").output
    plain = call("new", "machine", "plain", "--like", "servo")
    assert "--trust" not in plain.output
    assert "trust" not in (folder / "test_plain.py").read_text()
