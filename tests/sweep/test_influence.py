"""Which parameters matter, held to functions whose indices are known."""

import numpy as np
import pytest
from known_models import ISHIGAMI, LINEAR, MODELS, Model, drawn_by, first_order
from scipy.stats import spearmanr

from pushrod.sweep.influence import influences, ranked

EVERY = ["random", "lhs", "sobol", "saltelli"]


def blocks(n: int, of: int = 16) -> np.ndarray:
    return np.arange(n) % of


def of_chance(x: np.ndarray) -> list:
    return [ranked(x, blocks(len(x)), 16)]


def ishigami(n: int, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    u = np.random.default_rng(seed).uniform(0.0, 1.0, (3, n))
    return list(u), ISHIGAMI.y(u)


@pytest.mark.parametrize("design", EVERY)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_first_order_indices_are_unbiased_in_every_design(design: str, model: Model) -> None:
    """The mean of 40 studies of 640 samples, to four times its own error and a thousandth."""
    found = np.array([[one.S for one in first_order(model, drawn_by(design, 640, seed))] for seed in range(40)])
    error = 4.0 * found.std(axis=0, ddof=1) / np.sqrt(40) + 1e-3
    assert (np.abs(found.mean(axis=0) - model.S) < error).all(), (found.mean(axis=0), model.S, error)


@pytest.mark.parametrize("design", EVERY)
def test_first_order_indices_of_ishigami(design: str) -> None:
    found = first_order(ISHIGAMI, drawn_by(design, 40_960, 1))
    for one, S in zip(found, ISHIGAMI.S, strict=True):
        assert pytest.approx(S, abs=0.012) == one.S
        assert abs(one.S - S) < 1.6 * one.S_error
    assert [one.is_seen for one in found[:2]] == [True, True]
    assert abs(found[1].rho) < 0.02  # it matters, and goes neither way


@pytest.mark.parametrize("design", EVERY)
def test_intervals_hold_as_often_as_they_say(design: str) -> None:
    """Sixty studies of a linear model: 57 of 60, give or take 1.7."""
    held = np.zeros(3)
    for seed in range(60):
        found = first_order(LINEAR, drawn_by(design, 640, seed))
        held += [abs(one.S - S) <= one.S_error for one, S in zip(found, LINEAR.S, strict=True)]
    assert (held >= 51).all(), held


def test_the_rank_correlation_is_spearmans_with_ties() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 5, 400).astype(float), rng.normal(size=400).round(1)
    y += 0.2 * x
    assert influences([of_chance(x)], [y])[0].rho == pytest.approx(spearmanr(x, y).statistic, rel=1e-12)


def test_what_never_came_has_the_last_rank() -> None:
    x = np.random.default_rng(2).permutation(np.linspace(0.0, 1.0, 500))
    y = np.where(x > 0.8, np.inf, x)
    one = influences([of_chance(x)], [y])[0]
    assert one.rho > 0.99
    assert pytest.approx(1.0, abs=0.02) == one.S


@pytest.mark.parametrize("y", [np.zeros(200), np.full(200, np.nan), np.full(200, np.inf)], ids=["alike", "no numbers", "never"])
def test_nothing_is_said_where_nothing_can_be_told(y: np.ndarray) -> None:
    one = influences([of_chance(np.arange(200.0))], [y])[0]
    assert np.isnan(one.S)
    assert not one.is_seen


def test_a_grid_has_shares_without_doubt() -> None:
    """y = a + 2 b on a full grid: the shares are 1/5 and 4/5, of all."""
    a, b = (g.ravel() for g in np.meshgrid(np.arange(5.0), np.arange(5.0)))
    found = influences([[ranked(x, np.zeros(25, int), 1)] for x in (a, b)], [a + 2.0 * b], is_sample=False)
    assert [one.S for one in found] == pytest.approx([0.2, 0.8], rel=1e-12)
    assert [one.S_error for one in found] == [0.0, 0.0]


def test_a_large_offset_costs_no_digits() -> None:
    x, y = ishigami(4000, 5)
    drawn = [of_chance(one) for one in x]
    near, far = influences(drawn, [y]), influences(drawn, [y + 1e7])
    assert [one.S for one in far] == pytest.approx([one.S for one in near], abs=1e-6)


def test_a_sample_in_two_scenarios_is_one_chance() -> None:
    """The same numbers twice, moved: neither S nor its error may change, though there are twice as many runs."""
    x, y = ishigami(2000, 7)
    drawn = [of_chance(one) for one in x]
    once = influences(drawn, [y])
    twice = influences([one * 2 for one in drawn], [y, y + 100.0])
    for one, other in zip(once, twice, strict=True):
        assert tuple(other)[:4] == pytest.approx(tuple(one)[:4], rel=1e-6)
