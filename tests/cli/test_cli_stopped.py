"""Ctrl-C at every stage of long work: what was done by then is told and kept."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "replay"))

from replay_rig import log_of

from pushrod.cli.progress import Pace
from pushrod.log import read
from pushrod.log import writer as log_writer
from pushrod.replay import world as replayed_world
from pushrod.sim import run as running


@pytest.fixture(autouse=True)
def keeps_its_handler():
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def pressing(function, *calls):
    """The function, with Ctrl-C pressed in these calls of it."""
    count = 0

    def pressed(*args, **options):
        nonlocal count
        count += 1
        if count in calls:
            os.kill(os.getpid(), signal.SIGINT)
        return function(*args, **options)

    return pressed


def test_in_the_figures_the_run_and_the_figures_until_then_stay(pushrod, monkeypatch, tmp_path):
    monkeypatch.setattr(running, "respond", pressing(running.respond, 3))
    got = pushrod("run", "car", "--duration", "2 s", "--out", tmp_path)
    assert got.exit_code == 130, got.output
    assert "stopped by Ctrl-C when all 2 s had run; nothing was judged" in got.stderr
    assert "steer_req" in got.stdout
    (file,) = tmp_path.glob("*.mcap")
    assert len(read(file)["steer_ach"]) == 200


def test_the_object_has_the_figures_until_then(pushrod, monkeypatch, tmp_path):
    monkeypatch.setattr(running, "respond", pressing(running.respond, 3))
    got = pushrod("run", "car", "--duration", "2 s", "--json", "--out", tmp_path)
    found = json.loads(got.stdout)
    assert (found["exit_code"], found["held"], found["ticks"], len(found["responses"])) == (130, None, 200, 2)
    assert found["error"]["type"] == "Interrupted"
    assert Path(found["log"]).exists()


def test_in_the_run_it_is_the_part_until_then(pushrod, monkeypatch, tmp_path):
    monkeypatch.setattr(running, "chunk_ends", lambda steps: [1, *range(20, steps + 1, 20)])
    from pushrod.compiled import rollout

    monkeypatch.setattr(rollout, "rollout", pressing(rollout.rollout, 4))
    found = json.loads(pushrod("run", "car", "--duration", "2 s", "--json", "--out", tmp_path).stdout)
    assert (found["exit_code"], found["ticks"]) == (130, 40)
    assert "after 0.4 s of 2 s" in found["error"]["message"]
    assert len(read(found["log"])["steer_ach"]) == 40


def test_while_the_log_is_written_once_waits_for_its_end(pushrod, monkeypatch, tmp_path):
    monkeypatch.setattr(log_writer, "BLOCK", 100)
    monkeypatch.setattr(log_writer.TopicWriter, "put_row", pressing(log_writer.TopicWriter.put_row, 50))
    got = pushrod("run", "car", "--duration", "2 s", "--out", tmp_path)
    assert got.exit_code == 130
    assert "the log is written to its end; once more to cut it here" in got.stderr
    (file,) = tmp_path.glob("*.mcap")
    assert len(read(file)["steer_ach"]) == 200


def test_while_the_log_is_written_twice_cuts_it_and_it_can_be_replayed(pushrod, monkeypatch, tmp_path):
    monkeypatch.setattr(log_writer, "BLOCK", 100)
    with monkeypatch.context() as then:
        then.setattr(log_writer.TopicWriter, "put_row", pressing(log_writer.TopicWriter.put_row, 50, 51))
        got = pushrod("run", "car", "--duration", "2 s", "--json", "--out", tmp_path)
    found = json.loads(got.stdout)
    assert (found["exit_code"], found["logged_ticks"], found["ticks"]) == (130, 50, 200)
    table = read(found["log"])
    assert (len(table["steer_ach"]), table.about["ticks"], table.torn) == (50, "50", "")
    assert [file for file in tmp_path.iterdir() if file.suffix != ".mcap"] == []
    again = pushrod("replay", found["log"], "--no-log")
    assert again.exit_code == 0, again.output
    assert "50 ticks: equal to the last bit" in again.stdout


def test_a_replay_says_what_it_had_found(pushrod, monkeypatch, tmp_path):
    log = log_of("servo", None, tmp_path, "0.3 s")
    monkeypatch.setattr(replayed_world, "PACE", 0.0005)
    monkeypatch.setattr(replayed_world, "_wait", pressing(lambda due, seconds: 0.0, 2))
    got = pushrod("replay", log, "--speed", "100", "--out", tmp_path / "again")
    assert got.exit_code == 130, got.output
    assert "stopped by Ctrl-C after 50 ticks of 300; what follows holds until then" in got.stderr
    assert "50 ticks: equal to the last bit" in got.stdout
    (file,) = (tmp_path / "again").glob("*.mcap")
    assert len(read(file)["q"]) == 50


def test_a_replay_through_the_runtime_says_so_too(pushrod, monkeypatch, tmp_path):
    log = log_of("arm", None, tmp_path, "0.4 s")
    monkeypatch.setattr("pushrod.cli.replay.read_all", read)  # not behind a bar, which would count
    monkeypatch.setattr(Pace, "of", pressing(Pace.of, 5))
    found = json.loads(pushrod("replay", log, "--no-log", "--json").stdout)
    assert (found["exit_code"], found["identical"], found["difference"]) == (130, None, None)
    assert 0 < found["ticks"] < 400
