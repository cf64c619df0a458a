"""Where the reference data is: copies in tests/golden, and a folder `shared` beside the checkout that not everyone has.

And what becomes of tests that measure time where the computer stood still (`standstill`).
"""

import signal
import textwrap
import uuid
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from counts import examples
from standstill import TIMES, Standstill

# how long an example takes says more about the machine than about the code
settings.register_profile("pushrod", max_examples=examples(100), deadline=None, print_blob=True)
settings.load_profile("pushrod")

ROOT = Path(__file__).resolve().parents[1]


STANDSTILL = pytest.StashKey[Standstill]()
AGAIN = "made again"
ON_TIME = (
    "conformance",
    "dash",
    "drivers",
    "guard",
    "live",
    "net",
    "runtime",
)  # folders of what runs against the wall clock; others say so themselves


def pytest_configure(config: pytest.Config) -> None:
    """A shell starts what runs in the background with Ctrl-C ignored, and so would be every program the tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[STANDSTILL] = Standstill()
    config.add_cleanup(config.stash[STANDSTILL].close)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in ON_TIME:
            item.add_marker("on_time")


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if item.get_closest_marker("on_time") is None:
        return None
    standstill, failed = item.config.stash[STANDSTILL], []
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    while True:
        before = standstill.total
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        stood, wrong = standstill.total - before, [report for report in reports if report.failed]
        if not (stood and wrong) or len(failed) + 1 == TIMES:
            break
        failed.append(f"{1e3 * stood:.0f} ms ({_said(wrong[0])})")
        item.session._setupstate.teardown_exact(None)  # what it shares with others may not be as it was
    for report in reports:
        if failed and report.when == "call":
            report.user_properties.append((AGAIN, ", ".join(failed)))
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _said(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else f"{crash.path}:{crash.lineno}: {crash.message}"
    return textwrap.shorten(text, 500)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in (report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())):
        for name, stood in getattr(report, "user_properties", ()):
            if name == AGAIN:
                terminalreporter.line(f"made again, as the computer stood still for {stood}: {report.nodeid} {report.outcome}")


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What guards record in one test keeps no robot of another test from arming. The folder is made by whoever writes there first."""
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path_factory.getbasetemp() / "state" / uuid.uuid4().hex))


@pytest.fixture(scope="session")
def golden() -> Path:
    return ROOT / "tests" / "golden"


@pytest.fixture(scope="session")
def shared() -> Path:
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("the folder `shared` with further reference data is not beside this checkout")
    return path
