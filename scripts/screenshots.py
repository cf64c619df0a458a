"""Pictures of reports, of runs and of studies, light and dark, on a wide screen and on a phone, for README and pages. Needs chromium on the PATH.

python scripts/screenshots.py              writes docs/images/report-*.png and sweep-*.png
python scripts/screenshots.py sweep        only those whose names begin so
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from pushrod.log import read
from pushrod.report import find, page
from pushrod.sim import machine, scenario
from pushrod.sim.recording import record
from pushrod.sim.run import simulate
from pushrod.sweep.findings import find as sweep_find
from pushrod.sweep.page import page as sweep_page
from pushrod.sweep.results import results
from pushrod.sweep.run import run as go
from pushrod.sweep.study import load, shipped

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


DRAWN = """[...document.querySelectorAll('figure[data-panel]')].map(f => [f, f.getBoundingClientRect()])
    .filter(([f, at]) => at.top < innerHeight && at.bottom > 0).every(([f]) => f.querySelector('.trace, .hm'))"""


class Shot(NamedTuple):
    """A picture: of which report, from which section on, on what screen [px]."""

    name: str
    report: str
    section: str
    scheme: str
    width: int
    height: int


SHOTS = (
    Shot("report-light", "failure", "summary", "light", 1200, 1480),
    Shot("report-dark", "failure", "summary", "dark", 1200, 1480),
    Shot("report-pipeline-light", "failure", "pipeline", "light", 1200, 860),
    Shot("report-pipeline-dark", "failure", "pipeline", "dark", 1200, 860),
    Shot("report-two-light", "two", "following", "light", 1200, 780),
    Shot("report-two-dark", "two", "following", "dark", 1200, 780),
    Shot("report-phone", "failure", "summary", "light", 390, 844),
    Shot("sweep-attained-light", "boat_attainable", "sets", "light", 1200, 790),
    Shot("sweep-light", "quad_motor_loss", "matters", "light", 1200, 1560),
    Shot("sweep-dark", "quad_motor_loss", "matters", "dark", 1200, 1560),
)


def run(folder: Path, name: str, how: str, *overrides: str) -> Path:
    what = machine.load(name, overrides)
    return record(simulate(what, scenario.load(how, what)), folder)


def run_page(folder: Path, report: str) -> str:
    if report == "failure":
        logs = [run(folder, "boat", "boat_motor_failure")]
    else:
        logs = [run(folder, "boat", "boat_windup"), run(folder, "boat", "boat_windup", "feedback=false")]
    return page([find(read(log)) for log in logs])


def study_page(folder: Path, name: str) -> str:
    study = load(name)
    go(study if study.design == "grid" else load(name, runs=4000), folder / name)
    return sweep_page(sweep_find(results(folder / name)))


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("chromium, which takes the pictures, is not on the PATH: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        shots = [shot for shot in SHOTS if shot.name.startswith(tuple(sys.argv[1:]) or "")]
        for report in {shot.report for shot in shots}:
            text = study_page(folder, report) if report in shipped() else run_page(folder, report)
            (folder / f"{report}.html").write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--hide-scrollbars"])
        for shot in shots:
            small = shot.width < 500
            context = browser.new_context(
                color_scheme=shot.scheme,
                viewport={"width": shot.width, "height": shot.height},
                is_mobile=small,
                device_scale_factor=2 if small else 1,
            )
            tab = context.new_page()
            tab.goto((folder / f"{shot.report}.html").as_uri())
            tab.wait_for_selector("html[data-ready=yes]")
            tab.evaluate("name => document.getElementById(name).scrollIntoView()", shot.section)
            while not tab.evaluate(DRAWN):
                tab.wait_for_timeout(50)
            tab.screenshot(path=IMAGES / f"{shot.name}.png")
            context.close()
            print(IMAGES / f"{shot.name}.png")
        browser.close()


if __name__ == "__main__":
    main()
