"""Exported parameters mean the same to whom they are exported for: MuJoCo moves as we do, URDF and YAML read back."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from pushrod import rollout
from pushrod.cli.main import app
from pushrod.core.errors import PushrodError
from pushrod.core.record import get
from pushrod.identify.export.drive import DRIVES, drive_of
from pushrod.identify.export.exported import Wanted
from pushrod.identify.export.mujoco import mjcf
from pushrod.identify.export.mujoco_check import difference, step_in_mujoco
from pushrod.identify.export.target import TARGETS
from pushrod.identify.subject import subject
from pushrod.robot import load as load_robot
from pushrod.vehicles import map_file

CLEAN = ["R_s=0", "motor.L=0", "motor.i_max=20 A", "kd=0.05", "drag.s=0", "drag.mu=0"]  # a servo without what MuJoCo has no words for


def exported(model: str, to: str, *overrides: str, **asked):
    machine = subject(model, overrides)
    return TARGETS[to].export(Wanted(machine, asked.pop("name", machine.name), **asked))


@pytest.mark.parametrize("size", [0.05, 0.3, 1.5])
def test_a_step_in_mujoco_is_ours_within_half_a_percent(size: float) -> None:
    """A small step that friction ends, one at the edge of saturation, and one that is saturated for long."""
    pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")
    machine = subject("model:servo", CLEAN)
    drive = drive_of(machine)
    assert drive.left_out == ()
    assert difference(machine, drive, mjcf(drive, "servo", "joint"), size) < 0.005


@pytest.mark.parametrize(
    ("name", "overrides", "size", "within"),
    [
        ("servo", ["ramp.rise=1e5", "ramp.fall=1e5", "bus.delay=7 ms"], 1.0, 0.01),  # a torque behind delay and lag
        ("servo_bench", ["load.m=0", "bus.delay=20 ms", "drive.kp=2", "drive.period=1 ms"], 0.5, 0.01),
        ("plant:joint", [], 0.5, 0.005),
    ],
)
def test_other_drives_in_mujoco(name, overrides, size, within) -> None:
    pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")
    machine = subject(name, overrides)
    drive = drive_of(machine)
    assert difference(machine, drive, mjcf(drive, "drive", "joint"), size) < within


def test_an_axis_that_slides_moves_in_mujoco_as_here() -> None:
    pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")
    machine = subject("linear_axis", ["loop.closed=false", "amplifier.delay=0", "gain=35", "body.k=500"])
    drive = drive_of(machine)
    assert difference(machine, drive, mjcf(drive, "axis", "joint"), 1.0) < 0.005
    assert difference(machine, drive, mjcf(replace(drive, stiffness=0.0), "axis", "joint"), 1.0) > 0.05


def test_mujoco_reads_the_numbers_it_was_given() -> None:
    mujoco = pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")
    machine = subject("model:servo", CLEAN)
    drive = drive_of(machine)
    model = mujoco.MjModel.from_xml_string(mjcf(drive, "servo", "elbow", (-1.0, 2.0)))
    assert model.joint("elbow").range == pytest.approx([-1.0, 2.0])
    assert model.dof_armature[0] == pytest.approx(machine.params.J)
    assert model.dof_frictionloss[0] == pytest.approx(machine.params.drag.c)
    K, p = machine.params.ratio * machine.params.motor.k, machine.params
    assert model.dof_damping[0] == pytest.approx(p.drag.b + K * K / p.motor.R, rel=1e-6)
    assert model.actuator("elbow_motor").gainprm[0] == pytest.approx(K * p.motor.v_max * p.kp / p.motor.R, rel=1e-6)
    assert model.actuator("elbow_motor").forcerange == pytest.approx([-drive.hi, drive.hi], rel=1e-6)


def test_the_delay_of_a_command_is_in_the_file() -> None:
    pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")
    drive = drive_of(subject("servo_bench", ["bus.delay=25 ms", "drive.kp=5"]))
    t, q = step_in_mujoco(mjcf(drive, "x", "joint"), 1.0, 0.1)
    assert t[np.argmax(np.abs(q) > 0.0)] == pytest.approx(0.026)


def test_what_has_no_words_there_is_told() -> None:
    left = " ".join(exported("model:servo", "mujoco", "play=0.01", "drag.skew_c=0.1").left_out)
    for word in ("inductance", "sags", "Stribeck", "load", "direction", "play"):
        assert word in left
    assert "back-EMF does not brake" in " ".join(drive_of(subject("model:servo", ["motor.i_max=0.5 A"])).left_out)


def test_the_speed_limit_is_the_speed_it_reaches() -> None:
    machine = subject("model:servo", [*CLEAN, "kp=100"])
    run = rollout(machine.world, machine.params, {"goal": 100.0}, steps=2000, dt=1e-3)
    drive = drive_of(machine)
    assert drive.velocity == pytest.approx(np.max(run["w"]), rel=1e-3)
    assert drive.effort == pytest.approx(np.max(run["torque"]), rel=0.05)  # back-EMF brakes from the first tick on


@pytest.mark.parametrize("span", [None, (-1.5, 1.5)])
def test_ros2_control_reads_back(tmp_path: Path, span) -> None:
    found = exported("model:servo", "ros2_control", joint="elbow", span=span, name="arm")
    drive = drive_of(subject("model:servo"))
    assert set(found.files) == {"arm.urdf", "arm_joint_limits.yaml"}
    file = tmp_path / "arm.urdf"
    file.write_text(found.files["arm.urdf"])
    with pytest.warns(UserWarning, match="ros2_control"):
        joint = load_robot(file).joint("elbow")
    assert joint.kind == ("continuous" if span is None else "revolute")
    assert joint.limits.effort == pytest.approx(drive.effort, rel=1e-6)
    assert joint.limits.velocity == pytest.approx(drive.velocity, rel=1e-6)
    assert joint.limits.lower == (None if span is None else -1.5)
    assert (joint.dynamics.damping, joint.dynamics.friction) == pytest.approx((drive.damping, drive.friction), rel=1e-6)
    control = ET.parse(file).getroot().find("ros2_control")
    assert control.find("joint/command_interface").get("name") == "position"
    assert [p.text for p in control.findall("joint/command_interface/param")] == ([] if span is None else ["-1.5", "1.5"])
    assert float(control.find("transmission/joint/mechanical_reduction").text) == 258.5
    limits = YAML(typ="safe").load(found.files["arm_joint_limits.yaml"])["joint_limits"]["elbow"]
    assert limits["has_position_limits"] is (span is not None)
    for what in ("velocity", "acceleration", "effort"):
        assert limits[f"has_{what}_limits"] is True
        assert type(limits[f"max_{what}"]) is float
    assert limits["max_acceleration"] == pytest.approx(drive.effort / drive.armature, rel=1e-6)


@pytest.mark.parametrize("name", ["DELAY_STEER_ACC_GEARED", "ACTUATION_CMD_MECHANICAL", "ACTUATION_CMD_STEER_MAP", "DELAY_STEER_VEL"])
def test_autoware_reads_back_with_the_right_types(tmp_path: Path, name) -> None:
    found = exported(name, "autoware", "steer_time_constant=0.123", "vel_lim=50", name="my_car")
    ros = YAML(typ="safe").load(found.files["my_car.param.yaml"])["/**"]["ros__parameters"]
    params = subject(name, ["steer_time_constant=0.123", "vel_lim=50"]).params
    assert ros["vehicle_model_type"] == name
    assert type(ros["timer_sampling_time_ms"]) is int
    assert ros["timer_sampling_time_ms"] == round(1000 * params.sampling_time)
    assert (ros["steer_time_constant"], ros["vel_lim"]) == (0.123, 50.0)
    for key, value in ros.items():
        if key.startswith(("convert_", "enable_")):
            assert type(value) is bool
        elif key.endswith("_path"):
            (tmp_path / value).write_text(found.files[value])
            read = map_file.read(tmp_path / value)
            assert (read.row, read.col, read.z) == tuple(getattr(params, key.removesuffix("_path")))[:3]
        elif key == "mechanical_params":
            assert all(type(v) is float and v == get(params.mechanical_params, k) for k, v in value.items())
        elif key not in ("vehicle_model_type", "timer_sampling_time_ms"):
            assert type(value) is float, key
            assert value == get(params, key)
    assert not {"reference", "wheelbase", "stop_deceleration"} & set(ros)
    assert "wheelbase" in " ".join(found.left_out)


def test_a_steering_by_itself_goes_under_the_names_of_autoware() -> None:
    found = exported("lag", "autoware", "lag.T_0=0.2", "bus.delay=0.1", "lag.rate=3", "lag.band=0.002", "lag.K_0=0.98", name="steer")
    ros = YAML(typ="safe").load(found.files["steer.param.yaml"])["/**"]["ros__parameters"]
    assert ros == {
        "vehicle_model_type": "DELAY_STEER_ACC_GEARED",
        "steer_time_delay": 0.1,
        "steer_time_constant": 0.2,
        "steer_rate_lim": 3.0,
        "steer_dead_band": 0.002,
        "debug_steer_scaling_factor": 0.98,
    }
    ros = YAML(typ="safe").load(exported("mechanical_steering", "autoware", "wheel.kp=400", name="m").files["m.param.yaml"])["/**"]["ros__parameters"]
    assert ros["mechanical_params"]["kp"] == 400.0
    assert len(ros["mechanical_params"]) == 21


def test_the_shipped_car_with_its_dead_times() -> None:
    found = exported("car", "autoware")
    ros = YAML(typ="safe").load(found.files["car.param.yaml"])["/**"]["ros__parameters"]
    assert ros["steer_time_delay"] == pytest.approx(0.05 + subject("car").params.vehicle.steer_time_delay)
    assert ros["mechanical_params"]["kp"] == 300.0
    assert "reference" in " ".join(found.left_out)


@pytest.mark.parametrize(
    ("name", "to", "says"),
    [
        ("boat", "mujoco", "no drive of one joint"),
        ("boat", "autoware", "does not have"),
        ("second_order_steering", "autoware", "does not have"),
        ("linear_axis", "ros2_control", "--range"),
        ("plant:joint", "ros2_control", "no limit"),
    ],
)
def test_what_cannot_be_told_there_is_refused(name, to, says) -> None:
    with pytest.raises(PushrodError, match=says):
        exported(name, to)


def test_every_drive_has_a_file_in_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")
    for name in DRIVES:
        assert mujoco.MjModel.from_xml_string(mjcf(drive_of(subject(name)), "x", "joint")).nu == 1


def test_a_check_in_the_shell_says_how_far_apart_they_are(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")
    asked = ["export", "model:servo", *(word for one in CLEAN for word in ("--set", one)), "--check", "20 deg"]
    got = CliRunner().invoke(app, [*asked, "--to", "mujoco", "--out", str(tmp_path), "--json"])
    assert got.exit_code == 0, got.output
    assert json.loads(got.stdout)["difference"] < 0.005
    wrong = CliRunner().invoke(app, [*asked, "--to", "ros2_control", "--out", str(tmp_path / "b")])
    assert wrong.exit_code == 2
    assert not (tmp_path / "b").exists()


def test_from_the_file_of_a_fit_in_the_shell(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fit.yaml").write_text("machine: servo_fit\nworld: model:servo\nparameters:\n  kp: 7.5  # 1/rad, 95 %: 7.4 to 7.6\n  drag: {c: 0.05}\n")
    got = CliRunner().invoke(app, ["export", "fit.yaml", "--to", "mujoco", "--joint", "elbow", "--range", "-90..90 deg", "--json"])
    assert got.exit_code == 0, got.output
    told = json.loads(got.stdout)
    assert told["written"] == ["servo_fit.xml"]
    assert "the play" not in " ".join(told["left_out"])
    root = ET.parse("servo_fit.xml").getroot()
    assert float(root.find("worldbody/body/joint").get("frictionloss")) == 0.05
    assert float(root.find("actuator/position").get("kp")) == pytest.approx(258.5 * 0.0066 * 12 * 7.5 / 8.4, rel=1e-6)
    again = CliRunner().invoke(app, ["export", "fit.yaml", "--to", "mujoco"])
    assert again.exit_code == 2
    assert "there already" in again.output
    Path("bad.yaml").write_text("machine: bad\nworld: model:servo\nparameters: {kp: -3, kq: 1}\n")
    bad = CliRunner().invoke(app, ["export", "bad.yaml", "--to", "mujoco", "--out", "b"])
    assert bad.exit_code == 2
    assert "bad.yaml" in bad.output
    assert "kq" in bad.output
    assert not Path("b").exists()
