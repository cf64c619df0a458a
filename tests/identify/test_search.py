"""The search: least squares from several starts where the loss is smooth, evolution where it is not."""

import math
from typing import Annotated as A
from typing import NamedTuple

import numpy as np
import pytest
from fit_rig import names, recorded, rich

from pushrod import identify
from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.identify.search import Progress
from pushrod.models import first_order
from pushrod.models.first_order import FIRST_ORDER

DT = 0.002
U = rich(600, DT)


def problem(model: Model, true: object, free: dict[str, tuple[float, float]]) -> identify.Problem:
    data = recorded(model, true, {"u": U}, DT, ("y",))
    return identify.Problem(model, [identify.trial(model, data, **names(model, {"u": U}, ("y",)))], free)


def stages(asked: identify.Problem, **how: object) -> tuple[identify.Fit, set[str]]:
    seen: set[str] = set()

    def told(now: Progress) -> None:
        seen.add(now.stage)

    return identify.fit(asked, told=told, **how), seen


def test_a_smooth_loss_needs_no_evolution() -> None:
    fitted, seen = stages(problem(FIRST_ORDER, FIRST_ORDER.Params(0.08, 1.7), {"T": (1e-3, 10.0), "K": (0.0, 100.0)}), seeds=2)
    assert "evolving" not in seen
    assert fitted.values == pytest.approx({"T": 0.08, "K": 1.7}, rel=0.02)
    assert fitted.simulated < 1000, "of 80 generations of 24 each seed would need twice as many"


class Steps(NamedTuple):
    a: A[float, Q("-", 0.0, 1.0)] = 0.9
    b: A[float, Q("-", 0.0, 1.0)] = 0.9
    c: A[float, Q("-", 0.0, 1.0)] = 0.1


@pure
def step(p: Steps, s: first_order.State, u: float, dt: float) -> tuple[first_order.State, float]:
    """A gain for each sign of the input and one for large inputs, in steps of a fiftieth: a loss without a slope."""
    a, b, c = math.floor(50.0 * p.a) / 50.0, math.floor(50.0 * p.b) / 50.0, math.floor(50.0 * p.c) / 50.0
    gain = a if u > 0.0 else b
    return s, gain * u + (c * (u - 0.3) if u > 0.3 else 0.0)


STEPS = Model("steps", Steps, first_order.State, FIRST_ORDER.In, FIRST_ORDER.Out, step)


def test_a_loss_without_a_slope_is_searched_by_evolution() -> None:
    fitted, seen = stages(problem(STEPS, Steps(0.33, 0.57, 0.41), dict.fromkeys(("a", "b", "c"), (0.0, 1.0))), seeds=1)
    assert "evolving" in seen
    assert [math.floor(50.0 * value) for value in fitted.values.values()] == [16, 28, 20]


def test_a_parameter_without_effect_keeps_its_guess_and_the_others_are_found() -> None:
    asked = problem(STEPS, Steps(0.33, 0.57, 0.41), {"a": (0.0, 1.0)})
    still = identify.Problem(FIRST_ORDER, asked.trials, {"T": (1e-9, 1e-6), "K": (0.0, 10.0)}, params=FIRST_ORDER.Params(3e-8, 1.0))
    fitted = identify.fit(still, seeds=2, ignore_problems=True)
    assert fitted.values["T"] == pytest.approx(3e-8, rel=1e-9)
    assert np.isfinite(fitted.values["K"])
