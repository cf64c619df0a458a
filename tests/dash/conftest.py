"""One browser for all tests of the page, and one served arm for those that leave it as it was."""

from collections.abc import Iterator
from typing import Any

import pytest
from dash_rig import Served, chromium, state, until

PATIENT = ("--guard-limit", "5 s", "--dash-port", "0")  # on a busy machine an event loop may be late without anything being wrong


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture
def serve(browser: Any) -> Iterator[Any]:
    """`serve("arm")`: what is served, until the test ends."""
    running: list[Served] = []

    def start(*arguments: str) -> Served:
        running.append(Served(*arguments, *PATIENT))
        return running[-1]

    yield start
    for one in running:
        one.close()


@pytest.fixture(scope="module")
def arm_url(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One arm for tests that leave it disarmed."""
    one = Served("arm", *PATIENT, state=str(tmp_path_factory.mktemp("state")))
    yield one.url
    one.close()


@pytest.fixture
def look(browser: Any) -> Iterator[Any]:
    """`look(url)`: a browser of its own that shows the page, and has heard of the robot."""
    contexts: list[Any] = []

    def open_page(url: str, **options: Any) -> Any:
        contexts.append(browser.new_context(viewport={"width": 1440, "height": 900}, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.goto(url)
        until(lambda: state(page), 15.0, "the state on the page")
        return page

    yield open_page
    for context in contexts:
        context.close()
