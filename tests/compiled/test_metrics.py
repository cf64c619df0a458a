"""Metrics folded inside the run equal what numpy says of the stored trajectory."""

import importlib.util
import math

import numpy as np
import pytest
from lag_world import LAG_WORLD, Params

from pushrod import metrics
from pushrod.compiled.rollout import batch, rollout
from pushrod.core.errors import InputError

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


def test_a_window_and_a_difference_are_what_numpy_says_of_them() -> None:
    inputs = {"u": np.sin(np.arange(STEPS) * 0.02)}
    measures = {
        "peak": metrics.maximum("y").within(0.1, 0.25),
        "apart": metrics.magnitude("y", to="in.u").within(0.05),
        "late": metrics.rms("u_late", to="y").within(0.0, 0.3),
        "asked": metrics.mean("in.u"),
    }
    run = rollout(LAG_WORLD, Params(noise=0.0), inputs, steps=STEPS, dt=DT, metrics=measures)
    y, t, u = run["y"], run.t, inputs["u"]
    assert run.metrics["peak"] == y[(t >= 0.1) & (t <= 0.25)].max()
    assert run.metrics["apart"] == np.abs(y - u)[t >= 0.05].max()
    assert math.isclose(run.metrics["late"], math.sqrt(np.mean((run["u_late"] - y)[t <= 0.3] ** 2)), rel_tol=1e-13)
    assert math.isclose(run.metrics["asked"], u.mean(), rel_tol=1e-13)


def test_a_window_in_which_no_tick_ends_is_refused() -> None:
    for since, until in ((0.5, math.inf), (0.1002, 0.1008)):
        with pytest.raises(InputError, match=r"metrics\['peak'\] looks from .* where no tick ends; the run ends its ticks from 0.001 s to 0.4 s"):
            rollout(LAG_WORLD, None, {"u": 1.0}, steps=STEPS, dt=DT, metrics={"peak": metrics.maximum("y").within(since, until)})


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda (pip install 'pushrod[cuda]') has no wheels on this platform")
def test_what_is_folded_on_a_gpu_in_float32_needs_no_float64() -> None:
    from pushrod.compiled.ptx import compile_ptx

    measures = [metrics.maximum("y").within(0.1, 0.25), metrics.rms("y", to="in.u").within(0.1), metrics.recovery_time("y", 0.0, 0.1, to="u_late")]
    assert compile_ptx(LAG_WORLD, metrics=[*measures, metrics.mean("y"), metrics.crossing_time("y", 0.5)]).doubles == []
