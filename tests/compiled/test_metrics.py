"""Metrics folded inside the run equal what numpy says of the stored trajectory."""

import math

import numpy as np
from lag_world import LAG_WORLD, Params

from pushrod import metrics
from pushrod.compiled.rollout import batch, rollout

STEPS, DT = 400, 1e-3
MEASURES = {
    "peak": metrics.maximum("y"),
    "low": metrics.minimum("y"),
    "end": metrics.final("y"),
    "rms": metrics.rms("y", target=1.0),
    "settled": metrics.settling_time("y", target=1.25, band=0.05),
    "never_settled": metrics.settling_time("y", target=9.0, band=0.05),
    "rise": metrics.crossing_time("y", 0.5),
    "never": metrics.crossing_time("y", 50.0),
    "fall": metrics.crossing_time("u_late", 0.5, falling=True),
}


def test_metrics_of_a_rollout() -> None:
    run = rollout(LAG_WORLD, Params(noise=0.0), {"u": 1.0}, steps=STEPS, dt=DT, metrics=MEASURES)
    y, t, m = run["y"], run.t, run.metrics
    assert m["peak"] == y.max()
    assert m["low"] == y.min()
    assert m["end"] == y[-1]
    assert math.isclose(m["rms"], math.sqrt(np.mean((y - 1.0) ** 2)), rel_tol=1e-14)
    outside = np.flatnonzero(np.abs(y - 1.25) > 0.05)
    assert math.isclose(m["settled"], t[outside[-1] + 1])
    assert m["never_settled"] == math.inf
    assert math.isclose(m["rise"], t[np.argmax(y >= 0.5)])
    assert m["never"] == math.inf
    assert math.isclose(m["fall"], DT)
    assert run.metric_units["rise"] == "s"
    assert run.metric_units["peak"] == "V"


def test_metrics_of_a_batch_need_no_trajectories() -> None:
    T = np.linspace(0.01, 0.2, 70)
    run = batch(LAG_WORLD, Params(noise=0.0), {"u": 1.0}, steps=STEPS, dt=DT, vary={"lag.T": T}, metrics=MEASURES)
    assert run.data.shape[0] == 0
    assert run.metrics["rise"].shape == (70,)
    assert np.all(np.diff(run.metrics["rise"]) >= 0.0)


def test_float32_rms_loses_nothing_over_many_ticks() -> None:
    steps = 500_000
    wave = {"u": np.where(np.arange(1000) % 2 == 0, 1.0, 0.9)}
    a = rollout(LAG_WORLD, None, wave, steps=steps, dt=DT, every=steps, metrics={"rms": metrics.rms("y")}).metrics["rms"]
    b = rollout(LAG_WORLD, None, wave, steps=steps, dt=DT, every=steps, metrics={"rms": metrics.rms("y")}, dtype="float32").metrics["rms"]
    assert math.isclose(a, b, rel_tol=1e-5)
