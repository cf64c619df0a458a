"""The page about robots tells what is so: its YAML, its URDF and its program."""

import re
from pathlib import Path

from pushrod.robot import ParameterRef, Robot, Transmission, load
from pushrod.robot.attachment_flaws import RESERVED

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "robot.md").read_text()


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_files_and_the_program_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("arm.yaml").write_text(block("yaml"))
    exec(compile(block("python"), "robot.md", "exec"), {})
    assert capsys.readouterr().out.startswith("('base', 'shoulder', 'motor')\n(0.0, 0.0, 0.1)")
    assert load("arm.urdf") == load("arm.yaml")
    Path("other.urdf").write_text(block("xml"))
    robot = load("other.urdf")
    assert isinstance(robot, Robot)
    assert robot.actuator("motor").transmission == Transmission(50, 0.1, True)
    assert robot.joint("shoulder").limits.effort == ParameterRef("shoulder.torque")
    assert robot.joint("shoulder").limits.acceleration == 3.0


def test_the_reserved_names_are_told():
    assert all(f"`{name}`" in PAGE for name in RESERVED)
