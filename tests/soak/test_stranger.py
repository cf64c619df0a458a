"""What somebody meets who has never seen this project: a clone and `make demo`, or the wheel and `pushrod run car`. Needs a package index."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
KEPT = ("HOME", "LANG", "LC_ALL", "TMPDIR", "http_proxy", "https_proxy", "no_proxy")
KEPT_KINDS = ("PIP_", "SSL_", "HTTP_", "HTTPS_", "NO_PROXY")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Gone when the test is: two virtual environments are a gigabyte or two."""
    with tempfile.TemporaryDirectory(prefix="stranger") as name:
        yield Path(name)


def clean(folder: Path) -> dict[str, str]:
    """A new login, with what pip needs to find its index."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_KINDS)}
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if ".venv" not in part)
    return kept | {"PATH": path, "PUSHROD_CACHE": str(folder / "cache"), "COLUMNS": "120"}


def run(*command: str | Path, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def index(folder: Path) -> None:
    """Skips where no package can be had."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "0", "--dest", folder / "try", "hatchling"]
    got = subprocess.run(command, env=clean(folder), capture_output=True, text=True, check=False)
    if got.returncode:
        pytest.skip(f"no package index can be reached: {got.stderr.strip().splitlines()[-1] if got.stderr.strip() else 'pip gave no reason'}")


def check_demo(out: str, cwd: Path) -> None:
    """The summary of the car, and a log where it says."""
    assert "car, scenario car_default" in out
    assert "steer_req" in out
    assert "held" in out
    assert "FAILED" not in out
    (said,) = (line.removeprefix("log: ") for line in out.splitlines() if line.startswith("log: "))
    assert (cwd / said).stat().st_size > 10_000


@pytest.mark.usefixtures("index")
@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="this is not a git checkout that could be cloned")
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_a_clone_and_make_demo(folder: Path) -> None:
    env = clean(folder)
    run("git", "clone", "--quiet", ROOT, "pushrod", cwd=folder, env=env)
    checkout = folder / "pushrod"
    run("make", "setup", f"PYTHON={PYTHON}", cwd=checkout, env=env)
    check_demo(run("make", "demo", f"PYTHON={PYTHON}", cwd=checkout, env=env), checkout)
    assert run("git", "status", "--porcelain", cwd=checkout, env=env) == "", "what a stranger makes is not in the way of what is kept"


@pytest.mark.usefixtures("index")
def test_the_wheel_in_a_fresh_environment(folder: Path) -> None:
    env = clean(folder)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", ROOT, cwd=folder, env=env)
    (wheel,) = (folder / "dist").glob("pushrod-*.whl")
    run(PYTHON, "-m", "venv", folder / "venv", cwd=folder, env=env)
    bin = folder / "venv" / "bin"
    run(bin / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder, env=env)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    where = run(bin / "python", "-c", "import pushrod; print(pushrod.__file__)", cwd=elsewhere, env=env)
    assert where.startswith(str(folder / "venv"))
    check_demo(run(bin / "pushrod", "run", "car", cwd=elsewhere, env=env), elsewhere)
