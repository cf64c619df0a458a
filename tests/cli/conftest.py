"""The command in this process (`pushrod(...)`) and as a program (`program(...)`), a small machine of one's own, and a robot that is served."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from served import PATIENT, ROBOT, Server
from typer.testing import CliRunner

from pushrod.cli.main import app

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def pushrod(monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")

    def call(*args, columns=130):
        monkeypatch.setenv("COLUMNS", str(columns))
        return CliRunner().invoke(app, [str(a) for a in args])

    # An interrupted verb ignores further Ctrl-C, and programs started later inherit that. Teardown runs on the main thread; verbs may run on others.
    before = signal.getsignal(signal.SIGINT)
    yield call
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def program():
    def call(*args, columns=80):
        environment = os.environ | {"COLUMNS": str(columns)}
        return subprocess.run(
            [sys.executable, "-m", "pushrod", *map(str, args)], capture_output=True, text=True, timeout=120, env=environment, check=False
        )

    return call


@pytest.fixture
def tiny(tmp_path):
    """A folder with m.yaml and s.yaml on the world of tests/sim/tiny_world.py."""
    shutil.copy(ROOT / "sim" / "tiny_world.py", tmp_path)
    (tmp_path / "m.yaml").write_text(
        "machine: tiny\nworld: tiny_world.py:TINY\nscenario: s.yaml\ntrack: [{request: angle_req, achieved: angle_ach, limit: lag.angle_max}]\n"
    )
    (tmp_path / "s.yaml").write_text(
        "scenario: open\nmachine: m.yaml\nduration: 1 s\ndt: 10 ms\nsignals: {angle: [{at: 0.2, constant: 0.5}]}\n"
        "expectations: [{signal: angle_ach, metric: final, above: 0.4}]\n"
    )
    return tmp_path


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("s")


@pytest.fixture(scope="module")
def robot_file(state):
    (state / "lifter.yaml").write_text(ROBOT)
    return state / "lifter.yaml"


@pytest.fixture(scope="module")
def lifter(state, robot_file):
    """Served as long as the tests of a file go on."""
    with Server(state, robot_file, "--simulation", "--set", "speed=4 m/s", *PATIENT) as server:
        yield server


@pytest.fixture
def here(state, monkeypatch):
    """What is served in the folder `state` is what the verbs find."""
    monkeypatch.setenv("PUSHROD_STATE", str(state))
    monkeypatch.delenv("PUSHROD_NET", raising=False)
