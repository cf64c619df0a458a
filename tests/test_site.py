"""The pages as `make docs` builds them: whole, with nothing fetched from elsewhere."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from real_browser import chromium

pytest.importorskip("zensical", reason="zensical is not installed: pip install -e '.[dev]'")

ROOT = Path(__file__).resolve().parents[1]
FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}  # what a browser loads by itself
LEFT_ALONE = {"canonical", "prev", "next", "edit"}  # links of a head that nobody loads


class Named(HTMLParser):
    """What a page has (`ids`), what it loads and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.ids |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])
        if tag in FETCHED and given.get(FETCHED[tag]) and given.get("rel") not in LEFT_ALONE:
            self.loads.append(given[FETCHED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "zensical.toml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Named]:
    return {page: Named(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}


def test_all_pages_are_there(site: Path, pages: dict[Path, Named]) -> None:
    made = {str(page.relative_to(site).with_suffix("")) for page in pages}
    assert made >= {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in (ROOT / "docs").rglob("*.md")}


def test_nothing_is_missing_and_nothing_comes_from_elsewhere(site: Path, pages: dict[Path, Named]) -> None:
    for page, named in pages.items():
        if page.name == "404.html":  # for a server that serves it under any address
            continue
        for target in [*named.loads, *named.leads]:
            to = urlsplit(target)
            if to.scheme or to.netloc:
                assert target in named.leads, f"{page.relative_to(site)} loads {target}"
                continue
            file = (page.parent / unquote(to.path)).resolve() if to.path else page
            file = file / "index.html" if file.is_dir() else file
            assert file.exists(), f"{page.relative_to(site)}: {target} is missing"
            if to.fragment and file in pages:
                assert unquote(to.fragment) in pages[file].ids, f"{page.relative_to(site)}: {target} has no such place"


def test_no_fence_is_left_in_a_page(pages: dict[Path, Named]) -> None:
    for page in pages:
        text = re.sub(r"<(script|style).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert "```" not in text, page


def test_the_search_answers_where_the_pages_are_opened_as_files(site: Path) -> None:
    foreign: list[str] = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.on("request", lambda request: foreign.append(request.url) if not request.url.startswith(("file:", "blob:", "data:")) else None)
        page.goto((site / "howto" / "batch.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type("backlash", delay=30)
        page.get_by_text("Backlash: the output of a worn gear").first.wait_for(timeout=20_000)
    assert foreign == []


def test_the_search_knows_what_is_in_the_reference(site: Path) -> None:
    found = json.loads((site / "search.json").read_text(encoding="utf-8"))
    for word in ("rate_limit", "ALLOC_YAW_PRIORITY", "half a turn"):
        assert any(word in json.dumps(item) for item in found["items"]), word
