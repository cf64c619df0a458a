"""Worlds that have noise of their own: candidates are compared without it, so that equal candidates are equal and intervals mean something."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fit_rig import names, rich

from pushrod import identify
from pushrod.compiled.rollout import rollout
from pushrod.core.record import put
from pushrod.identify.belief import believe
from pushrod.identify.sensitivity import Setup
from pushrod.log.table import Channel, Table
from pushrod.sim import machine as machines
from pushrod.sim import scenario as scenarios
from pushrod.sim.run import simulate
from pushrod.sim.worlds.servo import SERVO

DT = 0.001
TORQUE = rich(1500, DT, 2.0)
STILL = SERVO.Params()
for path, value in {"body.J": 0.003, "body.b": 0.08, "body.c": 0.0, "ramp.rise": 1e4, "ramp.fall": 1e4}.items():
    STILL = put(STILL, path, value)  # linear: what noise does to friction and to a rate limit would be another parameter
NOISY = put(STILL, "noise", 0.5)


def recording(seed: int) -> dict[str, np.ndarray]:
    w = rollout(SERVO, NOISY, {"torque_req": TORQUE}, steps=1500, dt=DT, seed=seed)["w"]
    scatter = 0.01 * np.ptp(w) * np.random.default_rng(seed).standard_normal(len(w))
    return {"t": np.arange(1501) * DT, "in_torque_req": np.append(TORQUE, TORQUE[-1]), "w": np.append(0.0, w + scatter)}


def problem(seed: int) -> identify.Problem:
    one = identify.trial(SERVO, recording(seed), **names(SERVO, {"torque_req": TORQUE}, ("w",)))
    params = put(put(NOISY, "body.J", 0.002), "body.b", 0.05)
    return identify.Problem(SERVO, [one], {"body.J": (0.001, 0.01), "body.b": (0.0, 0.3)}, params=params)


def test_equal_candidates_have_equal_losses_wherever_they_stand_in_a_population() -> None:
    asked = problem(1)
    losses = asked.losses(np.tile(asked.guess, (7, 1)))
    assert np.ptp(losses) == 0.0
    assert losses[0] == pytest.approx(float(asked.residuals(asked.guess) @ asked.residuals(asked.guess)), rel=1e-9)


def test_intervals_of_a_world_with_noise_hold_the_truth() -> None:
    hits = []
    for seed in range(1, 7):
        told = believe(identify.fit(problem(seed), seeds=1, generations=15))
        truth = {"body.J": 0.003, "body.b": 0.08}
        assert all(one.hi - one.lo > 1e-3 * one.value for one in told.estimates), "a width of 0 is that of a difference of noise"
        hits += [one.lo <= truth[one.free.path] <= one.hi for one in told.estimates]
    assert sum(hits) >= 10, "of 12 intervals of 95 %, three miss in one of 50 runs"


def test_an_interval_has_the_mean_error_that_noise_causes_at_a_rate_limit() -> None:
    """Noise at a rate limit looks like another inertia; residuals do not show by how much."""
    limited = put(put(put(NOISY, "ramp.rise", 50.0), "ramp.fall", 50.0), "body.J", 0.03)
    hits = []
    for seed in range(1, 7):
        w = rollout(SERVO, limited, {"torque_req": TORQUE}, steps=1500, dt=DT, seed=seed)["w"]
        data = {"t": np.arange(1501) * DT, "in_torque_req": np.append(TORQUE, TORQUE[-1]), "w": np.append(0.0, w)}
        one = identify.trial(SERVO, data, **names(SERVO, {"torque_req": TORQUE}, ("w",)))
        asked = identify.Problem(SERVO, [one], {"body.J": (0.01, 0.1), "body.b": (0.0, 0.3)}, params=limited)
        told = believe(identify.fit(asked, search=False))
        hits += [each.lo <= truth <= each.hi for each, truth in zip(told.estimates, (0.03, 0.08), strict=True)]
    assert sum(hits) >= 10


def test_noise_of_the_world_is_no_effect_that_the_model_lacks() -> None:
    """Noise on the torque leaves autocorrelated residuals; a drift that no noise explains is another matter."""
    told = believe(identify.fit(problem(1), search=False))
    assert told.coloured
    assert not any("lacks an effect" in doubt for doubt in told.doubts), told.doubts
    data = recording(1)
    data["w"] = data["w"] + 0.3 * np.ptp(data["w"]) * np.sin(7.0 * data["t"])
    one = identify.trial(SERVO, data, **names(SERVO, {"torque_req": TORQUE}, ("w",)))
    drifting = identify.Problem(SERVO, [one], {"body.J": (0.001, 0.01), "body.b": (0.0, 0.3)}, params=NOISY)
    assert any("lacks an effect" in doubt for doubt in believe(identify.fit(drifting, search=False)).doubts)


def test_a_recorded_run_has_no_doubt_about_its_own_tick() -> None:
    """The delay of this world depends on the tick, but the tick is part of the run that was recorded."""
    steps = 400
    params = put(put(STILL, "bus.delay", 0.0073), "noise", 0.0)
    u = rich(steps, DT, 2.0)
    run = rollout(SERVO, params, {"torque_req": u}, steps=steps, dt=DT)
    t = np.arange(steps) * DT
    channels = {
        "in.torque_req": Channel("in.torque_req", "N.m", "", t, u, "/in"),
        "w": Channel("w", "rad/s", "", t + DT, run["w"] + 1e-4 * np.random.default_rng(1).standard_normal(steps), "/out"),
    }
    said = []
    for about in ({}, {"pushrod": {"dt": repr(DT)}}):
        one = identify.trial(SERVO, Table(Path("a"), "mcap", channels, about), inputs={"torque_req": "in.torque_req"}, outputs={"w": "w"})
        assert one.dt == pytest.approx(DT)
        asked = identify.Problem(SERVO, [one], {"bus.delay": (0.0, 0.05)}, params=params)
        said.append("\n".join(believe(identify.fit(asked, search=False)).doubts))
    assert "depend on the tick" in said[0]
    assert "depend on the tick" not in said[1]


def test_a_designed_test_is_judged_without_the_noise_of_the_world() -> None:
    """Differences of neighbours would else be differences of noise, and each parameter would look well seen."""
    loud = Setup(SERVO, NOISY, None, DT, 400, 10, ("body.J", "body.b"), {"w": 0.01}, {}, {}, {})
    still = replace(loud, params=STILL)
    signals = [{"torque_req": 0.5}]
    assert loud.information(signals) == pytest.approx(still.information(signals), rel=1e-12)


def test_the_tick_is_that_of_the_recorded_run_else_the_time_between_samples() -> None:
    t = np.arange(1, 201) * 0.04
    y = np.sin(t)
    channels = {"in.torque_req": Channel("in.torque_req", "N.m", "", t - 0.04, y, "/in"), "w": Channel("w", "rad/s", "", t, y, "/out")}
    how = {"inputs": {"torque_req": "in.torque_req"}, "outputs": {"w": "w"}}
    assert identify.trial(SERVO, Table(Path("a"), "csv", channels), **how).dt == pytest.approx(0.04)
    assert identify.trial(SERVO, Table(Path("a"), "mcap", channels, {"pushrod": {"dt": "0.02"}}), **how).dt == 0.02
    assert identify.trial(SERVO, Table(Path("a"), "mcap", channels, {"pushrod": {"dt": "0.02"}}), **how, dt=0.01).dt == 0.01
    assert identify.trial(SERVO, Table(Path("a"), "mcap", channels, {"pushrod": {"dt": "soon"}}), **how).dt == pytest.approx(0.04)


@pytest.mark.soak
def test_the_mass_of_the_boat_is_found_from_a_zigzag_with_sensor_noise(tmp_path: Path) -> None:
    from pushrod import log
    from pushrod.sim.recording import record

    boat = machines.load("boat")
    hits = []
    for seed in range(1, 5):
        run = simulate(boat, replace(scenarios.load("boat_zigzag", boat), seed=seed))
        file = record(run, tmp_path / f"{seed}")
        one = identify.trial(boat.world, log.read(file), inputs={"v_req": "in.v_req", "psi_req": "in.psi_req"}, outputs={"v": "v", "psi": "psi"})
        asked = identify.Problem(boat.world, [one], {"hull.m": (10.0, 60.0), "hull.surge.q": (5.0, 60.0)}, params=boat.params)
        told = believe(identify.fit(asked, seeds=1, generations=10))
        assert one.dt == 0.02
        assert [each.value for each in told.estimates] == pytest.approx([30.0, 22.0], rel=0.05)
        hits += [each.lo <= truth <= each.hi for each, truth in zip(told.estimates, (30.0, 22.0), strict=True)]
    assert sum(hits) >= 6, "dead zones and limits under noise move the mass by a percent and a half, which no residual shows"
