"""The shipped machines: every scenario runs, everything it expects holds, and each knob and fault is felt."""

import math

import numpy as np
import pytest

from pushrod.config import yaml_file
from pushrod.live.run import outcome
from pushrod.sim import machine, scenario
from pushrod.sim.run import simulate

SCENARIOS = scenario.shipped()


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_runs_on_its_machine_and_keeps_its_expectations(name):
    what = machine.load(yaml_file.load(SCENARIOS[name]).data["machine"])
    result = outcome(what, scenario.load(name, what))
    assert result.outcomes, "a shipped scenario expects something"
    assert [str(outcome.expectation) for outcome in result.outcomes if not outcome.held] == []
    assert [column for column, values in result.columns.items() if not np.all(np.isfinite(values))] == []
    assert result.responses, "a shipped machine tracks something"


@pytest.mark.parametrize("name", machine.shipped())
def test_every_machine_has_a_name_like_its_file_a_line_about_it_and_a_scenario(name):
    what = machine.load(name)
    assert what.name == name
    assert what.about
    assert what.scenario in SCENARIOS


def response(name, overrides=(), pair=0):
    what = machine.load(name, overrides)
    return simulate(what, scenario.load(None, what)).responses[pair][1]


def test_a_longer_dead_time_of_the_steering_is_measured_as_such():
    late, normal = response("car", ["dead_time.steer=150 ms"]), response("car")
    assert late.delay - normal.delay == pytest.approx(0.1, abs=0.03)
    assert late.error_rms > 1.3 * normal.error_rms


def test_a_weak_wheel_saturates_longer():
    strong, weak = response("satellite", pair=5), response("satellite", ["wheel_max.z=2", "control.torque_max.z=2"], pair=5)
    assert weak.saturation_time > strong.saturation_time


BY_HAND = ["req.u_s_req", "req.u_d_req"]


@pytest.mark.parametrize(("name", "rows"), [("boat_manual", BY_HAND), (None, ["v_req", "psi_req", *BY_HAND])])
def test_the_boat_is_held_to_what_was_asked_of_it_and_saturated_while_its_pipeline_says_so(name, rows):
    what = machine.load("boat")
    result = simulate(what, scenario.load(name, what))
    assert [pair.request for pair, _ in result.responses] == rows, "by hand nobody asks for a speed"
    y = result.columns
    for (pair, response), axis in zip(result.responses[-2:], "sd", strict=True):
        limited = np.any([np.abs(y[f"diag.loss_{axis}.{stage}"]) > 1e-6 for stage in ("envelope", "allocation", "clamp", "slew")], axis=0)
        assert response.saturation_time == pytest.approx(limited.sum() * result.scenario.dt), pair.request
        assert limited.mean() < 0.5
    assert result.responses[-2][1].saturation_time > 0.0


def test_how_long_the_car_stands_at_the_end_changes_no_figure_of_its_steps():
    what = machine.load("car")
    short, long = (simulate(what, scenario.load(None, what, duration)).responses for duration in ("29 s", "300 s"))
    for (_, a), (_, b) in zip(short, long, strict=True):
        assert a.rise_time == pytest.approx(b.rise_time, rel=1e-3)
        assert a.overshoot == pytest.approx(b.overshoot, abs=1e-3)


def test_the_lane_change_of_the_car_is_one_lane_and_ends_straight_ahead():
    what = machine.load("car")
    c = simulate(what, scenario.load(None, what)).columns
    before, after = 1899, 2799
    yaw, dx, dy = c["yaw"][before], c["x"][after] - c["x"][before], c["y"][after] - c["y"][before]
    assert math.cos(yaw) * dy - math.sin(yaw) * dx == pytest.approx(3.5, abs=0.1)
    assert c["yaw"][after] == pytest.approx(yaw, abs=math.radians(0.3))
