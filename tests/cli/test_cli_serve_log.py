"""`pushrod serve` writes a log of what it runs, says where it is and what became of it."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from served import PATIENT

from recorded_run import read

ROBOT = """robot: hoist
links: {base: {}, hook: {}}
joints:
  lift: {kind: prismatic, parent: base, child: hook, limits: {lower: 0 m, upper: 2 m, velocity: 1 m/s, effort: 100 N}}
actuators:
  motor: {joint: lift}
"""


def serve(tmp_path: Path, *options: str, end: int = signal.SIGTERM) -> tuple[str, str, int]:
    """Served until it says so, then ended: what it wrote, and its exit code."""
    (tmp_path / "hoist.yaml").write_text(ROBOT)
    command = [sys.executable, "-m", "pushrod", "serve", str(tmp_path / "hoist.yaml"), "--simulation", *PATIENT, *options]
    environment = os.environ | {"PUSHROD_STATE": str(tmp_path / "state"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path)
    assert process.stdout is not None
    said = ""
    while "to command it" not in said and '"served"' not in said and (line := process.stdout.readline()):
        said += line
    if process.poll() is None:
        process.send_signal(end)
    rest, errors = process.communicate(timeout=60)
    return said + rest, errors, process.returncode


def test_a_served_robot_is_logged_by_default(tmp_path):
    said, errors, code = serve(tmp_path, "--arm")
    assert code == 0, errors
    (file,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"hoist-\d{8}-\d{6}\.mcap", file.name)
    assert f"  log: runs/{file.name}\n" in said
    log = read(file)
    assert f"log: runs/{file.name}: {len(log.said)} messages, none dropped" in said
    assert (log.about["kind"], log.about["robot"]) == ("live", "hoist")
    assert log.files == {"hoist.yaml": ROBOT}
    assert [t["to"] for t in log.of("/safety")] == ["disarmed", "armed", "disarming", "disarmed"]
    assert log.of("/safety")[-2]["why"] == "pushrod serve ends: SIGTERM"


def test_without_a_log(tmp_path):
    said, _, code = serve(tmp_path, "--no-log")
    assert code == 0
    assert "  log: none\n" in said
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_written_is_told_of_and_it_is_served_all_the_same(tmp_path):
    (tmp_path / "file").write_text("mine")
    said, errors, code = serve(tmp_path, "--out", "file/runs", "--arm")
    assert code == 0
    assert "log: none (file/runs: cannot be made a folder for the log: Not a directory)" in said
    assert (said + errors).count("cannot be made a folder") == 1
    assert "log: none\n" in errors
    assert "armed" in said


def test_with_a_log_required_it_is_not_armed(tmp_path):
    (tmp_path / "file").write_text("mine")
    said, errors, code = serve(tmp_path, "--out", "file/runs", "--arm", "--log-required")
    assert code == 3
    assert "its log cannot be written" in errors
    assert "armed;" not in said.replace("disarmed;", "")


def test_json_tells_of_the_log(tmp_path):
    said, _, code = serve(tmp_path, "--json", "--arm")
    assert code == 0
    *events, last = [json.loads(line) for line in said.splitlines()]
    (served,) = [event for event in events if event["event"] == "served"]
    assert served["log"] == last["log"]
    assert last["messages"] == len(read(tmp_path / last["log"]).said)
    assert (last["dropped"], last["log_problem"]) == (0, "")


def test_a_machine_is_logged_with_its_world(tmp_path):
    environment = os.environ | {"PUSHROD_STATE": str(tmp_path / "state"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pushrod", "serve", "arm"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )
    assert process.stdout is not None
    while "to command it" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    (file,) = (tmp_path / "runs").iterdir()
    log = read(file)
    assert (log.about["machine"], log.about["world"], log.about["dt"]) == ("arm", "arm", "0.001")
    assert {"machine.yaml", "robot.yaml"} <= set(log.files)
    assert {"/in", "/out"} <= log.topics
