"""Standard streams that are closed, full or without a reader: no traceback from any verb, and an exit code that shows it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from served import PATIENT, ROBOT

PROGRAM = str(Path(sys.executable).parent / "pushrod")
VERBS = {
    "help": ("--help",),
    "version": ("--version",),
    "help of a verb": ("run", "--help"),
    "list": ("list",),
    "list as JSON": ("list", "--json"),
    "schema": ("schema", "machine"),
    "urdf": ("urdf", "arm"),
    "layout": ("layout", "foxglove"),
    "check": ("check", "m.yaml"),
    "check as JSON": ("check", "m.yaml", "--json"),
    "new": ("new", "machine", "mine"),
}
FAILING = {"wrong input": ("run", "nope"), "wrong usage": ("run", "--nope"), "wrong usage as JSON": ("run", "--nope", "--json")}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_text("machine: m\nworld: servo\n")
    return tmp_path


def shell(words, redirections):
    """Run a verb with its streams as the shell makes them; return exit code and what reached the standard error of the shell."""
    command = " ".join([PROGRAM, *words, redirections])
    done = subprocess.run(["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_lost_output_gives_an_exit_code_and_no_traceback(verb, folder):
    words = VERBS[verb]
    names = ["> /dev/full", ">&-", "| true"]
    if words[0] == "new":
        names = names[:1]  # the files are there after the first
    for how in names:
        code, err = shell(words, how)
        if how == "| true":
            assert code in (0, 141), err  # all may be written before the reader ends
            assert err == ""
        else:
            assert (code, err.count("\n")) == (5, 1), err
            assert err.startswith("error: standard output cannot be written: ")


@pytest.mark.parametrize("how", ["2>&-", "2> /dev/full", "2>&- >&-", "> /dev/full 2>&1", "<&- 2>&- >&-"])
def test_lost_messages_do_not_change_the_exit_code(how):
    for words in FAILING.values():
        code, err = shell(words, how)
        assert code == 2
        assert "Traceback" not in err


def test_a_broken_pipe_is_silent():
    code, err = shell(("schema", "machine"), "| head -1 > /dev/null")
    assert (code, err) in ((141, ""), (0, ""))  # a short text fits into the buffer of the pipe
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([PROGRAM, "list"], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_run_without_a_reader_still_writes_its_log(folder):
    code, err = shell(("run", "servo", "--duration", "'50 ms'"), "> /dev/full")
    assert code in (1, 5), err
    assert "Traceback" not in err
    assert list((folder / "runs").glob("*.mcap"))


def test_a_closed_descriptor_is_no_other_file(folder):
    """With descriptor 1 closed, the log would get its number, and all that is printed would go into the log."""
    code, err = shell(("run", "servo", "--duration", "'50 ms'"), ">&- 2>&- <&-")
    assert code in (1, 5), err
    (log,) = (folder / "runs").glob("*.mcap")
    done = subprocess.run([PROGRAM, "replay", str(log), "--no-log"], capture_output=True, text=True, timeout=60, check=False)
    assert "equal to the last bit" in done.stdout, done.stderr


def test_what_is_written_is_unchanged():
    plain = subprocess.run([PROGRAM, "list", "machines"], capture_output=True, timeout=60, check=True).stdout
    assert "servo" in plain.decode("utf-8")
    ascii_only = subprocess.run(
        [PROGRAM, "list", "machines"], capture_output=True, timeout=60, check=True, env=os.environ | {"PYTHONIOENCODING": "ascii:replace"}
    ).stdout
    assert ascii_only.decode("ascii")


def test_a_robot_keeps_running_when_the_reader_of_its_output_is_gone(tmp_path):
    (tmp_path / "r.yaml").write_text(ROBOT)
    environment = os.environ | {"PUSHROD_STATE": str(tmp_path / "state"), "PYTHONUNBUFFERED": "1"}
    words = [PROGRAM, "serve", "r.yaml", "--simulation", "--no-log", *PATIENT]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as served:
        assert served.stdout is not None
        assert "lifter" in served.stdout.readline()
        served.stdout.close()
        for verb in ("arm", "disarm"):  # each change of state prints a line
            done = subprocess.run([PROGRAM, verb, "lifter"], env=environment, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
        time.sleep(0.3)
        assert served.poll() is None
        served.send_signal(signal.SIGTERM)
        _, err = served.communicate(timeout=30)
    assert served.returncode == 141
    assert "Traceback" not in err
