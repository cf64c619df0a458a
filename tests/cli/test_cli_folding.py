"""Tables in narrow terminals and in pipes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "replay"))

from replay_rig import commanded, log_of, rewritten

from pushrod.cli.folding import folded
from pushrod.log import read
from pushrod.log.writer import Recorder
from pushrod.replay import replay
from pushrod.runtime.payload import Position
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


def test_what_has_no_room_is_named(pushrod, long_names):
    said = " ".join(pushrod("log", long_names, columns=60).stdout.split())
    assert "no room for values, rate, first, last: a terminal of" in said
    width = int(said.split("a terminal of ")[1].split()[0])
    assert "no room" in pushrod("log", long_names, columns=width - 1).stdout
    assert "no room" not in pushrod("log", long_names, columns=width).stdout


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """A live arm that somebody moved."""
    log = tmp_path_factory.mktemp("live")
    return commanded("arm", log, 2e-3, 0.2, lambda rt, k: rt["shoulder_motor"].direct.send(Position(0.5)), stepped=False)


@pytest.mark.parametrize("columns", [40, 50, 60, 130])
def test_how_far_the_model_is_can_be_read_in_any_room(pushrod, moved, columns):
    got = pushrod("replay", moved, "--no-log", columns=columns)
    found = replay(moved)
    assert all(len(line) <= columns for line in got.stdout.splitlines())
    assert "…" not in got.stdout
    words = got.stdout.split()
    assert "shoulder.q" in {d.signal for d in found.measured}
    for d in found.measured:
        assert f"{d.signal}[{d.unit}]" in "".join(words)  # a name may be folded at a joint
        assert {f"{d.rms:.3g}", f"{d.most:.3g}", f"{d.when:.4g}", f"{d.end:+.3g}"} <= set(words)


def test_a_difference_can_be_read_in_40_columns(pushrod, tmp_path):
    log = log_of("servo", None, tmp_path, "0.3 s")
    changed = rewritten(log, "/out", 290, lambda row: row.update(q=row["q"] + 1e-12))
    said = pushrod("replay", changed, "--no-log", columns=40).stdout
    then, now = (read(file)["q"].values[290] for file in (changed, log))
    assert {repr(float(then)), repr(float(now))} <= set(said.split())
    assert "replayed - recorded = -1e-12" in said


def test_a_pipe_gets_whole_lines(long_names):
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    command = [sys.executable, "-m", "pushrod", "log", str(long_names)]
    said = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert "pipeline/starboard_outboard_motor/allocated.torque_req" in said
