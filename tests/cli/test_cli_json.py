"""--json: one object on stdout and nothing else there, for what went well, what was refused and what was wrong."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from pushrod.cli.main import VERBS

ROOT = Path(__file__).resolve().parents[2]


def told(got):
    """The one object."""
    assert len(got.stdout.splitlines()) == 1, got.stdout
    found = json.loads(got.stdout)
    assert found["exit_code"] == got.exit_code
    return found


# what is wrong with it, of every verb: a command line that cannot be read, or a file or robot that is not there
WRONG = {
    "run": ("nope",),
    "list": ("nope",),
    "check": ("nope.yaml",),
    "schema": ("nope",),
    "new": ("model", "Nope"),
    "urdf": ("nope.yaml",),
    "verify": ("nope",),
    "serve": ("nope",),
    "top": ("nope",),
    "cmd": ("nope/motor", "hold"),
    "arm": ("nope",),
    "disarm": ("nope",),
    "estop": ("nope",),
    "reset": ("nope",),
    "acknowledge": ("nope",),
    "replay": ("nope.mcap",),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_wrong_is_told_as_json_by_every_verb(pushrod, verb, tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    got = pushrod(verb, *WRONG.get(verb, ("nope",)), "--json")
    found = told(got)
    assert found["verb"] == verb
    assert found["error"]["message"]
    assert found["error"]["type"].endswith("Error")
    assert got.exit_code in (2, 4)


def test_json_without_a_verb_is_told_as_json(pushrod):
    for words in (("--json",), ("--json", "list")):
        found = told(pushrod(*words))
        assert (found["verb"], found["exit_code"], found["error"]["type"]) == ("", 2, "UsageError")
        assert "--json" in found["error"]["message"]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ("disarm", "estop")])  # a stop is carried out whatever is written
def test_an_option_that_is_not_there_is_told_as_json(pushrod, verb):
    found = told(pushrod(verb, "a", "hold", "--no-such-option", "--json") if verb == "cmd" else pushrod(verb, "--no-such-option", "--json"))
    assert "no-such-option" in found["error"]["message"]
    assert found["exit_code"] == 2


def test_a_run_tells_its_verdict_and_where_its_log_is(pushrod, tiny):
    found = told(pushrod("run", tiny / "m.yaml", "--trust", "--out", tiny / "runs", "--json"))
    assert (found["machine"], found["scenario"], found["dt"], found["ticks"], found["held"]) == ("tiny", "open", 0.01, 100, True)
    (expectation,) = found["expectations"]
    assert expectation["was"] > expectation["low"] == 0.4
    assert (expectation["high"], expectation["unit"], expectation["held"]) == (None, "rad", True)
    (response,) = found["responses"]
    assert (response["request"], response["achieved"], response["unit"]) == ("angle_req", "angle_ach", "rad")
    assert Path(found["log"]).is_file()


def test_an_expectation_that_does_not_hold_is_told(pushrod, tiny):
    (tiny / "s.yaml").write_text((tiny / "s.yaml").read_text().replace("above: 0.4", "above: 0.6"))
    got = pushrod("run", tiny / "m.yaml", "--trust", "--no-log", "--json")
    found = told(got)
    assert got.exit_code == 1
    assert not found["held"]
    assert "log" not in found
    assert "error" not in found


def test_commands_and_their_answers_are_told(pushrod, tmp_path):
    found = told(pushrod("run", "arm", "--out", tmp_path, "--json"))
    assert {command["answer"]["type"] for command in found["commands"]} >= {"Accepted"}
    assert found["against_rollout"]["signal"] == ""


def test_all_there_is_by_kind(pushrod):
    found = told(pushrod("list", "--json"))
    assert {"machines", "scenarios", "robots", "worlds", "models", "plants", "vehicles", "signals"} <= found.keys()
    assert {"name", "about"} == found["models"][0].keys()
    assert told(pushrod("list", "signals", "--json")).keys() == {"verb", "exit_code", "signals"}


def test_each_file_that_was_checked_is_told_apart(pushrod, tiny):
    (tiny / "bad.yaml").write_text("machine: m\nworld: nope\n")
    got = pushrod("check", "--trust", tiny / "m.yaml", tiny / "bad.yaml", "--json")
    sound, bad = told(got)["files"]
    assert got.exit_code == 2
    assert (sound["valid"], sound["problems"]) == (True, [])
    assert not bad["valid"]
    assert "bad.yaml:2: world" in bad["problems"][0]


def test_schemas_files_and_references(pushrod, tmp_path):
    assert told(pushrod("schema", "robot", "--json"))["schema"]["title"] == "a Pushrod robot"
    made = told(pushrod("new", "model", "my_valve", "--dir", tmp_path, "--json"))
    assert all(Path(file).is_file() for file in made["written"])
    found = told(pushrod("verify", ROOT / "tests" / "golden" / "signals", "--json"))
    assert [(file["status"], file["passed"]) for file in found["files"]] == [("ok", True)]


def on_a_terminal(*args):
    """Its stdout, and what a terminal on stderr was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "pushrod", *map(str, args)], stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # it has ended
            break
        if not part:
            break
        shown += part
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    return out, shown.decode(errors="replace")


def test_a_terminal_sees_a_bar_with_a_rate_and_a_file_gets_none(tiny):
    out, shown = on_a_terminal("run", tiny / "m.yaml", "--trust", "--no-log", "--json")
    assert len(out.splitlines()) == 1
    assert json.loads(out)["held"]
    assert "simulating" in shown
    assert "ticks/s" in shown
    command = [sys.executable, "-m", "pushrod", "run", str(tiny / "m.yaml"), "--trust", "--no-log"]
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert piped.stderr == ""
