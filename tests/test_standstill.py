"""What fails while the computer stands still is made again; what fails while it is well has failed."""

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
FILE = """
import os, signal, time
import pytest
from conftest import STANDSTILL

made, hosts = [], []
time.sleep(0.5)  # for the watcher to be there

def stand_still(config):
    watcher = config.stash[STANDSTILL].process.pid
    os.kill(watcher, signal.SIGSTOP)
    time.sleep(0.2)
    os.kill(watcher, signal.SIGCONT)
    time.sleep(0.1)

@pytest.fixture(scope="module")
def host():
    hosts.append(1)

@pytest.mark.on_time
def test_late_once(request, host):
    made.append("late once")
    assert len(hosts) == made.count("late once")  # it is another one, each time
    if made.count("late once") == 1:
        stand_still(request.config)
        assert False

@pytest.mark.on_time
def test_late_always(request):
    made.append("late always")
    stand_still(request.config)
    assert False

@pytest.mark.on_time
def test_wrong():
    made.append("wrong")
    assert False

def test_not_of_time(request):
    made.append("not of time")
    stand_still(request.config)
    assert False

def test_how_often():
    assert made == ["late once"] * 2 + ["late always"] * 4 + ["wrong"] + ["not of time"]
"""


def test_who_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = on_time\n")
    (tmp_path / "test_some.py").write_text(FILE)
    env = os.environ | {"PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-q", "-p", "no:cacheprovider", "."], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert "3 failed, 2 passed" in done.stdout, done.stdout
    assert "test_late_once passed" in done.stdout
    assert re.search(r"made again, as the computer stood still for \d+ ms \(.*: assert False\): ", done.stdout)
