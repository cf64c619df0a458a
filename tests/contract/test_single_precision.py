"""What single precision must not change: a decision."""

import numpy as np
import pytest

from pushrod.compiled.rollout import batch
from pushrod.pipeline.n_motor_pipeline import N_MOTOR_PIPELINE
from pushrod.pipeline.names import AUTOPILOT

STEPS, DT = 50, 0.01


@pytest.mark.soak
def test_a_command_that_is_met_is_called_met() -> None:
    """The solver misses by its own rounding, 1e-5 there; no flag of saturation may come of it."""
    rng = np.random.default_rng(3)
    inputs = {f"req.a{i}": 0.2 * rng.uniform(-1.0, 1.0, STEPS) for i in range(4)} | {"src": np.full(STEPS, AUTOPILOT)}
    double, single = (batch(N_MOTOR_PIPELINE, None, inputs, n=1, steps=STEPS, dt=DT, every=1, dtype=dtype) for dtype in ("float64", "float32"))
    for flag in ("sat_any", "sat_alloc", "sat_cmd_stage", "sat_motor_stage"):
        assert (double[flag] == single[flag]).all(), flag
    assert not double["sat_alloc"].any()
    assert double["ach.a0"].any()
