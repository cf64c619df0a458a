"""Debian's chromium, through Playwright; tests that need it skip with the reason where one of both is missing."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
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
