"""Debian's chromium, through Playwright; tests that need it skip with the reason where one of both is missing."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRAWS_WITHOUT_GPU = ("--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader")  # what 3-D views need


@contextmanager
def chromium(*flags: str) -> Iterator[Any]:
    """Not for a whole session of tests: while Playwright is there, no test in this process can run a loop of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *flags])
        try:
            yield browser
        finally:
            browser.close()


def with_every_plot(browser: Any, file: Path, theme: str, width: int, complaints: list[str]) -> Any:
    """A tab with a page of `report` in it, all of its plots drawn. What it says on the console, raises or asks for elsewhere is a complaint."""
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    tab.on("console", lambda said: complaints.append(said.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda said: complaints.append(said.message))
    tab.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
    tab.goto(file.as_uri())
    tab.wait_for_selector("html[data-ready=yes]")
    for figure in tab.locator("figure[data-panel]").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".js-plotly-plot").wait_for()
    return tab
