"""Two runs of a scenario that differ in one parameter: the number of each, which way round, and the answer to each mistake."""

import math
import shutil
from pathlib import Path

import pytest

from pushrod.core.errors import ConfigError
from pushrod.sim import machine, scenario
from pushrod.sim.run import simulate

HERE = Path(__file__).parent
HEAD = "scenario: s\nduration: 2 s\ndt: 10 ms\nsignals: {angle: [{at: 500 ms, constant: 0.5}]}\n"
LAG = "{parameter: lag.T, values: [100 ms, 200 ms], signal: angle_ach, metric: recovery_time, to: angle_req, band: 0.1, from: 500 ms, times: 1.9}"


@pytest.fixture
def load(tmp_path):
    shutil.copy(HERE / "tiny_world.py", tmp_path)
    (tmp_path / "m.yaml").write_text("machine: m\nworld: tiny_world.py:TINY\n")
    tiny = machine.load(str(tmp_path / "m.yaml"), trust=True)

    def load_text(text):
        (tmp_path / "s.yaml").write_text(text)
        return tiny, scenario.load(str(tmp_path / "s.yaml"), tiny)

    return load_text


def test_a_lag_twice_as_long_takes_twice_as_long(load):
    result = simulate(*load(f"{HEAD}compare: [{LAG}]\n"))
    (found,) = result.compared
    assert found.values[0] == pytest.approx(0.1 * math.log(5.0), abs=0.011)
    assert found.values[1] == pytest.approx(0.2 * math.log(5.0), abs=0.011)
    assert found.ratio == pytest.approx(2.0, abs=0.1)
    assert found.held
    assert result.held
    assert found.comparison.labels == ("lag.T = 100 ms", "lag.T = 200 ms")


def test_the_run_itself_is_as_without_a_comparison(load):
    plain, compared = simulate(*load(HEAD)), simulate(*load(f"{HEAD}compare: [{LAG}]\n"))
    assert plain.compared == ()
    assert (plain.columns["angle_ach"] == compared.columns["angle_ach"]).all()


def test_too_small_a_difference_does_not_hold_and_the_other_way_round_neither(load):
    for text in (LAG.replace("times: 1.9", "times: 3"), LAG.replace("[100 ms, 200 ms]", "[200 ms, 100 ms]")):
        result = simulate(*load(f"{HEAD}compare: [{text}]\n"))
        assert not result.compared[0].held
        assert not result.held


def test_without_times_it_is_only_told(load):
    result = simulate(*load(f"{HEAD}compare: [{LAG.replace(', times: 1.9', '').replace('[100 ms, 200 ms]', '[200 ms, 100 ms]')}]\n"))
    assert result.compared[0].ratio == pytest.approx(0.5, abs=0.05)
    assert result.held


def test_one_that_never_comes_back_is_infinitely_worse_and_nothing_is_better_than_one(load):
    never = LAG.replace("lag.T, values: [100 ms, 200 ms]", "lag.angle_max, values: [1, 0.2]")
    found = simulate(*load(f"{HEAD}compare: [{never}]\n")).compared[0]
    assert found.values[1] == math.inf
    assert found.ratio == math.inf
    assert found.held
    back = simulate(*load(f"{HEAD}compare: [{never.replace('[1, 0.2]', '[0.2, 1]')}]\n")).compared[0]
    assert back.ratio is None
    assert not back.held


def test_cases_and_flags_go_by_their_names(load):
    text = LAG.replace("lag.T, values: [100 ms, 200 ms]", "mode, values: [instant, lagged]")
    found = simulate(*load(f"{HEAD}compare: [{text}]\n")).compared[0]
    assert found.held
    assert found.comparison.labels[0] == "mode = instant"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("lag.T", "lag.t", "there is no parameter named 'lag.t'; did you mean 'lag.T'?"),
        ("200 ms", "200 m", "which cannot be turned into s"),
        ("200 ms", "200 s", "is outside its legal range; allowed [0.001, 10] s"),
        ("200 ms", "2 ms", "2 ms is shorter than the tick"),
        ("angle_ach", "angle", "there is no signal named 'angle'"),
        ("recovery_time", "recovery", "there is no metric named 'recovery'"),
        (", band: 0.1", "", "metric recovery_time needs `band`"),
        ("[100 ms, 200 ms]", "[100 ms]", "compare[0].values"),
        ("500 ms, times", "5 s, times", "is after the end of the run"),
        ("times: 1.9", "times: -1", "compare[0].times"),
        ("times: 1.9", "time: 2", "time"),
    ],
)
def test_a_mistake_is_answered_with_its_line(load, old, new, what):
    if what.startswith("2 ms"):
        what = "0.002 s is shorter than the tick of 0.01 s"
    with pytest.raises(ConfigError) as raised:
        load(f"{HEAD}compare:\n  - {LAG.replace(old, new)}\n")
    assert any("s.yaml:6: " in text and what in text for text in raised.value.problems), raised.value.problems


def test_what_runs_through_the_runtime_is_not_compared(tmp_path):
    arm = machine.load("arm")
    head = "scenario: s\nduration: 1 s\ndt: 1 ms\n"
    commands = "commands: [{at: 0.2 s, to: shoulder_motor, position: 60 deg}]\n"
    entry = "compare: [{parameter: arm.payload, values: [0, 1], signal: shoulder.q, metric: max}]\n"
    (tmp_path / "s.yaml").write_text(head + commands + entry)
    with pytest.raises(ConfigError, match="s.yaml:5: compare: a scenario that commands actuators"):
        scenario.load(str(tmp_path / "s.yaml"), arm)
    (tmp_path / "s.yaml").write_text(head + entry)
    assert scenario.load(str(tmp_path / "s.yaml"), arm).comparisons
