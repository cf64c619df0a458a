"""Whether a process still runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pushrod.core.running import is_running


def test_this_one_and_one_that_nobody_may_signal() -> None:
    assert is_running(os.getpid())
    assert is_running(1), "the first process of a computer always runs, whoever asks"


def test_one_that_ended_before_and_after_somebody_has_looked_at_it() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    assert is_running(child.pid)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is not buried yet
    if Path(f"/proc/{child.pid}/stat").exists():
        assert not is_running(child.pid)
    child.wait()
    assert not is_running(child.pid)


def test_one_that_another_user_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert is_running(os.getpid())


@pytest.mark.parametrize("pid", [0, -1, 2**40, 2**80])
def test_what_is_no_process(pid: int) -> None:
    assert not is_running(pid)
