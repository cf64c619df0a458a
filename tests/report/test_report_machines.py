"""Reports of what is shipped: the figures on the page are those of the run."""

import re

import msgspec
import pytest
from report_rig import page_of, rows, section, text, value
from typer.testing import CliRunner

from pushrod.cli.main import app
from pushrod.log.reader import read
from pushrod.report import find
from pushrod.report.drawing import Drawing
from pushrod.report.sections import content
from pushrod.sim.machine import shipped

FIGURES = ("error_rms", "error_max", "delay", "rise_time", "overshoot", "settling_time", "saturation_time")
HAS_WAY = {"car", "car_control", "boat", "quad", "arm"}
AXES = {"boat": ["Surge", "Differential"], "quad": ["Thrust", "Roll", "Pitch", "Yaw"]}  # of machines with a pipeline


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The log of a machine's own scenario, and what `pushrod run --json` told of it."""
    folder = tmp_path_factory.mktemp("runs")
    known = {}

    def run(machine, *more):
        if (machine, *more) not in known:
            got = CliRunner().invoke(app, ["run", machine, *more, "--out", str(folder), "--json"])
            assert got.exit_code in (0, 1), got.output
            told = msgspec.json.decode(got.stdout)
            known[machine, *more] = folder / told["log"].rpartition("/")[2], told
        return known[machine, *more]

    return run


@pytest.mark.parametrize("machine", shipped())
def test_the_figures_of_the_page_are_those_of_the_run(ran, machine):
    log, told = ran(machine)
    tree = page_of(log)
    assert tree.xpath("//title")[0].text.startswith(machine)
    assert tree.xpath("//*[@data-verdict]/@data-verdict") == ["held" if told["held"] else "failed"]
    shown = rows(tree, "expectations")
    assert [(text(cells[0]), value(cells[2]), text(cells[3])) for cells in shown] == [
        (one["expected"], one["was"], "held" if one["held"] else "FAILED") for one in told["expectations"]
    ]
    followed = rows(tree, "responses")
    assert [text(cells[0]) for cells in followed] == [f"{one['request']} → {one['achieved']}" for one in told["responses"]]
    assert [[value(cell) for cell in cells[1:]] for cells in followed] == [[one[key] for key in FIGURES] for one in told["responses"]]
    assert (section(tree, "way") is not None) == (machine in HAS_WAY)
    assert [str(heading.text).strip() for heading in tree.xpath("//*[@class='axis']/h3")] == AXES.get(machine, [])
    assert len(rows(tree, "parameters")) > 5


@pytest.mark.parametrize("machine", shipped())
def test_the_figures_as_json_are_those_of_the_run(ran, machine):
    log, told = ran(machine)
    got = CliRunner().invoke(app, ["report", str(log), "--json"])
    found = msgspec.json.decode(got.stdout)
    assert got.exit_code == 0
    assert found["verdict"]["held"] == told["held"]
    assert found["responses"] == [{key: one[key] for key in ("request", "achieved", "unit", *FIGURES)} for one in told["responses"]]
    assert found["signals"].keys() == read(log).channels.keys()
    assert not log.with_suffix(".html").exists()


def test_the_page_is_one_file_that_asks_for_nothing(ran):
    tree = page_of(ran("boat")[0])
    for attribute in ("src", "href", "action", "data", "srcset"):
        assert [link for link in tree.xpath(f"//@{attribute}") if not link.startswith("#")] == []
    assert not re.search(r"@import|url\(", "".join(tree.xpath("//style/text()")))
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]


def test_what_was_set_by_hand_stands_out(ran):
    tree = page_of(ran("servo", "--set", "lag.T=40 ms", "--set", "bus.delay=3 ms")[0])
    by_hand = {text(cells[0]): value(cells[1]) for cells in rows(tree, "parameters") if cells[0].getparent().get("data-mark") == "set"}
    assert by_hand == {"lag.T": 0.04, "bus.delay": 0.003}


def test_losses_by_cause_add_up_to_what_the_pipeline_told(ran):
    log, _ = ran("boat")
    tree = page_of(log)
    table = read(log)
    dt = float(table.about["dt"])
    for cells in rows(tree, "losses")[:1]:
        cause = text(cells[0]).replace(" ", "_")
        assert value(cells[1]) == pytest.approx(abs(table[f"diag.loss_s.{cause}"].values).sum() * dt)


def test_of_two_runs_each_has_its_losses_under_its_letter(ran):
    weak, strong = ran("boat", "boat_windup", "--duration", "20")[0], ran("boat", "boat_zigzag", "--duration", "20")[0]
    tree = page_of(weak, strong)
    found = {}
    for table in tree.xpath("//table[contains(@class, 'losses')]"):
        which = text(table.xpath("thead//th")[0])
        found.setdefault(which, []).append([(text(row.xpath("td")[0]), value(row.xpath("td")[1])) for row in table.xpath("tbody/tr")])
    for which, log in (("A: lost to", weak), ("B: lost to", strong)):
        alone = [[(loss.cause.replace("_", " "), loss.total) for loss in axis.losses] for axis in find(read(log)).axes if axis.losses]
        assert found[which] == alone
    captions = [text(name) for name in tree.xpath("//figure//span[@class='name']")]
    assert "A: lost, by cause" in captions
    assert "B: lost, by cause" in captions
    head = text(next(one for one in tree.xpath("//h3") if "Surge" in text(one)))
    assert re.search(r"losses add up to A \d+\.\d %, B \d+\.\d % of the request", head), head


def test_two_runs_of_a_scenario_that_was_changed_say_where(ran, tmp_path):
    from pushrod.sim.scenario import shipped as scenarios

    mine = tmp_path / "car_default.yaml"
    lines = scenarios()["car_default"].read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("duration:"))
    before, lines[at] = lines[at].strip(), "duration: 3 s"
    mine.write_text("\n".join(lines))
    tree = page_of(ran("car", "car_default")[0], ran("car", str(mine))[0])
    table = next(one for one in tree.xpath("//table") if text(one.xpath("thead//th")[0]) == "File")
    assert [[text(cell) for cell in row.xpath("td")] for row in table.xpath("tbody/tr")] == [["scenario.yaml", before, "duration: 3 s"]]


def test_lines_of_files_stand_one_below_the_other_and_without_comments(ran, tmp_path):
    from pushrod.sim.scenario import shipped as scenarios

    shipped_text = scenarios()["car_default"].read_text()
    mine, alike = tmp_path / "car_default.yaml", tmp_path / "alike" / "car_default.yaml"
    before = [line.partition(" #")[0].strip() for line in shipped_text.splitlines() if line.startswith(("duration:", "seed:"))]
    mine.write_text("# a note\n" + re.sub(r"(?m)^(duration|seed):", r"\1: ", shipped_text))
    alike.parent.mkdir()
    alike.write_text("# a note\n" + shipped_text.replace("# of the measurement noise", "# of all noise"))
    tables = {}
    for file in (mine, alike):
        tree = page_of(ran("car", "car_default")[0], ran("car", str(file))[0])
        table = next(one for one in tree.xpath("//table") if text(one.xpath("thead//th")[0]) == "File")
        tables[file] = [[text(cell) for cell in row.xpath("td")] for row in table.xpath("tbody/tr")]
    ((_, removed, added),) = tables[mine]
    assert before == ["duration: 29 s", "seed: 1"]
    assert removed.splitlines() == before
    assert added.splitlines() == [line.replace(":", ": ", 1) for line in before]
    assert tables[alike] == [["scenario.yaml", "only comments, blank lines or the order differ", "–"]]


def test_losses_say_which_axis_they_are_of_and_in_which_unit(ran):
    tree = page_of(ran("boat", "boat_motor_failure")[0])
    head = next(one for one in tree.xpath("//*[@class='axis']/h3") if "Surge" in text(one))
    assert "axis s, without unit" in text(head)
    assert "in all [1·s]" in {text(one) for one in tree.xpath("//table[contains(@class, 'losses')]//th")}
    assert not any(text(cells[1]).endswith("s") for cells in rows(tree, "losses"))


@pytest.mark.parametrize(("machine", "scenario"), [("servo", "servo_step"), ("boat", "boat_motor_failure"), ("quad", "quad_default")])
def test_every_signal_that_is_judged_is_drawn(ran, machine, scenario):
    found = find(read(ran(machine, scenario)[0]))
    sheet = Drawing(["run"], found.log.span)
    made = content([found], sheet)
    listed = {name for part in ("following", "judged") if made[part] for name, _ in made[part]["constant"]}  # in words: it never changes
    drawn = listed | {line["label"] for panel in sheet.panels if panel["type"] == "time" for line in panel["lines"]}
    assert found.log.said.judged
    assert set(found.log.said.judged) <= drawn


def test_faults_are_shaded_whether_they_were_announced_or_not(ran):
    found = find(read(ran("car", "car_fault")[0]))
    assert found.faults.keys() == {"steer", "brake"}
    assert found.faults["steer"][0] == pytest.approx((12.3, 13.3), abs=0.011)
    assert found.faults["brake"][0] == pytest.approx((15.0, 26.0), abs=0.011)


def test_commands_of_a_run_through_the_runtime_are_in_the_ledger(ran):
    log, told = ran("arm")
    tree = page_of(log)
    listed = rows(tree, "commands")
    assert len(listed) == len(told["commands"])
    clamped = [cells for cells in listed if cells[0].getparent().get("data-mark") == "clamped"]
    assert [text(cells[4]) for cells in clamped] == ["clamped to 2.618 rad"]
    assert section(tree, "timing") is None  # a stepped clock is never late
