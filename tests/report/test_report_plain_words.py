"""Plots say what they are: which run, what was measured, and nothing where there is nothing to see."""

import json
import math

import pytest
from report_rig import page_of, section, text, write_log
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.log.reader import read
from pushrod.report import find, page
from real_browser import chromium, with_every_plot


def log(folder, name, machine="rig", gain=1.0, **constant):
    out = [
        (0.01 * k, {"u_req": math.sin(0.02 * k), "u_ach": gain * math.sin(0.02 * k), "u_meas": gain * math.sin(0.02 * k) + 0.01 * (k % 3)} | constant)
        for k in range(600)
    ]
    return write_log(folder / f"{name}.mcap", {"/out": out}, {"machine": machine, "dt": "0.01"})


def test_a_flag_that_is_never_set_is_a_line_of_text(tmp_path):
    tree = page_of(log(tmp_path, "a", limited=0.0, brake_req=0.0, brake_ach=0.0))
    captions = " ".join(text(one) for one in tree.xpath("//figcaption"))
    assert "limited" not in captions
    assert "brake" not in captions
    constant = [" ".join(text(one).split()) for one in tree.xpath("//ul[@class='constant']/li")]
    assert constant == ["brake_req → brake_ach 0 throughout", "limited 0 throughout"]
    assert "u_req" in captions


def test_a_flag_that_is_set_in_one_of_two_runs_is_drawn(tmp_path):
    tree = page_of(log(tmp_path, "a", limited=0.0), log(tmp_path, "b", limited=1.0))
    assert "limited" in " ".join(text(one) for one in tree.xpath("//figcaption"))


def test_two_different_machines_are_compared_with_a_warning(tmp_path):
    a, b, same = log(tmp_path, "a"), log(tmp_path, "b", machine="boat"), log(tmp_path, "c")
    words = "Two different machines are compared: A is rig, B is boat. They share 3 channels by name."
    assert words in text(section(page_of(a, b), "summary"))
    assert "Two different" not in text(section(page_of(a, same), "summary"))
    got = CliRunner().invoke(app, ["report", str(a), str(b), "--out", str(tmp_path / "two.html")])
    assert f"warning: {words}" in " ".join(got.output.split())
    told = json.loads(CliRunner().invoke(app, ["report", str(a), str(b), "--json"]).stdout)
    assert told["differences"]["warnings"] == [words]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """`drawn(theme, n)`: of each line of the first panel of a report of n runs: its run, its part, colour, dash and mode."""
    folder = tmp_path_factory.mktemp("drawn")
    files = [log(folder, "a"), log(folder, "b", gain=0.5)]
    with chromium() as browser:

        def lines(theme, n):
            file = folder / f"{n}.html"
            file.write_text(page([find(read(one)) for one in files[:n]]))
            complaints = []
            tab = with_every_plot(browser, file, theme, 1200, complaints)
            found = tab.evaluate(
                "() => { const p = pushrodReport.panels[0]; return p.lines.map((l, i) => { const d = p.plot.data[i];"
                " return [l.run, l.part, d.mode === 'markers' ? d.marker.color : d.line.color, d.line.dash, d.mode]; }); }"
            )
            names = tab.locator("figure[data-panel] .legend").first.inner_text()
            tab.close()
            assert complaints == []
            return [tuple(one) for one in found], names

        yield lines


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_two_runs_have_two_colours_and_parts_differ_by_their_dash(drawn, theme):
    lines, names = drawn(theme, 2)
    colours = {run: {colour for one, _, colour, _, _ in lines if one == run} for run in (0, 1)}
    assert all(len(found) == 1 for found in colours.values())
    assert colours[0] != colours[1]
    assert len({(dash, mode) for run, _, _, dash, mode in lines if run == 0}) == 3
    assert "A u_req" in names
    assert "B u_ach" in names


def test_of_one_run_every_part_has_a_colour_and_what_was_measured_is_dots(drawn):
    lines, names = drawn("light", 1)
    assert len({colour for _, _, colour, _, _ in lines}) == 3
    assert {part: mode for _, part, _, _, mode in lines} == {"request": "lines", "achieved": "lines", "measured": "markers"}
    assert "measured" in names
