"""The page of a study in a real browser: quiet, complete, light and dark, on a small screen; and no larger for a million runs."""

from pathlib import Path

import lxml.html
import numpy as np
import pytest
from found_results import HOSTILE, made_up

from pushrod.sweep.attained import area, sets
from pushrod.sweep.findings import find
from pushrod.sweep.page import page, percent, percent_within
from pushrod.sweep.pass_rate import Share, share
from pushrod.sweep.study_attained import Attained
from real_browser import chromium, with_every_plot

WANTED = Attained("X", "N", 1.0, "c", "only", ("N", "N.m"), ("force", "moment"))


def circles(index: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Once round within two seconds; the radius is one more than the run's number, so that the second half of it is a half circle."""
    t = np.linspace(0.0, 2.0, 2001)
    return t, {"X": (index + 1.0) * np.cos(np.pi * t), "N": (index + 1.0) * np.sin(np.pi * t)}


@pytest.fixture(scope="module")
def text() -> str:
    drawn = np.array([0.0, 1.0, 2.0])
    made = sets(WANTED, np.arange(3), drawn, np.full(3, 7.0), circles)
    return page(find(made_up(sets=made, runs=9000)))


@pytest.fixture(scope="module")
def file(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sweep") / "report.html"
    made.write_text(text, encoding="utf-8")
    return made


def test_the_page_shows_all_of_it_light_and_dark_and_on_a_phone(file: Path) -> None:
    complaints: list[str] = []
    with chromium() as browser:
        for theme, width in (("light", 1200), ("dark", 1200), ("light", 400)):
            tab = with_every_plot(browser, file, theme, width, complaints)
            kinds = tab.evaluate("pushrodReport.panels.map(panel => panel.type)")
            assert kinds == ["sets", "histogram", "histogram", "share", "share", "map"]
            assert tab.locator(".js-plotly-plot").count() == len(kinds)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate("document.documentElement.dataset.theme") == theme
            assert tab.locator("h1").inner_text() == HOSTILE
            tab.close()
    assert complaints == []


def test_what_is_told_is_what_was_found(text: str) -> None:
    tree, found = lxml.html.document_fromstring(text), find(made_up())
    assert found.share is not None
    assert tree.xpath("//div[@data-verdict]/@data-verdict") == ["partly"]
    assert percent(found.share) in tree.xpath("string(//div[@data-verdict])")
    assert "1\u202f000 of 9\u202f000 runs are still to be made" in tree.xpath("string(//section[@id='summary'])")
    commands = [cell.text_content() for cell in tree.xpath("//table[contains(@class, 'worst')]/tbody/tr/td[last()]")]
    assert commands == [f"pushrod sweep one 'sweeps/made up' {one.run}" for one in found.worst]
    missed = tree.xpath("//table[contains(@class, 'criteria')]/tbody/tr/td[3]/@data-value")
    assert [float(value) for value in missed] == [one.runs for one in found.missed]
    named = [cell.text_content() for cell in tree.xpath("//table[contains(@class, 'influence')]/tbody/tr/td[1]")]
    assert named[0] == "a"
    assert "only" not in named


def test_a_hundred_times_the_runs_make_the_same_page(text: str) -> None:
    assert len(page(find(made_up(100_000)))) < 1.01 * len(text)


@pytest.mark.parametrize(
    ("one", "shown", "within"),
    [
        (share(np.array([4262]), np.array([10_000])), "42.6 %", "41.65 … 43.60 %"),
        (share(np.array([10]), np.array([10])), "100 %", "69 … 100 %"),
        (share(np.array([0]), np.array([10])), "0 %", "0 … 31 %"),
        (share(np.array([999_999]), np.array([1_000_000])), "99.9999 %", "99.99944 … 99.99999 %"),
        (Share(99_999, 100_000, 0.9, 0.99999), "99 %", "90.0 … 99.9 %"),
    ],
)
def test_a_share_has_the_digits_that_it_bears_and_is_never_rounded_to_all(one: Share, shown: str, within: str) -> None:
    assert (percent(one), percent_within(one)) == (shown, within)


def test_a_set_is_what_the_run_goes_round() -> None:
    """From 1 s on a circle is a half one: pi r^2 / 2; the largest counts as 1."""
    made = sets(WANTED, np.arange(3), np.array([0.0, 1.0, 2.0]), np.full(3, 7.0), circles)
    assert area(made.cells[0][0].x, made.cells[0][0].y) == pytest.approx(0.5 * np.pi, rel=1e-4)
    assert [cell.share for cell in made.cells[0]] == pytest.approx([1 / 9, 4 / 9, 1.0], rel=1e-9)
