"""--json of the verbs that speak to a robot: the same answers as in words, as one object each; serve tells events, one a line."""

import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

pytestmark = pytest.mark.on_time

ROBOT = """robot: lid
links: [box, lid]
joints: {hinge: {kind: revolute, parent: box, child: lid, limits: {lower: -1 rad, upper: 1 rad, velocity: 20 rad/s, acceleration: 900, effort: 1}}}
actuators: {motor: {joint: hinge}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("j")


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.setenv("PUSHROD_STATE", str(folder))
    monkeypatch.delenv("PUSHROD_NET", raising=False)


@pytest.fixture(scope="module")
def server(folder):
    """A served robot, and the first object it told."""
    (folder / "lid.yaml").write_text(ROBOT)
    process = subprocess.Popen(
        [sys.executable, "-m", "pushrod", "serve", "lid.yaml", "--simulation", "--json", "--guard-limit", "20 s"],
        cwd=folder,
        env=os.environ | {"PUSHROD_STATE": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process, json.loads(process.stdout.readline())
    process.kill()
    process.wait()


def told(got):
    (line,) = got.stdout.splitlines()
    found = json.loads(line)
    assert found["exit_code"] == got.exit_code
    return found


def test_a_robot_from_the_first_command_to_the_end(server, pushrod):
    process, first = server
    assert (first["event"], first["robot"], first["state"]) == ("served", "lid", "disarmed")

    refused = told(pushrod("cmd", "lid/motor", "set_position", "0.5", "--json"))
    assert (refused["exit_code"], refused["result"], refused["reason"]) == (3, "refused", "not_armed")

    assert told(pushrod("arm", "--json"))["ok"] is True
    clamped = told(pushrod("cmd", "lid/motor", "set_position", "90 deg", "--wait", "--json"))
    assert (clamped["result"], clamped["done"]["position"], clamped["units"]["position"]) == ("clamped", 1.0, "rad")
    assert clamped["end"]["reason"] == "completed"
    assert clamped["end"]["position"] == pytest.approx(1.0)

    seen = told(pushrod("top", "--json"))["robots"]
    assert [(one["robot"], one["overview"]["state"]) for one in seen] == [("lid", "armed")]

    stopped = told(pushrod("estop", "a hand", "--json"))
    assert stopped["cause"] == "a hand"
    assert [(one["robot"], one["ok"], one["state"]) for one in stopped["robots"]] == [("lid", True, "estopped")]
    latched = told(pushrod("arm", "--json"))
    assert (latched["ok"], latched["refusal"], latched["exit_code"]) == (False, "estopped", 3)
    assert told(pushrod("reset", "--json"))["state"] == "disarmed"
    assert told(pushrod("disarm", "--json"))["failures"] == {}

    process.send_signal(signal.SIGTERM)
    lines = [json.loads(line) for line in process.stdout]
    assert {line["to"] for line in lines if line.get("event") == "transition"} >= {"armed", "estopped", "disarmed"}
    last = lines[-1]
    assert (last["verb"], last["exit_code"], last["robot"], last["ok"]) == ("serve", 0, "lid", True)
