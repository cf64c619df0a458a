"""From a designed test to a fit: the errors that were expected are those that the fit has."""

import numpy as np
import pytest

from pushrod import identify, rollout
from pushrod.compiled.evaluate import evaluate
from pushrod.identify.belief import believe
from pushrod.identify.excite import excite
from pushrod.identify.subject import subject
from pushrod.signals import value
from pushrod.signals.forms import parse

NOISE = 0.002  # rad


def test_a_fit_of_the_designed_test_is_as_exact_as_was_said() -> None:
    machine = subject("plant:joint")
    asked = {"inputs": {"u": (-1.0, 1.0)}, "outputs": {"q": NOISE}, "limits": {"q": (-1.5, 1.5)}, "free": ("J", "b", "c")}
    found = excite(machine, **asked, duration=3.0, dt=5e-3, sample=5e-3, generations=4)
    n, dt = found.setup.steps, found.setup.dt
    u = evaluate(value, parse("u", found.signals["u"]), np.arange(n) * dt)
    q = rollout(machine.world, machine.params, {"u": u}, steps=n, dt=dt)["q"]
    assert np.max(np.abs(q)) <= 1.35 + 1e-9  # the limit less its margin
    seen = np.concatenate(([0.0], q[:-1])) + NOISE * np.random.default_rng(7).standard_normal(n)
    one = identify.trial(machine.world, {"t": np.arange(n) * dt, "u": u, "q": seen}, inputs={"u": "u"}, outputs={"q": "q"})
    ranges = {"J": (0.002, 0.2), "b": (0.005, 0.5), "c": (0.01, 1.0)}
    told = believe(identify.fit(identify.Problem(machine.world, [one], free=ranges, noise={"q": NOISE}), seeds=1))
    for row, estimate in zip(found.expected, told.estimates, strict=True):
        assert row.path == estimate.free.path
        assert estimate.sd == pytest.approx(row.sd, rel=0.25)
        assert abs(estimate.value - row.value) < 4.0 * row.sd
