"""The page in a real browser: quiet on the network and on the console, one time for all plots, light and dark, small and printed."""

import math
import time

import numpy as np
import pytest
from report_rig import write_log
from test_report_logs import hostile_log

from pushrod.log.reader import read
from pushrod.report import find, page
from real_browser import chromium

FIRST = "document.querySelector('.js-plotly-plot')"


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


def around(x):
    return {"x": math.cos(x), "y": math.sin(x), "yaw": x}


def followed(x):
    """With overshoot, so that all there is to say of a step is said."""
    return 1 - math.exp(-0.4 * max(x - 2, 0)) * math.cos(1.234567 * max(x - 2, 0))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    t = np.arange(2000) * 0.01
    out = [(x, {"u_req": float(x > 2), "u_ach": followed(x), "v_req": 1.0, "v_ach": math.sin(x)} | around(x)) for x in t.tolist()]
    said = [(0.5 * k, {"kind": "Stop", "source": f"s{k}", "result": "refused" if k % 3 else "accepted", "reason": "not_armed"}) for k in range(40)]
    metres = {"type": "object", "properties": {name: {"type": "number", "unit": "m"} for name in ("x", "y")}}
    told = "disarmed -> armed: all that has to be there before a machine is armed was there, and nobody had anything against it"
    topics = {"/out": out, "/actuator/a/motor/command": said, "/events": [(0.1, {"level": 2, "message": told, "name": "safety"})]}
    log = write_log(folder / "run.mcap", topics, {"machine": "rig", "dt": "0.01"}, schemas={"/out": metres})
    file = folder / "run.html"
    file.write_text(page([find(read(log))]))
    return file


@pytest.fixture
def opened(browser):
    """`opened(file, ...)`: the page, offline; what it asked for and complained of is looked at in the end."""
    contexts, asked, complaints = [], [], []

    def start(file, **how):
        context = browser.new_context(offline=True, **({"viewport": {"width": 1200, "height": 1600}} | how))
        contexts.append(context)
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-ready=yes]")
        tab.wait_for_selector(".js-plotly-plot .trace")
        return tab

    yield start
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []


def until(tab, true, patience=10.0):
    """Asked from outside: the page itself may not evaluate texts, as its policy says."""
    end = time.monotonic() + patience
    while not tab.evaluate(true):
        assert time.monotonic() < end, f"not true within {patience:g} s: {true}"
        tab.wait_for_timeout(20)


def ranges(tab):
    return tab.evaluate("[...pushrodReport.drawn].filter(p => p.type === 'time').map(p => p.plot._fullLayout.xaxis.range.map(Number))")


def test_zooming_one_plot_moves_all_and_a_double_click_shows_the_whole_run(opened, report):
    tab = opened(report)
    before = ranges(tab)
    assert len(before) >= 2
    plots = tab.locator(".plot.time .nsewdrag")
    box = plots.first.bounding_box()
    tab.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 40)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 42, steps=5)
    tab.mouse.up()
    until(tab, "[...pushrodReport.drawn].filter(p => p.type === 'time').every(p => p.plot._fullLayout.xaxis.range[0] > 1)")
    for low, high in ranges(tab):
        assert low == pytest.approx(5.0, abs=0.2)
        assert high == pytest.approx(10.0, abs=0.2)
    tab.click("#unzoom")
    until(tab, "[...pushrodReport.drawn].filter(p => p.type === 'time').every(p => p.plot._fullLayout.xaxis.range[0] < 0.1)")
    assert ranges(tab) == before


def test_the_values_at_the_pointer_are_told_in_every_plot(opened, report):
    tab = opened(report)
    box = tab.locator(".plot.time .nsewdrag").first.bounding_box()
    tab.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
    until(tab, "[...document.querySelectorAll('.panel .legend output')].filter(o => o.textContent).length >= 4")
    shown = tab.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.legend li.line')]"
        ".map(li => [li.children[1].textContent, li.querySelector('output').textContent]))"
    )
    assert float(shown["v_ach"].replace("−", "-")) == pytest.approx(math.sin(10.0), abs=0.05)
    assert shown["u_req"] == "1"
    assert tab.locator(".cursor.dot").is_visible()  # where it was then


def test_light_and_dark_follow_the_system_and_the_switch(opened, report):
    tab = opened(report, color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    line = f"{FIRST}.querySelector('.scatterlayer .trace:last-child path.js-line').style.stroke"
    dark = tab.evaluate(paper), tab.evaluate(line)
    tab.click("#theme")
    until(tab, "document.documentElement.dataset.theme === 'light'")
    light = tab.evaluate(paper), tab.evaluate(line)
    assert light[0] == "rgb(255, 255, 255)"
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    other = opened(report, color_scheme="light")
    assert other.evaluate(paper) == light[0]


def test_a_phone_needs_no_scrolling_sideways(opened, report):
    tab = opened(report, viewport={"width": 390, "height": 800}, is_mobile=True, has_touch=True)
    tab.evaluate("document.querySelector('#channels details').open = true")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert tab.evaluate("document.querySelector('.legend .step').textContent.length") > 50
    assert tab.evaluate("document.querySelector('table.events td:nth-child(4)').clientWidth") > 340  # as wide as there is room
    assert not tab.locator("table.commands thead").is_visible()


def test_long_tables_are_folded_and_can_be_filtered(opened, report):
    tab = opened(report)
    shown = tab.locator("table.commands tbody tr:visible")
    assert shown.count() == 25
    tab.fill(".ledger input[type=search]", "s39")
    assert shown.count() == 1
    tab.fill(".ledger input[type=search]", "")
    tab.uncheck(".ledger input[value=refused]")
    assert set(shown.evaluate_all("rows => rows.map(r => r.dataset.mark)")) == {"accepted"}


def test_any_channel_can_be_drawn(opened, report):
    tab = opened(report)
    tab.evaluate("document.querySelector('#channels details').open = true")
    tab.locator("table.channels tr", has_text="yaw").locator("input").check()
    tab.wait_for_selector("#chosen .js-plotly-plot .trace")
    assert tab.locator("#chosen .legend li").first.text_content().strip().startswith("yaw")


def test_paper_is_light_and_has_every_plot(opened, report):
    tab = opened(report, color_scheme="dark")
    tab.emulate_media(media="print", color_scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.evaluate("[...document.querySelectorAll('figure[data-panel]')].every(f => f.querySelector('.trace, .bars .point'))")
    assert not tab.locator("header.bar").is_visible()
    assert tab.pdf(format="A4")[:5] == b"%PDF-"


def test_a_hostile_log_runs_nothing(opened, tmp_path):
    file = tmp_path / "evil.html"
    file.write_text(page([find(read(hostile_log(tmp_path / "evil.mcap")))]))
    tab = opened(file)
    tab.evaluate("document.querySelector('#channels details').open = true")
    for box in tab.locator("table.channels input").all():
        box.check()
    tab.mouse.move(400, 700)
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0
