"""The same losses on a GPU, and a fit there."""

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.models.servo import SERVO

DT = 0.002


@pytest.mark.gpu
def test_losses_and_fit_on_a_gpu_are_those_of_the_cpu() -> None:
    goal = rich(500, DT)
    one = identify.trial(SERVO, recorded(SERVO, SERVO.Params(), {"goal": goal}, DT, ("q",)), **names(SERVO, {"goal": goal}, ("q",)))
    there, here = (identify.Problem(SERVO, [one], {"kp": (1.0, 20.0), "J": None}, device=device) for device in ("cuda", "cpu"))
    Z = np.random.default_rng(0).random((300, 2))
    assert there.losses(Z) == pytest.approx(here.losses(Z), rel=1e-6)
    assert there.residuals(Z[0]) == pytest.approx(here.residuals(Z[0]), rel=1e-6, abs=1e-6)
    assert identify.fit(there, seeds=1, generations=20).values == pytest.approx(identify.fit(here, seeds=1, generations=20).values, rel=1e-3)
