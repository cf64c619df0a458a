"""The page of a fit in a real browser: quiet, complete, light and dark, on a small screen."""

from pathlib import Path

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.identify.belief import believe
from pushrod.identify.page import page
from pushrod.models.servo import SERVO
from real_browser import chromium, with_every_plot

DT = 0.002
HOSTILE = "<script>alert(1)</script>.csv"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    goal = rich(500, DT)
    trials = [
        identify.trial(
            SERVO,
            recorded(SERVO, SERVO.Params(), {"goal": goal}, DT, ("q",), seed),
            **names(SERVO, {"goal": goal}, ("q",)),
            name=name,
            held_out=0.2 if seed == 0 else 0.0,
        )
        for seed, name in enumerate(("bench.csv", HOSTILE))
    ]
    found = identify.fit(identify.Problem(SERVO, trials[:1], {"kp": (1.0, 20.0), "J": None}, offsets=("q",)), seeds=2, generations=15)
    made = tmp_path_factory.mktemp("fit") / "fit.html"
    made.write_text(page(found, believe(found, trials[1:]), "servo", trials[1:]))
    return made


@pytest.mark.parametrize(("theme", "width"), [("light", 1200), ("dark", 1200), ("light", 400)])
def test_the_page_shows_all_of_it(file: Path, theme: str, width: int) -> None:
    complaints: list[str] = []
    with chromium() as browser:
        tab = with_every_plot(browser, file, theme, width, complaints)
        assert tab.locator(".js-plotly-plot").count() == 5  # simulated and what is left of two logs, and the autocorrelation of the fitted one
        assert tab.locator("#parameters tbody tr").count() == 3
        assert "white" in tab.locator("table.errors").inner_text()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate("document.documentElement.dataset.theme") == theme
        names_shown = tab.locator("#fit h3").all_inner_texts()
        drawn = tab.evaluate(
            "document.querySelector('#fit .js-plotly-plot').data.map(d => [d.name, d.mode, d.mode === 'markers' ? d.marker.color : d.line.color])"
        )
    looks = {name: (mode, colour) for name, mode, colour in drawn}
    assert (looks["measured"][0], looks["simulated"][0]) == ("markers", "lines")
    assert looks["measured"][1] != looks["simulated"][1]
    assert names_shown[1].startswith(HOSTILE)
    assert complaints == []


def test_every_number_of_the_fit_is_on_the_page(file: Path) -> None:
    import lxml.html

    tree = lxml.html.fromstring(file.read_text())
    rows = tree.xpath("//section[@id='parameters']//tbody/tr")
    values = [float(cell.get("data-value")) for cell in (row.xpath("td")[1] for row in rows)]
    assert len(values) == 3
    assert values[0] == pytest.approx(5.0, rel=0.05)
    assert np.all(np.isfinite(values))
