"""A run is the world stepped tick by tick, whatever the chunks, and its expectations are judged on what came out."""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from pushrod.core.errors import ConfigError, InputError
from pushrod.core.model import Tick
from pushrod.sim import machine, run, scenario

HERE = Path(__file__).parent
SCENARIO = """scenario: s
duration: 1 s
dt: 10 ms
initial: {angle: 0.2}
signals:
  angle: [{at: 0.2, constant: 0.5}]
"""


@pytest.fixture
def simulate(tmp_path):
    shutil.copy(HERE / "tiny_world.py", tmp_path)
    (tmp_path / "m.yaml").write_text(
        "machine: m\nworld: tiny_world.py:TINY\ntrack: [{request: angle_req, achieved: angle_ach, limit: lag.angle_max}]\n"
    )
    what = machine.load(str(tmp_path / "m.yaml"), trust=True)

    def simulate_text(text, **over):
        (tmp_path / "s.yaml").write_text(text)
        return run.simulate(what, scenario.load(str(tmp_path / "s.yaml"), what, **over))

    return simulate_text


def test_a_run_is_the_plain_step_over_every_tick(simulate):
    result = simulate(SCENARIO)
    world, how = result.machine.world, result.scenario
    s, plain = how.state, []
    for k in range(how.steps):
        u = world.In(*(float(result.columns[f"in.{name}"][k]) for name in world.In._fields))
        s, y = world.step(how.params, s, u, Tick(k, how.dt, how.seed))
        plain.append(y)
    for j, name in enumerate(world.Out._fields):
        assert result.columns[name].tolist() == [y[j] for y in plain]
    assert result.t.tolist() == [(k + 1) * how.dt for k in range(how.steps)]


def test_a_channel_without_a_signal_keeps_its_default(simulate):
    result = simulate(SCENARIO)
    assert set(result.columns["push"]) == {0.5}
    assert result.columns["in.angle"][19:22].tolist() == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("steps", [1, 2, 3, 19, 20, 21, 1000])
def test_chunks_cover_every_tick_once(steps):
    ends = run.chunk_ends(steps)
    assert ends[0] == 1
    assert ends[-1] == steps
    assert ends == sorted(set(ends))


def test_progress_counts_ticks_up_to_the_end(tmp_path, simulate):
    result = simulate(SCENARIO)
    seen = []
    run.simulate(result.machine, result.scenario, lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 100)
    assert seen[-1] == (100, 100)
    assert len(seen) > 15


def test_many_ticks_are_sampled_compiled_with_the_same_numbers(simulate, monkeypatch):
    few = simulate(SCENARIO)
    monkeypatch.setattr(run, "PLAIN", 10)
    assert run.sample(few.machine, few.scenario)["angle"].tolist() == few.columns["in.angle"].tolist()


def test_a_run_that_memory_cannot_hold_is_refused_before_it_begins(simulate, monkeypatch):
    monkeypatch.setattr(run, "free_memory", lambda: 10_000)
    with pytest.raises(InputError, match=r"s.yaml: 100 ticks of 5 signals take about .* GB are free; make the run shorter than 0.625 s or dt longer"):
        simulate(SCENARIO)


def test_a_fault_acts_at_its_time(simulate):
    stuck = "faults: [{channel: angle, kind: stuck, at: 100 ms, until: 500 ms}]\n"
    angle = simulate(SCENARIO.replace("angle: 0.2}", "angle: 0}") + stuck).columns["angle_ach"]
    assert np.all(angle[:50] == 0.0)
    assert angle[-1] == pytest.approx(0.5 * (1.0 - math.exp(-5.0)), rel=1e-9)


def test_a_signal_beyond_the_range_of_its_channel_is_refused(simulate):
    with pytest.raises(ConfigError, match=r"s.yaml:5: signals.angle: reaches 3.204 rad at 0.534 s, outside the range of the channel"):
        simulate("scenario: s\nduration: 1\ndt: 1 ms\nsignals:\n  angle: [{for: 1, linear: [0, 6]}]\n")


def test_expectations_say_which_held(simulate):
    text = """expectations:
  - {signal: angle_ach, metric: max, below: 0.5}
  - {signal: angle_ach, metric: final, near: 0.5, within: 1 deg}
  - {signal: angle_ach, metric: settling_time, goal: 0.5, band: 0.01, below: 600 ms}
  - {signal: angle_ach, metric: settling_time, goal: 0.5, band: 0.01, below: 100 ms}
  - {signal: angle_ach, metric: rms_error, to: angle_req, below: 0.01, from: 0.9}
  - {signal: angle_ach, metric: rise_time, to: angle_req, near: 220 ms, within: 5 ms}
  - {signal: angle_ach, metric: overshoot, to: angle_req, below: 1 %}
  - {signal: angle_ach, metric: delay, to: angle_req, above: 20 ms, below: 150 ms}
  - {signal: push, metric: delay, to: angle_req, below: 1}
  - {signal: in.push, metric: mean, near: 0.5, within: 0}
  - {signal: angle_ach, metric: min, above: 0.1}
  - {signal: angle_ach, metric: max, below: 1, from: 5 s}
"""
    with pytest.raises(ConfigError, match=r"expectations\[11\].from: from 5 s is after the end of the run at 1 s"):
        simulate(SCENARIO + text)
    result = simulate(SCENARIO + text, duration="1 s")  # somebody cut it short
    assert [outcome.held for outcome in result.outcomes] == [True, True, True, False, True, True, True, True, False, True, False, False]
    assert not result.held
    assert [outcome.value for outcome in result.outcomes][-1] is None
    assert str(result.outcomes[4].expectation) == "rms_error of angle_ach against angle_req from 0.9 s"


def test_bounds_read_as_one_would_say_them(simulate):
    bounds = [("near: 0.5, within: 0", "= 0.5 rad"), ("above: 0, below: 1", "0 … 1 rad"), ("below: 1", "≤ 1 rad"), ("above: 0", "≥ 0 rad")]
    entries = "".join(f"  - {{signal: angle_ach, metric: max, {text}}}\n" for text, _ in bounds)
    result = simulate(SCENARIO + "expectations:\n" + entries)
    assert [outcome.expectation.bounds for outcome in result.outcomes] == [said for _, said in bounds]


def test_the_same_seed_gives_the_same_bits_and_a_response_per_pair(simulate):
    a, b = simulate(SCENARIO), simulate(SCENARIO)
    assert all(np.array_equal(a.columns[name], b.columns[name]) for name in a.columns)
    ((pair, response),) = a.responses
    assert (pair.request, pair.achieved, response.saturation_time) == ("angle_req", "angle_ach", 0.0)
