"""Where the reference data is: copies in tests/golden, and a folder `shared` beside the checkout that not everyone has."""

import hashlib
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from counts import examples

# how long an example takes says more about the machine than about the code
settings.register_profile("pushrod", max_examples=examples(100), deadline=None, print_blob=True)
settings.load_profile("pushrod")

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure() -> None:
    """A shell starts what runs in the background with Ctrl-C ignored, and so would be every program the tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_state(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What guards record in one test keeps no robot of another test from arming. The folder is made by whoever writes there first."""
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path_factory.getbasetemp() / "state" / hashlib.md5(request.node.nodeid.encode()).hexdigest()))


@pytest.fixture(scope="session")
def golden() -> Path:
    return ROOT / "tests" / "golden"


@pytest.fixture(scope="session")
def shared() -> Path:
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("the folder `shared` with further reference data is not beside this checkout")
    return path
