"""A verb whose optional dependencies are missing names all of them in one message."""

import importlib.util

import pytest
from typer.testing import CliRunner

from pushrod.cli.main import app

DYNAMIXEL = """robot: wrist
links: [base, hand]
joints:
  roll: {kind: revolute, parent: base, child: hand, limits: {lower: -1 rad, upper: 1 rad, velocity: 1 rad/s, effort: 1 N.m}}
actuators:
  servo: {joint: roll, driver: "pushrod.drivers.dynamixel:Dynamixel", options: {port: /dev/null, id: 1}}
"""


@pytest.mark.parametrize(
    ("words", "absent", "extras"),
    [
        (("serve", "arm", "--dash"), ("zenoh", "nicegui"), "net,dash"),
        (("serve", "arm", "--dash-port", "0"), ("zenoh", "nicegui"), "net,dash"),
        (("serve", "arm"), ("zenoh", "nicegui"), "net"),
        (("dash",), ("zenoh", "nicegui"), "net,dash"),
        (("dash",), ("nicegui",), "dash"),
        (("serve", "wrist.yaml", "--dash"), ("zenoh", "nicegui", "dynamixel_sdk"), "net,dash,dynamixel"),
        (("serve", "wrist.yaml", "--simulation"), ("zenoh", "dynamixel_sdk"), "net"),
        (("sweep", "servo_tolerance", "--cluster", "local", "--device", "cuda"), ("ray", "numba_cuda"), "cluster,cuda"),
    ],
)
def test_all_missing_extras_are_named_at_once(words, absent, extras, tmp_path, monkeypatch):
    (tmp_path / "wrist.yaml").write_text(DYNAMIXEL)
    monkeypatch.chdir(tmp_path)
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None if name in absent else there(name, package))
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert f"pip install 'pushrod[{extras}]'" in " ".join(done.output.split())
    assert done.output.count("not installed") == 1
