"""The certificate of an allocation: computed from the outputs, true, and not 0 where a stage, a bound or the command itself spoils them."""

import math

import numpy as np
import pytest
from effector_sets import authority, commands, first, half_ranges, health_range, healths, laws, matrix, sizes
from hypothesis import given, settings
from test_allocation import COUNT, allocated, both, kept

from pushrod.core.model import Model
from pushrod.pipeline.allocate import solve
from pushrod.pipeline.allocate.axes import Axes, Health
from pushrod.pipeline.allocate.box import Solved
from pushrod.pipeline.allocate.effectiveness import Params
from pushrod.pipeline.allocate.priority import PRIORITY
from pushrod.pipeline.allocate.weighted import WEIGHTED


@given(p=laws(), v=commands(), k=healths)
@settings(max_examples=COUNT)
def test_the_certificate_of_the_weighted_answer_is_true(p: Params, v: Axes, k: Health) -> None:
    n, m = sizes(p)
    y = allocated(WEIGHTED, p, v, k)
    r, half = authority(p), half_ranges(p)
    weight = np.array(p.weight) * r**2 * kept(p, y)
    A = matrix(p) * half / r[:, None] * (np.array(k[:n]) > 0.0)
    lo, hi = (end * np.array(k[:n]) / half for end in health_range(p, k))
    x = first(y.u, n) * np.array(k[:n]) / half
    g = A.T @ (weight / max(weight.max(initial=0.0), 1e-300) * (A @ x - first(v, m) / r))
    moves = np.abs(x - np.clip(x - g, lo, hi)).max()
    assert y.optimality == pytest.approx(moves, abs=1e-9 * max(1.0, np.abs(g).max()))


@both
@pytest.mark.parametrize("share", [0.06, 0.075, 0.09])
def test_the_certificate_shows_what_the_bound_on_the_gain_refuses(model: Model, share: float) -> None:
    """The second effector is used for a part of its range alone; the axis lacks the rest of it."""
    law = Params((1.0, share), (1.0,), (0.0,), (-1.0, -1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 1.0))
    r = authority(law)[0]
    y = allocated(model, law, Axes(1.0 + share))
    lack = (1.0 + share - y.v.a0) / r
    assert lack > 0.01
    assert y.optimality == pytest.approx(lack if model is PRIORITY else share / r * lack)


@both
def test_the_certificate_shows_that_many_alike_are_each_too_weak_for_a_small_gain(model: Model) -> None:
    """Eight on one axis: each does 1 / sqrt(8) of its authority, less than 1 / gain_max."""
    law = Params((1.0,) * 8, (1.0,), (0.0,), (-1.0,) * 8, (1.0,) * 8, (0.0,) * 8, (1.0,) * 8, gain_max=2.0)
    y = allocated(model, law, Axes(8.0))
    assert y.v.a0 < 4.0
    assert y.optimality > 0.1


@both
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("i", range(4))
def test_a_command_that_is_not_finite_is_refused(model: Model, bad: float, i: int) -> None:
    quad = Params(lo=(0.0,) * 4, hi=(1.0, 1.0, 0.5, 1.0), prefer=(0.3,) * 4)
    y = allocated(model, quad, Axes(1.0, 0.1, 0.0, 0.0)._replace(**{f"a{i}": bad}))
    assert (y.refused, y.u) == (1.0, (0.0,) * 8)
    assert y.optimality > 1e6, "it must not look optimal"
    fine = allocated(model, quad, Axes(1.0, 0.1, 0.0, 0.0, math.nan, math.nan))
    assert (fine.refused, fine.optimality < 1e-12) == (0.0, True), "what lies beyond its axes does not matter"


@pytest.mark.parametrize("stage", ["served", "nearest", "outputs"])
def test_the_certificate_by_priority_shows_a_stage_that_does_not_work(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed from what is sent, so whatever spoils that shows."""
    quad = Params(order=(1.0, 2.0, 0.0, 3.0), lo=(0.0,) * 4)
    ask = Axes(4.0, 1.0, 0.3, 0.5)
    assert allocated(PRIORITY, quad, ask).optimality <= 1e-12
    broken = {
        "served": lambda x, reduced, *rest: solve.Level(x, reduced),
        "nearest": lambda x, *rest: (0.5, *x[1:]),
        "outputs": lambda u, p, x, k, a, b, lo, hi, n: (0.0,) * 8,
    }
    monkeypatch.setattr(solve, stage, broken[stage])
    assert allocated(PRIORITY, quad, ask).optimality > 0.01


@pytest.mark.parametrize("stage", ["least_squares", "nearest", "outputs"])
def test_the_weighted_certificate_shows_a_stage_that_does_not_work(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law = Params((1.0, 1.0, 0.0, 0.0, 1.0, 1.0), (1.0,) * 2, (0.0, 1.0), (-1.0,) * 3, (1.0,) * 3, (0.0,) * 3, (1.0,) * 3)
    ask = Axes(3.0, -1.0)
    assert allocated(WEIGHTED, law, ask).optimality <= 1e-12
    broken = {
        "least_squares": lambda x, *rest: Solved(x, 0.0),
        "nearest": lambda x, *rest: (0.1, *x[1:]),
        "outputs": lambda u, p, x, k, a, b, lo, hi, n: (0.0,) * 8,
    }
    monkeypatch.setattr(solve, stage, broken[stage])
    assert allocated(WEIGHTED, law, ask).optimality > 0.01
