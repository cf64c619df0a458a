"""Signals from CSV files: units in headers are converted to those of the channel, as a fit converts them."""

import math
from pathlib import Path

import numpy as np
import pytest

from pushrod import SignalSet, identify, log
from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError, SignalError
from pushrod.models.first_order import FIRST_ORDER
from pushrod.signals import parse, value
from pushrod.sim import machine, scenario
from pushrod.sim.scenario import Scenario

HEAD = "scenario: s\nmachine: car\nduration: 3 s\ndt: 10 ms\nsignals:\n"


def built(folder: Path, text: str, signal: str) -> Scenario:
    (folder / "run.csv").write_text(text, encoding="utf-8")
    (folder / "s.yaml").write_text(HEAD + f"  {signal}\n", encoding="utf-8")
    return scenario.build(yaml_file.load(folder / "s.yaml"), machine.load("car"))


def at(made: Scenario, channel: str, *times: float) -> list[float]:
    return [value(made.tracks[channel], t) for t in times]


DEGREES = "t [ms],wheel [deg]\n0,0\n1000,5\n2000,5\n"


@pytest.mark.parametrize("columns", ["", ", t_column: t, y_column: wheel", ", t_column: 't [ms]', y_column: 'wheel [deg]'"])
def test_units_of_the_header_are_converted(tmp_path: Path, columns: str) -> None:
    made = built(tmp_path, DEGREES, f"wheel: [{{recorded: {{file: run.csv{columns}}}}}]")
    assert at(made, "wheel", 0.5, 1.0, 2.5) == pytest.approx([math.radians(2.5), math.radians(5.0), math.radians(5.0)], rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "t (s);accel (%)\n0;0\n1;30,0\n",
        "t,accel\ns,%\n0,0\n1,30\n",
        "# a comment\nt [s]\taccel [percent]\n0\t0\n1\t30\n",
        "accel [%],t [ms]\n0,0\n30,1000\n",
    ],
)
def test_every_way_to_write_a_header(tmp_path: Path, text: str) -> None:
    made = built(tmp_path, text, "accel: [{recorded: {file: run.csv, t_column: t, y_column: accel}}]")
    assert at(made, "accel", 0.5, 2.0) == pytest.approx([0.15, 0.3])


def test_typed_intervals_and_sums_are_converted(tmp_path: Path) -> None:
    made = built(tmp_path, DEGREES, "wheel: [{type: recorded, t_start: 1 s, file: run.csv}]")
    assert at(made, "wheel", 2.0) == pytest.approx([math.radians(5.0)])
    made = built(tmp_path, DEGREES, "wheel: {sum: [10 deg, {recorded: {file: run.csv}}]}")
    assert at(made, "wheel", 2.0) == pytest.approx([math.radians(15.0)])


def test_a_unit_behind_a_name_overrides_the_header(tmp_path: Path) -> None:
    made = built(tmp_path, "t,wheel\n0,0\n1,5\n", "wheel: [{recorded: {file: run.csv, y_column: 'wheel [deg]'}}]")
    assert at(made, "wheel", 1.0) == pytest.approx([math.radians(5.0)])
    made = built(tmp_path, "t,wheel [deg],wheel [rad]\n0,0,0\n1,5,0.2\n", "wheel: [{recorded: {file: run.csv, y_column: 'wheel [rad]'}}]")
    assert at(made, "wheel", 1.0) == [0.2], "the name as it stands in the file comes first"


def test_without_units_numbers_stay_as_they_are(tmp_path: Path) -> None:
    made = built(tmp_path, "t,wheel\n0,0.1\n1,0.3\n", "wheel: [{recorded: {file: run.csv}}]")
    assert at(made, "wheel", 0.0, 1.0) == [0.1, 0.3]


def test_a_channel_of_named_cases_has_no_unit(tmp_path: Path) -> None:
    made = built(tmp_path, "t [s],gear [-]\n0,1\n1,2\n", "gear: [{recorded: {file: run.csv, between: held}}]")
    assert at(made, "gear", 0.5, 1.5) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("t [kg],wheel\n0,0\n1,5\n", "t_column", "is in kg, which cannot be turned into s"),
        ("t,wheel [kg]\n0,0\n1,5\n", "y_column", "is in kg, which cannot be turned into rad"),
        ("t,wheel [degg]\n0,0\n1,5\n", "y_column", "unknown unit 'degg'; did you mean deg"),
        ("t,wheel [deg]\n0,0\n1,five\n", "file", "has no number in row 3, column 2"),
        ("", "file", "is empty"),
    ],
)
def test_what_cannot_be_converted_is_refused_with_its_place(tmp_path: Path, text: str, field: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        built(tmp_path, text, "wheel: [{recorded: {file: run.csv}}]")
    assert words in str(caught.value)
    assert f"signals.wheel[0].recorded.{field}" in str(caught.value)


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="y_column.*'weel' is not in .*did you mean 'wheel'"):
        built(tmp_path, DEGREES, "wheel: [{recorded: {file: run.csv, y_column: weel}}]")


def test_a_signal_set_without_units_takes_si(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text(DEGREES)
    signals = SignalSet(["wheel"], {"wheel": {"recorded": {"file": "run.csv"}}}, tmp_path)
    assert signals.value("wheel", 1.0) == pytest.approx(math.radians(5.0))
    with pytest.raises(SignalError, match=r"signal wheel\.recorded\.y_column = 'no' is not in"):
        SignalSet(["wheel"], {"wheel": {"recorded": {"file": "run.csv", "y_column": "no"}}}, tmp_path)


def test_a_header_with_units_is_refused_where_units_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text(DEGREES)
    with pytest.raises(SignalError, match=r"t_column = 't \[ms\]' in .* has a unit, which is not converted here"):
        parse("x", {"recorded": {"file": "run.csv"}}, folder=tmp_path)


@pytest.mark.parametrize("header", ["t [s],u [%],y", "t [ms],u (deg),y", "t,u [counts],y", "t,u,y"])
def test_a_signal_and_a_fit_read_the_same_numbers(tmp_path: Path, header: str) -> None:
    u = np.round(np.sin(np.arange(40.0)), 3)
    step = 10.0 if "ms" in header else 0.01
    lines = [f"{step * k:.6g},{x},{x}" for k, x in enumerate(u.tolist())]
    file = tmp_path / "run.csv"
    file.write_text("\n".join([header, *lines]) + "\n")
    signals = SignalSet(["u"], {"u": {"recorded": {"file": "run.csv", "t_column": "t", "y_column": "u"}}}, tmp_path)
    one = identify.trial(FIRST_ORDER, log.read(file), inputs={"u": "u"}, outputs={"y": "y"})
    used = one.used["u"]
    assert [signals.value("u", t) for t in used.t] == pytest.approx(used.values.tolist(), rel=1e-9)
