"""Which parameters matter, held to functions whose indices are known."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from pushrod.sweep.influence import influences, ranked

A, B = 7.0, 0.1
V1, V2, V13 = 0.5 * (1.0 + B * np.pi**4 / 5.0) ** 2, A * A / 8.0, B * B * np.pi**8 * 8.0 / 225.0
WHOLE = V1 + V2 + V13


def ishigami(n: int, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Ishigami and Homma (1990): x3 acts only together with x1, x2 goes up and down."""
    x = list(np.random.default_rng(seed).uniform(-np.pi, np.pi, (3, n)))
    return x, np.sin(x[0]) + A * np.sin(x[1]) ** 2 + B * x[2] ** 4 * np.sin(x[0])


def test_first_order_indices_of_ishigami() -> None:
    x, y = ishigami(40_000, 1)
    found = influences([[ranked(one)] for one in x], [y])
    for one, S in zip(found, (V1 / WHOLE, V2 / WHOLE, 0.0), strict=True):
        assert pytest.approx(S, abs=0.012) == one.S
    assert [one.is_seen for one in found] == [True, True, False]
    assert abs(found[1].rho) < 0.02  # it matters, and goes neither way


def test_intervals_hold_as_often_as_they_say() -> None:
    """Few runs, so that the correction for chance counts: without it S of x3 would be 0.02 too large."""
    held = rhos = 0
    S3 = []
    for seed in range(120):
        x, y = ishigami(1000, seed)
        found = influences([[ranked(one)] for one in x], [y])
        held += abs(found[0].S - V1 / WHOLE) <= found[0].S_error
        rhos += abs(found[2].rho) <= found[2].rho_error
        S3.append(found[2].S)
    assert 104 <= held <= 120  # 95 of 100 are 114, give or take 2.4
    assert 104 <= rhos <= 120
    assert abs(np.mean(S3)) < 0.005


def test_the_rank_correlation_is_spearmans_with_ties() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 5, 400).astype(float), rng.normal(size=400).round(1)
    y += 0.2 * x
    assert influences([[ranked(x)]], [y])[0].rho == pytest.approx(spearmanr(x, y).statistic, rel=1e-12)


def test_what_never_came_has_the_last_rank() -> None:
    x = np.linspace(0.0, 1.0, 500)
    y = np.where(x > 0.8, np.inf, x)
    one = influences([[ranked(x)]], [y])[0]
    assert one.rho > 0.99
    assert pytest.approx(1.0, abs=0.02) == one.S


@pytest.mark.parametrize("y", [np.zeros(200), np.full(200, np.nan), np.full(200, np.inf)], ids=["alike", "no numbers", "never"])
def test_nothing_is_said_where_nothing_can_be_told(y: np.ndarray) -> None:
    one = influences([[ranked(np.arange(200.0))]], [y])[0]
    assert np.isnan(one.S)
    assert not one.is_seen


def test_a_grid_has_shares_without_doubt() -> None:
    """y = a + 2 b on a full grid: the shares are 1/5 and 4/5, of all."""
    a, b = (g.ravel() for g in np.meshgrid(np.arange(5.0), np.arange(5.0)))
    found = influences([[ranked(a)], [ranked(b)]], [a + 2.0 * b], is_sample=False)
    assert [one.S for one in found] == pytest.approx([0.2, 0.8], rel=1e-12)
    assert [one.S_error for one in found] == [0.0, 0.0]


def test_a_large_offset_costs_no_digits() -> None:
    x, y = ishigami(4000, 5)
    drawn = [[ranked(one)] for one in x]
    near, far = influences(drawn, [y]), influences(drawn, [y + 1e7])
    assert [one.S for one in far] == pytest.approx([one.S for one in near], abs=1e-6)


def test_a_sample_in_two_scenarios_is_one_chance() -> None:
    """The same numbers twice, moved: neither S nor its error may change, though there are twice as many runs."""
    x, y = ishigami(2000, 7)
    drawn = [ranked(one) for one in x]
    once = influences([[one] for one in drawn], [y])
    twice = influences([[one, one] for one in drawn], [y, y + 100.0])
    for one, other in zip(once, twice, strict=True):
        assert tuple(other) == pytest.approx(tuple(one), rel=1e-6)
