"""Scenario files: signals with units, faults, initial states, expectations, and an answer with file, line and path to each mistake."""

import re
import shutil
from pathlib import Path

import pytest

from pushrod.config import yaml_file
from pushrod.core.errors import ConfigError
from pushrod.signals import value
from pushrod.sim import machine, run, scenario

HERE = Path(__file__).parent
HEAD = "scenario: s\nduration: 2 s\ndt: 10 ms\n"


@pytest.fixture
def tiny(tmp_path):
    shutil.copy(HERE / "tiny_world.py", tmp_path)
    (tmp_path / "m.yaml").write_text("machine: m\nworld: tiny_world.py:TINY\n")
    return machine.load(str(tmp_path / "m.yaml"), trust=True)


@pytest.fixture
def load(tmp_path, tiny):
    def load_text(text, **over):
        (tmp_path / "s.yaml").write_text(text)
        return scenario.load(str(tmp_path / "s.yaml"), tiny, **over)

    return load_text


def problems(load, text, **over):
    with pytest.raises(ConfigError) as raised:
        load(text, **over)
    return list(raised.value.problems)


def test_time_is_in_ticks(load):
    s = load(HEAD)
    assert (s.dt, s.steps, s.seed) == (0.01, 200, 0)
    assert load("scenario: s\nduration: 1\ndt: 0.03\n").steps == 34
    assert load(HEAD, duration="500 ms", seed=7).steps == 50
    assert load(HEAD, seed=7).seed == 7


def test_signals_take_units_where_they_stand(load):
    text = """signals:
  angle:
    - {at: 100 ms, for: 1 s, linear: [0, 90 deg]}
    - {sine: {amplitude: 10 deg, frequency: 30 rpm}}
  push: {sum: [1 kN, {steps: [[500 ms, 2 N]]}]}
"""
    with pytest.raises(ConfigError, match=r"s\.yaml:7: signals\.angle\[1\]\.sine\.frequency: '30 rpm' is in rpm, which cannot be turned into Hz"):
        load(HEAD + text)
    tracks = load(HEAD + text.replace("30 rpm", "500 1/ms")).tracks
    assert value(tracks["angle"], 0.6) == pytest.approx(0.7853981633974483, rel=1e-15)
    assert value(tracks["push"], 0.6) == 1002.0
    assert value(tracks["push"], 0.4) == 1000.0


def test_a_channel_of_named_cases_takes_their_names():
    car = machine.load("car")
    head = "scenario: s\nduration: 1\ndt: 10 ms\n"
    s = scenario.build(yaml_file.parse(head + "signals: {gear: [{constant: drive}, {at: 500 ms, constant: reverse}]}"), car)
    assert [value(s.tracks["gear"], t) for t in (0.4, 0.6)] == [2.0, 20.0]
    with pytest.raises(ConfigError, match=r"<text>:4: signals.gear: reaches 2.5 at 0 s, outside the range"):
        run.sample(car, scenario.build(yaml_file.parse(head + "signals: {gear: 2.5}"), car))


def test_a_fault_sets_the_record_of_its_channel(load):
    p = load(HEAD + "faults: [{channel: angle, kind: bias, at: 500 ms, until: 1 s, bias: 10 deg, announced: true}]\n").params.faults.angle
    assert (p.kind, p.at, p.until, p.bias, p.announced) == (3.0, 0.5, 1.0, 0.17453292519943295, 1.0)


def test_the_bias_of_a_fault_is_in_the_unit_of_what_breaks():
    text = "scenario: s\nduration: 1\ndt: 10 ms\nfaults: [{channel: steer, kind: bias, at: 0, bias: 180 deg}]"
    assert scenario.build(yaml_file.parse(text), machine.load("car")).params.faults.steer.bias == 3.141592653589793


@pytest.mark.parametrize(
    ("name", "channel", "unit"), [("car", "steer", "rad"), ("car", "accel", "-"), ("car_control", "brake", "-"), ("satellite", "torque_x", "N.m")]
)
def test_the_bias_of_a_fault_in_a_unit_of_something_else_is_refused(name, channel, unit):
    text = f"scenario: s\nduration: 1\ndt: 10 ms\nfaults:\n- {{channel: {channel}, kind: bias, at: 0, bias: 2 kg}}"
    why = "but what is asked for has no unit; write the number alone" if unit == "-" else f"which cannot be turned into {unit}"
    with pytest.raises(ConfigError, match=rf"<text>:5: faults\[0\].bias: '2 kg' is in kg, {why}"):
        scenario.build(yaml_file.parse(text), machine.load(name))


def test_a_channel_whose_unit_nobody_declares_takes_plain_numbers(tmp_path):
    text = (HERE / "tiny_world.py").read_text().replace("angle_req: A", "asked: A").replace("angle_ach: A", "got: A")
    (tmp_path / "w.py").write_text(
        text.replace('    angle: A[float, Q("rad", -3.2, 3.2, "wanted', '    wanted: A[float, Q("rad", -3.2, 3.2, "wanted')
    )
    (tmp_path / "m.yaml").write_text("machine: m\nworld: w.py:TINY\n")
    what = machine.load(str(tmp_path / "m.yaml"), trust=True)
    entry = HEAD + "faults: [{channel: angle, kind: bias, at: 0, bias: %s}]"
    with pytest.raises(ConfigError, match=r"faults\[0\].bias: got '2 kg', but the unit of this channel is not known"):
        scenario.build(yaml_file.parse(entry % "2 kg"), what)
    assert scenario.build(yaml_file.parse(entry % "'2'"), what).params.faults.angle.bias == 2.0


def test_the_state_at_the_start_may_be_given(load):
    assert load(HEAD + "initial: {angle: 30 deg}\n").state.angle == 0.5235987755982988
    assert load(HEAD).state is None


@pytest.mark.parametrize(
    ("text", "line", "path", "what"),
    [
        ("expectation: []", 4, "expectation", "did you mean 'expectations'"),
        ("seed: -1", 4, "seed", "Expected int >= 0, got a whole number -1"),
        ("seed: 1.5", 4, "seed", "must be a whole number, got a number 1.5"),
        ("signals: []", 4, "signals", "must be a mapping, got a list"),
        ("signals:\n  angel: 3", 5, "signals.angel", "tiny has no input channel 'angel'; did you mean 'angle'"),
        ("signals:\n  angle: {sin: 3}", 5, "signals.angle.sin", "did you mean 'sine'"),
        ("signals:\n  angle:\n  - constant: 0\n    at: 1\n  - {at: x, constant: 0}", 8, r"signals.angle\[1\].at", "is not a number"),
        ("signals:\n  angle:\n  - {at: 0, for: 2, constant: 0}\n  - {at: 1, constant: 0}", 7, r"signals.angle\[1\].at", "overlap"),
        ("signals:\n  angle: 5 ms", 5, "signals.angle", "cannot be turned into rad"),
        ("initial:\n  angel: 1", 5, "initial.angel", "did you mean 'angle'"),
        ("initial:\n  angle: 9", 5, "initial.angle", "outside its legal range"),
        ("faults: {}", 4, "faults", "must be a list"),
        ("faults:\n  - {kind: stuck, at: 1}", 5, r"faults\[0\]", "channel missing"),
        ("faults:\n  - {channel: angel, kind: stuck, at: 1}", 5, r"faults\[0\].channel", "did you mean 'angle'"),
        ("faults:\n  - channel: angle\n    kind: stuk\n    at: 1", 6, r"faults\[0\].kind", "did you mean 'stuck'"),
        ("faults:\n  - channel: angle\n    kind: stuck\n    at: 1 m", 7, r"faults\[0\].at", "cannot be turned into s"),
        ("faults:\n  - {channel: angle, kind: stuck, at: 1, till: 2}", 5, r"faults\[0\].till", "did you mean 'until'"),
        ("faults:\n  - {channel: angle, kind: stuck, at: 1, until: 0.5}", 5, r"faults\[0\].until", "is not after at"),
        (
            "faults:\n- {channel: angle, kind: stuck, at: 1}\n- {channel: angle, kind: loss, at: 1}",
            6,
            r"faults\[1\].channel",
            "one fault per channel",
        ),
        ("expectations:\n  - {signal: angle_reg, metric: max, below: 1}", 5, r"expectations\[0\].signal", "did you mean 'angle_req'"),
        ("expectations:\n  - {signal: angle_req, metric: maks, below: 1}", 5, r"expectations\[0\].metric", "did you mean .*'max'"),
        ("expectations:\n  - {signal: angle_req, metric: max}", 5, r"expectations\[0\]", "says nothing"),
        ("expectations:\n  - {signal: angle_req, metric: rms_error, below: 1}", 5, r"expectations\[0\]", "needs `to`"),
        ("expectations:\n  - {signal: angle_req, metric: settling_time, goal: 1, below: 1}", 5, r"expectations\[0\]", "needs `band`"),
        ("expectations:\n  - {signal: angle_req, metric: max, below: 1 s}", 5, r"expectations\[0\].below", "cannot be turned into rad"),
        ("expectations:\n  - {signal: angle_req, metric: max, near: 1}", 5, r"expectations\[0\]", "go together"),
        ("expectations:\n  - {signal: angle_req, metric: max, below: 1, above: 2}", 5, r"expectations\[0\]", "at least 2 and at most 1 rad"),
        ("expectations:\n  - {signal: angle_req, metric: max, near: 1, within: -1}", 5, r"expectations\[0\]", "can never hold"),
        ("expectations:\n  - {signal: angle_req, metric: max, below: 1, from: 1.5, until: 1}", 5, r"expectations\[0\].from", "is after until 1 s"),
        ("expectations:\n  - {signal: angle_req, metric: max, below: 1, from: 3}", 5, r"expectations\[0\].from", "after the end of the run at 2 s"),
        ("expectations:\n  - {signal: angle_req, metric: max, below: 1, from: 1 m}", 5, r"expectations\[0\].from", "cannot be turned into s"),
    ],
)
def test_a_mistake_is_answered_with_file_line_and_path(load, text, line, path, what):
    (problem,) = problems(load, HEAD + text)
    assert re.search(rf"s\.yaml:{line}: {path}: .*{what}", problem), problem


def test_times_out_of_range_are_refused(load):
    found = problems(load, "scenario: s\nduration: 0\ndt: -1 ms\n")
    assert re.search(r"s.yaml:2: duration: 0 s is outside its legal range", found[0])
    assert re.search(r"s.yaml:3: dt: -1 ms is outside its legal range", found[1])
    assert "are 100000000 ticks of 0.01 s" in problems(load, HEAD, duration=1e6)[0]
    assert problems(load, HEAD, duration="5 m") == ["--duration 5 m: duration: '5 m' is in m, which cannot be turned into s"]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(load):
    text = "seed: x\nsignals: {angel: 1, angle: [3]}\nfaults: [{kind: stuck, at: 1}]\n"
    text += "expectations: [{signal: a, metric: max, below: 1}, {metric: max}]\n"
    found = problems(load, "scenario: s\nduration: 0\ndt: 10 ms\n" + text)
    assert [p.split(": ")[1] for p in found] == [
        *("duration", "seed", "signals.angel", "signals.angle[0]", "faults[0]", "expectations[1]", "expectations[0].signal")
    ]


def test_what_the_tick_is_too_long_for_is_told_by_the_machine_file(load):
    (problem,) = problems(load, "scenario: s\nduration: 2\ndt: 0.5\n")
    assert re.search(r"m.yaml:.*parameters\.lag\.T.*shorter than the tick of 0.5 s", problem)
    assert load(HEAD).steps == 200, "the machine is still good for another scenario"


def test_a_signal_read_otherwise_than_written_leaves_a_note(load):
    (note,) = load(HEAD + "signals:\n  angle: [{type: wobble, t_end: 1, y_start: 1}]\n").notes
    assert re.search(r"s.yaml:5: .*wobble.*taken as constant", note)


def test_a_scenario_for_another_machine_leaves_a_note(load):
    (note,) = load(HEAD + "machine: car\n").notes
    assert "written for the machine car" in note


def test_a_scenario_for_another_machine_says_so_before_all_that_does_not_fit(load):
    found = problems(load, HEAD + "signals: {accel: 1, brake: 0}\nmachine: car\n")
    assert re.search("s.yaml:5: written for the machine car, run on m", found[0])
    assert len(found) == 3


def test_a_duration_that_is_no_whole_number_of_ticks_leaves_a_note(load):
    (note,) = load("scenario: s\nduration: 1\ndt: 0.03\n").notes
    assert re.search(r"s.yaml:2: 1 s are no whole number of ticks of 0.03 s; the run takes 1.02 s", note)
    assert load(HEAD, duration="105 ms").notes == ("--duration 105 ms: 0.105 s are no whole number of ticks of 0.01 s; the run takes 0.11 s",)
    assert load(HEAD).notes == ()


def test_a_machine_without_a_scenario_says_so(tiny):
    with pytest.raises(ConfigError, match="names no default scenario"):
        scenario.load(None, tiny)
