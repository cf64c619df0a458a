"""What a guard left behind: read, refused for, acknowledged; also where it is torn, unfinished or no record at all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pushrod.core.errors import InputError
from pushrod.guard.record import KEPT, Record, acknowledge, all_waiting, not_proven_safe, note_safe, waiting
from pushrod.guard.record_file import probe, write
from pushrod.guard.settings import Guard, checked, record_folder, state_folder

DONE: dict[str, Any] = {"robot": "r", "guard": 1, "process": 2, "why": "it hung", "time": 1e9, "seconds": 0.25, "state": "done", "actuators": {}}


def recorded(root: Path, robot: str = "r", name: str = "20260101T000000.000Z-1.json", **more: Any) -> Path:
    folder = record_folder(robot, root)
    assert probe(str(folder)) == ""
    write(str(folder / name), {**DONE, "robot": robot, **more})
    return folder / name


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    one = {"disarm": "a:b", "result": "failed", "detail": "OSError: gone", "seconds": 0.1}
    file = recorded(tmp_path, actuators={"base/j/m": one, "base/k/n": {**one, "result": "ok"}})
    assert waiting("r", tmp_path) == [Record("r", file, 1e9, "it hung", 0.25, {"base/j/m": one, "base/k/n": {**one, "result": "ok"}}, 1, process=2)]
    assert waiting("r", tmp_path)[0].unsafe == {"base/j/m": "failed: OSError: gone"}
    assert "1 of 2 disarm functions succeeded; not base/j/m: failed: OSError: gone" in str(waiting("r", tmp_path)[0])


def test_of_a_simulated_robot_nothing_is_said_of_whether_its_process_ended(tmp_path: Path) -> None:
    recorded(tmp_path, actuators={"base/j/m": {"disarm": "", "result": "in the process", "detail": "", "seconds": 0.0}})
    (record,) = waiting("r", tmp_path)
    assert record.harmless
    assert "everything it drives was simulated in its own process" in str(record)
    assert "ended" not in str(record)


def test_acknowledged_it_waits_no_more_and_is_kept(tmp_path: Path) -> None:
    file = recorded(tmp_path)
    assert [record.file for record in acknowledge("r", tmp_path)] == [file]
    assert waiting("r", tmp_path) == acknowledge("r", tmp_path) == []
    assert json.loads(Path(f"{file}.seen").read_text())["why"] == "it hung"


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    for n in range(KEPT + 5):
        recorded(tmp_path, name=f"2026010{n // 100}T{n:06}.000Z-1.json")
    assert len(acknowledge("r", tmp_path)) == KEPT + 5
    assert len(list(record_folder("r", tmp_path).iterdir())) == KEPT


@pytest.mark.parametrize("text", ["", "{", '{"version": 1}', "[]", '{"actuators": 3, "time": 0}', "\x00\xff"])
def test_a_torn_record_waits_like_any_other(text: str, tmp_path: Path) -> None:
    file = recorded(tmp_path)
    file.write_text(text)
    [record] = waiting("r", tmp_path)
    assert record.flaw
    assert f"cannot be read ({record.flaw}): {file}" in str(record)
    assert acknowledge("r", tmp_path) == [record]
    assert not waiting("r", tmp_path)


def test_what_is_no_regular_file_waits_like_a_torn_record_and_blocks_nothing(tmp_path: Path) -> None:
    folder = recorded(tmp_path).parent
    os.mkfifo(folder / "fifo.json")
    (folder / "folder.json").mkdir()
    (folder / "device.json").symlink_to("/dev/zero")
    (folder / "large.json").touch()
    os.truncate(folder / "large.json", 2**40)
    flaws = {record.file.stem: record.flaw for record in waiting("r", tmp_path) if record.flaw}
    assert flaws.keys() == {"fifo", "folder", "device", "large"}
    assert "is a FIFO" in flaws["fifo"]
    assert "too large" in flaws["large"]
    assert len(acknowledge("r", tmp_path)) == 5
    assert waiting("r", tmp_path) == []


def test_a_fifo_in_the_place_of_a_record_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.json.new")
    with pytest.raises(OSError, match="r.json.new"):
        write(str(tmp_path / "r.json"), DONE)
    os.mkfifo(tmp_path / f".probe-{os.getpid()}")
    assert "could not record" in probe(str(tmp_path))


@pytest.mark.parametrize(
    "more",
    [
        {"time": 1e300},
        {"time": -1e300},
        {"time": float("inf")},
        {"process": float("inf")},
        {"process": 10**30},
        {"guard": 10**400},
        {"why": ["odd"]},
        {"why": {"a": 1}},
        {"actuators": {"m": {"result": 5, "detail": [1], "disarm": {}}}},
        {"state": "armed", "process": 10**30, "started": 5},
    ],
    ids=str,
)
def test_a_record_with_odd_values_can_be_shown_and_acknowledged(more: dict[str, Any], tmp_path: Path) -> None:
    recorded(tmp_path, **more)
    (record,) = waiting("r", tmp_path)
    assert str(record)
    assert isinstance(record.harmless, bool)
    assert acknowledge("r", tmp_path) == [record]


def test_one_whose_writing_was_cut_short_counts_unless_a_whole_one_is_beside_it(tmp_path: Path) -> None:
    file = recorded(tmp_path)
    half = file.rename(f"{file}.new")
    assert waiting("r", tmp_path) == [Record("r", half, guard=1, acting=True, flaw="its end is missing")]
    recorded(tmp_path)
    assert [record.file for record in waiting("r", tmp_path)] == [file]


def test_a_guard_that_is_still_at_it_cannot_be_acknowledged(tmp_path: Path) -> None:
    recorded(tmp_path, state="acting", guard=os.getpid())
    with pytest.raises(InputError, match="is still calling disarm functions"):
        acknowledge("r", tmp_path)
    assert waiting("r", tmp_path)


@pytest.mark.parametrize("name", ["..", ".", "a/b", "ä ö", "%2E", "x" * 60, "con:1"])
def test_whatever_a_robot_is_called_its_records_are_its_own(name: str, tmp_path: Path) -> None:
    recorded(tmp_path, name)
    recorded(tmp_path, "other")
    assert record_folder(name, tmp_path).parent == tmp_path / "guard"
    assert [record.robot for record in waiting(name, tmp_path)] == [name]
    assert {record.robot for record in all_waiting(tmp_path)} == {name, "other"}


def test_where_records_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert state_folder(tmp_path / "mine") == tmp_path / "mine"
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path / "said"))
    assert state_folder() == tmp_path / "said"
    monkeypatch.delenv("PUSHROD_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert state_folder() == tmp_path / "xdg" / "pushrod"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local" / "state" / "pushrod"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (3, "guard must be Guard"),
        (None, "guard must be Guard"),
        (Guard(0.0), "limit must be 0.02 to 60 s, got 0.0"),
        (Guard(float("nan")), "limit must be 0.02 to 60 s, got nan"),
        (Guard(True), "limit must be"),
        (Guard("1 s"), "limit must be"),  # type: ignore[arg-type]
        (Guard(within=-1.0), "within must be 0 to 60 s, got -1.0"),
        (Guard(call=0.0), "call must be 0.02 to 3600 s, got 0.0"),
        (Guard(state=5), "state must be a folder, got 5"),  # type: ignore[arg-type]
    ],
)
def test_settings_that_are_none_are_refused(wrong: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        checked(wrong)


def pushrod(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "pushrod", *words], capture_output=True, text=True, check=False)


def test_the_command_shows_and_acknowledges(tmp_path: Path) -> None:
    state = ("--state", str(tmp_path))
    assert f"no unacknowledged records in {tmp_path}" in pushrod("acknowledge", *state).stdout
    recorded(tmp_path)
    assert pushrod("acknowledge", *state).stdout.splitlines()[-1] == "to acknowledge: pushrod acknowledge r"
    wrong = pushrod("acknowledge", "other", *state)
    assert (wrong.returncode, wrong.stderr) == (2, f"error: no unacknowledged records of other in {tmp_path}; robots with records: r\n")
    done = pushrod("acknowledge", "r", *state)
    assert done.returncode == 0
    assert "the guard disarmed r: it hung" in done.stdout
    assert "acknowledged: r; these records no longer block arming" in done.stdout
    assert not waiting("r", tmp_path)


FAILED = {"base/j0/m0": {"disarm": "a:b", "result": "failed", "detail": "OSError: gone", "seconds": 0.1}}


@pytest.mark.parametrize("left", ["failed", "marker", "unreadable"])
def test_an_acknowledged_record_that_proves_nothing_has_the_disarm_functions_run_at_the_next_start(tmp_path: Path, left: str) -> None:
    if left == "failed":
        recorded(tmp_path, actuators=FAILED)
    elif left == "marker":
        recorded(tmp_path, name="armed-2.json", state="armed", why="", process=2**22 + 1, started=0.0, actuators=FAILED)
    else:
        recorded(tmp_path).write_text("{")
    assert not_proven_safe("r", tmp_path)
    shown = pushrod("acknowledge", "r", "--state", str(tmp_path)).stdout
    assert "its disarm functions are called at the next start" in shown
    assert ("switch its power off before you inspect it" in shown) is (left != "unreadable")
    assert not waiting("r", tmp_path)
    assert not_proven_safe("r", tmp_path)  # an acknowledgement makes no motor safe
    note_safe("r", tmp_path)
    assert not not_proven_safe("r", tmp_path)
    assert len(list(record_folder("r", tmp_path).glob("*.seen"))) == 1


def test_a_record_that_proves_the_robot_safe_asks_for_nothing_more(tmp_path: Path) -> None:
    recorded(tmp_path, actuators={"base/j0/m0": {**FAILED["base/j0/m0"], "result": "ok"}})
    assert not not_proven_safe("r", tmp_path)
    acknowledge("r", tmp_path)
    assert not not_proven_safe("r", tmp_path)


def test_a_record_that_is_removed_while_it_is_read_does_not_block_arming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A marker is removed by the report thread, soon after the robot is disarmed."""
    file = recorded(tmp_path)
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([file, file.with_name("armed-2.json")]))
    assert [record.file for record in waiting("r", tmp_path)] == [file]


def test_a_link_that_leads_nowhere_blocks_arming(tmp_path: Path) -> None:
    link = recorded(tmp_path).with_name("armed-2.json")
    link.symlink_to(tmp_path / "gone")
    assert [bool(record.flaw) for record in waiting("r", tmp_path)] == [False, True]
