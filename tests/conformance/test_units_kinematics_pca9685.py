"""The last lines of the list: units, kinematics, and a driver for hobby servos as somebody would write one."""

import math
from pathlib import Path

import pytest
from fixture_r import DISARMED, Probe, drive, near, robot

from pushrod.core.errors import ConfigError
from pushrod.robot import Joint, Limits, Origin, Robot, Transmission, forward, load
from pushrod.runtime import Clamped, DriverError, Position, Stop, Stopped

ROBOT = """
robot: arm
links: [base, upper, fore, tip]
joints:
  joint1: {kind: revolute, parent: base, child: upper, axis: [0, 1, 0], limits: {lower: -180 deg, upper: 180 deg, velocity: 60 deg/s, effort: 10 N.m}}
  joint2:
    kind: revolute
    parent: upper
    child: fore
    axis: [0, 1, 0]
    origin: {xyz: [100 cm, 0, 0]}
    limits: {lower: -180 deg, upper: 180 deg, velocity: 60 deg/s, effort: 10 N.m}
  end: {kind: fixed, parent: fore, child: tip, origin: {xyz: [1, 0, 0]}}
"""


def test_units_in_files(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ROBOT)
    arm = load(tmp_path / "arm.yaml")
    assert (arm.joint("joint1").limits.upper, arm.joint("joint1").limits.velocity) == (math.pi, near(math.pi / 3))
    assert arm.joint("joint2").origin.xyz == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("text", ["180 m", "180 furlong", "nan rad", "1e400 rad"])
def test_units_that_do_not_fit(tmp_path: Path, text: str) -> None:
    (tmp_path / "arm.yaml").write_text(ROBOT.replace("upper: 180 deg", f"upper: {text}", 1))
    with pytest.raises(ConfigError, match=r"arm\.yaml:5: joints\.joint1\.limits\.upper"):
        load(tmp_path / "arm.yaml")


def test_kinematics_of_two_links(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ROBOT)
    arm = load(tmp_path / "arm.yaml")
    assert forward(arm)["tip"].position == near((2, 0, 0))
    assert forward(arm, {"joint1": math.pi / 2})["tip"].position == near((0, 0, -2))
    assert forward(arm, {"joint2": math.pi / 2})["tip"].position == near((1, 0, -1))


def test_kinematics_of_a_slider() -> None:
    slider = Robot(
        "slider",
        ["base", "carriage"],
        [Joint("rail", "prismatic", "base", "carriage", Origin((0, 0, 1), (0, 0, math.pi / 2)), (2, 0, 0), Limits(0, 2, 1, None, 1))],
    )
    assert forward(slider, {"rail": 0.5})["carriage"].position == near((0, 0.5, 1))


PULSE = {"width": 0}  # the chip's register [us]


def no_pulse(options) -> None:
    PULSE["width"] = 0
    DISARMED.append(options)


class HobbyServo(Probe):
    """500 to 2500 us over the travel of the motor; nothing is written before the first command."""

    disarm = f"{__name__}:no_pulse"
    command_payloads = (Position, Stop)

    def init(self, context, options):
        super().init(context, options)
        for field in ("lower", "upper", "velocity"):
            if getattr(context.motor, field) is None:
                raise Stopped(f"the joint has no limit {field}")

    def handle_command(self, payload, command):
        motor = self.context.motor
        if isinstance(payload, Stop):
            PULSE["width"] = 0
        else:
            PULSE["width"] = round(500 + 2000 * (payload.position - motor.lower) / (motor.upper - motor.lower))
        return PULSE["width"]


HALF = Limits(-0.5, 0.5, velocity=1, effort=1)


@pytest.mark.parametrize(("x", "width"), [(-0.5, 500), (0, 1500), (0.5, 2500), (0.7, 2500), (-9, 500)])
@pytest.mark.parametrize("gear", [Transmission(), Transmission(5, 0.2, False)], ids=repr)
def test_pca9685_pulses(x: float, width: int, gear: Transmission) -> None:
    # adapted: what lies beyond is clamped by the gate and said to be; the reference's driver clamps it silently
    async def body(rt):
        rt.arm()
        return rt["motor"].direct.set_position(x)

    result = drive(robot(gear, HALF), {"motor": HobbyServo}, body)
    assert (result.info, isinstance(result, Clamped)) == (width, abs(x) > 0.5)


def test_pca9685_reversed_and_stopped() -> None:
    async def body(rt):
        before = PULSE["width"]
        rt.arm()
        moved = rt["motor"].direct.set_position(0.5).info
        return before, moved, rt["motor"].direct.stop().info

    PULSE["width"] = 0
    assert drive(robot(Transmission(1, 0, True), HALF), {"motor": HobbyServo}, body) == (0, 500, 0)


@pytest.mark.parametrize("limits", [Limits(None, 0.5, 1, None, 1), Limits(-0.5, None, 1, None, 1)], ids=repr)
def test_pca9685_a_missing_limit_ends_the_start(limits: Limits) -> None:
    async def body(rt):
        raise AssertionError("must not start")

    field = "lower" if limits.lower is None else "upper"
    with pytest.raises(DriverError, match=f"the joint has no limit {field}"):
        drive(robot(None, limits), {"motor": HobbyServo}, body)


def test_pca9685_a_missing_velocity_is_no_robot() -> None:
    # adapted: a revolute joint needs a limit of velocity, so the description says it before any driver can
    with pytest.raises(ConfigError, match=r"joints\.shoulder\.limits\.velocity: .*missing"):
        robot(None, Limits(-0.5, 0.5, None, None, 1))
