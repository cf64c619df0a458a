"""One browser for all tests of the page, and one served arm for those that leave it as it was."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from dash_rig import Served, state, until

from pushrod.net import Link, connect
from real_browser import DRAWS_WITHOUT_GPU, chromium

PATIENT = ("--guard-limit", "5 s", "--dash-port", "0", "--no-log")  # on a busy machine an event loop may be late without anything being wrong


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(*DRAWS_WITHOUT_GPU) as one:
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
def arm_served(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    folder = tmp_path_factory.mktemp("state")
    one = Served("arm", *PATIENT, state=str(folder))
    yield one, f"unixsock-stream/{folder}/run/arm.sock"
    one.close()


@pytest.fixture
def arm_url(arm_served: tuple[Served, str]) -> str:
    """The page of one arm for several tests, each of which finds it disarmed."""

    async def rest() -> None:
        async with await connect("arm", Link(connect=arm_served[1]), operator="test") as arm:
            await arm.reset()
            await arm.disarm()

    with ThreadPoolExecutor(1) as apart:  # Playwright has a loop in this thread
        apart.submit(asyncio.run, rest()).result()
    return arm_served[0].url


@pytest.fixture
def look(browser: Any) -> Iterator[Any]:
    """`look(url)`: a browser of its own that shows the page, and has heard of the robot; `before(page)` is called before it is loaded."""
    contexts: list[Any] = []

    def open_page(url: str, before: Callable[[Any], None] = lambda page: None, **options: Any) -> Any:
        contexts.append(browser.new_context(viewport={"width": 1440, "height": 900}, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        before(page)
        page.goto(url)
        until(lambda: state(page), 15.0, "the state on the page")
        return page

    yield open_page
    for context in contexts:
        context.close()
