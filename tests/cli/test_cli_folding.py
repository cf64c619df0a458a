"""Tables in narrow terminals and in pipes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "replay"))

from replay_rig import log_of

from pushrod.cli.folding import folded
from pushrod.log.writer import Recorder
from pushrod.sim.worlds.servo import Out


@pytest.mark.parametrize(
    ("name", "room", "lines"),
    [
        ("pipe.cmd.a0", 20, ["pipe.cmd.a0"]),
        ("pipe.cmd.a0", 9, ["pipe.cmd.", "a0"]),
        ("actuator/base/shoulder.position", 16, ["actuator/base/", "shoulder.", "position"]),
        ("/joint_states", 5, ["/", "joint_states"]),
        ("longer_than_the_room", 4, ["longer_than_the_room"]),
    ],
)
def test_names_are_broken_after_their_joints_only(name, room, lines):
    assert folded(name, room).split("\n") == lines


def test_a_log_of_short_names_has_all_its_columns_in_80(pushrod, tmp_path):
    log = log_of("servo", None, tmp_path, "0.1 s")
    said = pushrod("log", log, columns=80).stdout
    head = next(line for line in said.splitlines() if line.startswith(" channel"))
    assert head.split() == ["channel", "unit", "values", "rate", "first", "last", "min", "max"]


@pytest.fixture
def long_names(tmp_path):
    file = tmp_path / "long.mcap"
    with Recorder(file) as log:
        topic = log.topic("/pipeline/starboard_outboard_motor/allocated", Out)
        topic.put(0.0, Out())
    return file


def test_long_names_stay_readable_in_80(pushrod, long_names):
    said = pushrod("log", long_names, columns=80).stdout
    assert all(len(line) <= 80 for line in said.splitlines())
    assert " allocated.torque_req " in said


@pytest.mark.parametrize(("columns", "heads"), [(60, ["channel", "unit", "min", "max"]), (40, ["channel", "unit"])])
def test_where_there_is_little_room_columns_go_and_names_stay(pushrod, long_names, columns, heads):
    said = pushrod("log", long_names, columns=columns).stdout.splitlines()
    assert all(len(line) <= columns for line in said)
    assert next(line for line in said if line.startswith(" channel")).split() == heads
    assert any("starboard_outboard_motor/" in line for line in said)


def test_a_pipe_gets_whole_lines(long_names):
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    command = [sys.executable, "-m", "pushrod", "log", str(long_names)]
    said = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert "pipeline/starboard_outboard_motor/allocated.torque_req" in said
