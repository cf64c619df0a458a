"""Layouts for viewers: every panel is somewhere, every curve is a number that a log of the machine has, and the files are what the viewers read."""

import json
import xml.etree.ElementTree as ET

import pytest

from pushrod.core.record import numbers
from pushrod.layout import foxglove, plotjuggler
from pushrod.layout.page import Curve, Page, Panel, of_machine
from pushrod.sim import machine
from pushrod.sim.pipeline_topics import pipeline_topics

SHIPPED = list(machine.shipped())


def leaves(node):
    return [node] if isinstance(node, str) else [*leaves(node["first"]), *leaves(node["second"])]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_panel_of_a_foxglove_layout_stands_in_a_tab(pushrod, name):
    made = json.loads(pushrod("layout", "foxglove", name).stdout)
    assert set(made) == {"configById", "globalVariables", "userNodes", "playbackConfig", "layout"}
    configs = made["configById"]
    tabs = configs[made["layout"]]["tabs"]
    shown = [id for tab in tabs for id in leaves(tab["layout"])]
    assert len(set(shown)) == len(shown)
    assert {*shown, made["layout"]} == set(configs)
    assert {id.split("!")[0] for id in configs} <= {"Tab", "Plot", "StateTransitions", "RosOut"}
    assert tabs[0]["title"] == "tracking"
    for config in configs.values():
        assert all(path["value"] and path["timestampMethod"] == "receiveTime" for path in config.get("paths", ()))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_curve_is_a_number_that_the_machine_has(name):
    made = machine.load(name)
    known = {"/out": {leaf.path for leaf in numbers(made.world.Out)}, "/in": {leaf.path for leaf in numbers(made.world.In)}}
    known |= {topic.name: set(topic.paths) for topic in pipeline_topics(made.world)}
    curves = [curve for page in of_machine(made) for panel in page.panels for curve in panel.curves]
    for curve in curves:
        if curve.topic in known:
            assert curve.path in known[curve.topic]
        else:
            assert curve.topic.startswith(("/actuator/", "/joint_states", "/loops"))
    for pair in made.track:
        (panel,) = [p for page in of_machine(made) for p in page.panels if p.title == f"{pair.request} to {pair.achieved}"]
        assert {pair.request, pair.achieved} <= {curve.label for curve in panel.curves}


def test_request_command_and_achieved_stand_together():
    panels = {panel.title: [curve.label for curve in panel.curves] for page in of_machine(machine.load("boat")) for panel in page.panels}
    assert panels["req.u_s_req to fb.u_s_ach"] == ["req.u_s_req", "cmd.u_s_cmd", "alloc.u_s_alloc", "fb.u_s_ach"]
    panels = {panel.title: [curve.label for curve in panel.curves] for page in of_machine(machine.load("arm")) for panel in page.panels}
    assert all(label.startswith("shoulder.") for label in panels["shoulder.q_req to shoulder.q"])
    commands = [page for page in of_machine(machine.load("car")) if page.title == "commands"]
    assert [curve.label for curve in commands[0].panels[0].curves] == ["accel", "brake", "steer", "gear"]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_plotjuggler_layout_has_as_many_plots_as_it_says(pushrod, name):
    root = ET.fromstring(pushrod("layout", "plotjuggler", name).stdout)
    tabs = root.findall("tabbed_widget[@parent='main_window']/Tab")
    assert tabs
    for tab in tabs:
        (splitter,) = tab.findall("Container/DockSplitter")
        assert int(splitter.get("count")) == len(splitter.findall("DockArea")) == len(splitter.get("sizes").split(";"))
        assert all(area.findall("plot/curve") for area in splitter.findall("DockArea"))
    names = {curve.get("name") for curve in root.iter("curve")}
    assert all("/" in curve for curve in names)


def test_names_are_written_as_the_viewers_want_them():
    curve = Curve("/out", "shoulder.q_req", "q")
    assert foxglove.path_of(curve) == "/out.shoulder.q_req"
    assert plotjuggler.name_of(curve) == "/out/shoulder/q_req"
    assert foxglove.path_of(Curve("/a b", "x.0.y z", "")) == '"/a b".x[0]."y z"'
    assert plotjuggler.name_of(Curve("/a", "x.0.y", "")) == "/a/x[0]/y"
    assert foxglove.path_of(Curve("/joint_states", "position", "", "elbow", 1)) == '/joint_states.joints[:]{name=="elbow"}.position'
    assert plotjuggler.name_of(Curve("/joint_states", "position", "", "elbow", 1)) == "/joint_states/joints[1]/position"


def test_strange_names_cannot_break_the_files():
    pages = [Page('<a> & "b"', (Panel("</plot>", '"', (Curve("/<t>", 'x"y', "&"),)),), lines=('/e"',))]
    assert json.loads(foxglove.layout(pages))["configById"]["Tab!pages"]["tabs"][0]["title"] == '<a> & "b"'
    assert ET.fromstring(plotjuggler.layout(pages)).find(".//curve").get("name") == '/<t>/x"y'


def test_a_log_gives_its_machines_layout_and_any_other_file_that_of_what_is_in_it(pushrod, tmp_path):
    got = pushrod("run", "servo", "--duration", "0.01", "--out", tmp_path)
    log = next(tmp_path.glob("*.mcap"))
    assert pushrod("layout", "foxglove", log).stdout == pushrod("layout", "foxglove", "servo").stdout, got.output
    (tmp_path / "a.csv").write_text("t,x [m]\n0,1\n")
    assert pushrod("layout", "plotjuggler", tmp_path / "a.csv").exit_code == 0
    assert "there is no machine" in pushrod("layout", "foxglove", "nope").stderr


def test_log_says_what_is_in_a_file_and_writes_some_of_it_as_csv(pushrod, tmp_path):
    pushrod("run", "servo", "--duration", "0.05", "--out", tmp_path)
    log = next(tmp_path.glob("*.mcap"))
    shown = pushrod("log", log).stdout
    assert "machine servo" in shown
    assert "torque_ach" in shown
    assert "1000 Hz" in shown
    figures = json.loads(pushrod("log", log, "q", "--json").stdout)
    assert (figures["torn"], list(figures["channels"]), figures["channels"]["q"]["unit"]) == ("", ["q"], "rad")
    assert pushrod("log", log, "torque_*", "--csv", tmp_path / "some.csv").exit_code == 0
    head, *rows = (tmp_path / "some.csv").read_text().splitlines()
    assert head == "t [s],torque_req [N.m],torque_cmd [N.m],torque_ach [N.m]"
    assert len(rows) == 50
    assert "not touched" in pushrod("log", log, "--csv", tmp_path / "some.csv").stderr
    assert "did you mean 'torque_ach'" in pushrod("log", log, "torqu_ach").stderr
    log.write_bytes(log.read_bytes()[:-60])
    assert "torn: " in pushrod("log", log).stdout
    assert ": torn: " in pushrod("report", log).stderr
    none = pushrod("log", log, "no_such_*").stderr
    assert "no channel fits the pattern 'no_such_*'" in none
    assert "the file is torn: " in none
