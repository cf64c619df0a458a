"""The command in this process (`pushrod(...)`) and as a program (`program(...)`), and a small machine of one's own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pushrod.cli.main import app

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def pushrod(monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")

    def call(*args, columns=130):
        monkeypatch.setenv("COLUMNS", str(columns))
        return CliRunner().invoke(app, [str(a) for a in args])

    return call


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
