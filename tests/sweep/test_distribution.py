"""Distributions have the shares they should have, by scipy's own."""

import numpy as np
import pytest
from scipy import stats

from pushrod.sweep.correlated import Correlated, cholesky
from pushrod.sweep.counter import uniforms
from pushrod.sweep.distribution import Discrete, LogUniform, Normal, Triangular, Uniform

U = np.linspace(1e-9, 1.0 - 1e-9, 2001)


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (Uniform(-2.0, 3.0), stats.uniform(-2.0, 5.0)),
        (LogUniform(0.01, 10.0), stats.loguniform(0.01, 10.0)),
        (Triangular(1.0, 1.5, 4.0), stats.triang(0.5 / 3.0, 1.0, 3.0)),
        (Triangular(1.0, 1.0, 4.0), stats.triang(0.0, 1.0, 3.0)),
        (Normal(2.0, 0.5), stats.norm(2.0, 0.5)),
        (Normal(2.0, 0.5, 1.5, 4.0), stats.truncnorm(-1.0, 4.0, 2.0, 0.5)),
    ],
)
def test_quantiles(made, known):
    assert made.quantile(U) == pytest.approx(known.ppf(U), rel=1e-9, abs=1e-12)
    lo, hi = made.span()
    assert lo <= made.quantile(U).min() + 1e-12
    assert made.quantile(U).max() <= hi + 1e-12


def test_the_share_of_a_normal_that_is_cut_off():
    assert Normal(0.0, 1.0, 0.0).cut() == pytest.approx(0.5)
    assert Normal(0.0, 1.0, -1.0, 1.0).cut() == pytest.approx(0.3173105, rel=1e-6)


def test_discrete_values_come_by_their_weights():
    made = Discrete((1.0, 5.0, 2.0), (0.5, 0.2, 0.3))
    values, counts = np.unique(made.quantile((np.arange(1000) + 0.5) / 1000.0), return_counts=True)
    assert dict(zip(values, counts, strict=True)) == {1.0: 500, 5.0: 200, 2.0: 300}


def test_levels_of_a_grid_go_from_end_to_end():
    i = np.arange(5.0)
    assert Uniform(0.0, 1.0).level(i, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert LogUniform(1.0, 16.0).level(i, 5) == pytest.approx([1, 2, 4, 8, 16])
    assert Normal(0.0, 1.0).level(i, 5) == pytest.approx(stats.norm.ppf([0.1, 0.3, 0.5, 0.7, 0.9]), abs=1e-12)
    assert Uniform(0.0, 1.0).level(np.zeros(1), 1).tolist() == [0.5]


def group(lo=(-np.inf, -np.inf, -np.inf)):
    sd, R = (1.0, 2.0, 0.5), [[1.0, 0.8, -0.3], [0.8, 1.0, 0.1], [-0.3, 0.1, 1.0]]
    factor = cholesky(R, sd)
    assert factor is not None
    return Correlated("g", ("a", "b", "c"), ("-",) * 3, (1.0, 2.0, 3.0), factor, lo, (np.inf,) * 3), np.array(R) * np.outer(sd, sd)


def drawn(made, first, last):
    index = np.arange(first, last, dtype=np.uint64)
    found = made.quantile(np.stack([uniforms(4, j, index) for j in range(3)]), index, 4)
    return np.stack([found[path] for path in made.paths])


def test_parameters_that_vary_together_have_the_covariance_that_was_asked_for():
    made, covariance = group()
    x = drawn(made, 0, 200_000)
    assert x.mean(axis=1) == pytest.approx([1.0, 2.0, 3.0], abs=0.02)
    assert np.cov(x) == pytest.approx(covariance, abs=0.03)
    assert made.sd == pytest.approx((1.0, 2.0, 0.5))


def test_what_is_not_legal_is_drawn_again_and_parts_stay_the_same():
    made, _ = group(lo=(0.5, 0.0, -np.inf))
    whole = drawn(made, 0, 4000)
    assert whole[0].min() >= 0.5
    assert whole[1].min() >= 0.0
    assert np.array_equal(drawn(made, 1234, 1300), whole[:, 1234:1300])
    free = drawn(group()[0], 0, 4000)
    legal = (free[0] >= 0.5) & (free[1] >= 0.0)
    assert np.array_equal(whole[:, legal], free[:, legal])  # what was legal stays
    # and the others have the distribution of what is legal
    assert stats.ks_2samp(whole[0][~legal], free[0][legal]).pvalue > 1e-4


def test_a_matrix_that_is_no_correlation_has_no_factor_and_a_perfect_one_has():
    assert cholesky([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]], (1.0, 1.0, 1.0)) is None
    assert cholesky([[1.0, 1.0], [1.0, 1.0]], (1.0, 2.0)) == ((1.0, 0.0), (2.0, 0.0))


def test_two_groups_that_are_drawn_again_know_nothing_of_each_other():
    """Samples whose first draw is cut off in both groups: their new values must not be the same numbers."""
    made, _ = group(lo=(1.5, -np.inf, -np.inf))
    index = np.arange(20_000, dtype=np.uint64)
    u = [np.stack([uniforms(4, 2 * (first + j), index) for j in range(3)]) for first in (0, 3)]
    again = made.outside(u[0]) & made.outside(u[1])
    a, b = (made.quantile(where, index, 4, first)["a"][again] for where, first in zip(u, (0, 3), strict=True))
    assert abs(np.corrcoef(a, b)[0, 1]) < 4.0 / np.sqrt(again.sum())
