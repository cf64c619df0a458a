"""The built wheel installs and runs outside the checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT], check=True, capture_output=True)
    (wheel,) = folder.glob("pushrod-*.whl")
    target = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", target, wheel]
    subprocess.run(pip, check=True, capture_output=True)
    return target


def run(installed: Path, *arguments: str, cwd: Path) -> str:
    """A command with the installed package in front of everything, from a folder that is not the checkout."""
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_installed_package_is_the_one_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    assert run(installed, "-c", "import pushrod; print(pushrod.__file__)", cwd=tmp_path).startswith(str(installed))


def test_the_main_job_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    out = run(installed, "-m", "pushrod", "run", "car", "--out", str(tmp_path / "runs"), cwd=tmp_path)
    assert "steer" in out
    (log,) = (tmp_path / "runs").glob("**/*.mcap")
    assert log.stat().st_size > 10_000


def test_a_machine_behind_the_runtime_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    out = run(installed, "-m", "pushrod", "run", "arm", "--no-log", cwd=tmp_path)
    assert "clamped to 2.618" in out
