"""The interval of a share: exact at its ends, and never too narrow."""

import numpy as np
import pytest
from scipy.stats import binom

from pushrod.sweep.pass_rate import Share, interval
from pushrod.sweep.pass_rate import share as share_of


def share(passed: int, of: int) -> Share:
    return share_of(np.array([passed]), np.array([of]))


def test_ends_are_known_in_closed_form() -> None:
    none, all_of = share(0, 50), share(50, 50)
    assert (none.lo, all_of.hi) == (0.0, 1.0)
    assert none.hi == pytest.approx(1.0 - 0.025 ** (1 / 50), rel=1e-12)
    assert all_of.lo == pytest.approx(0.025 ** (1 / 50), rel=1e-12)


@pytest.mark.parametrize("n", [5, 40, 300])
def test_the_true_share_is_held_in_95_of_100_studies_at_least(n: int) -> None:
    k = np.arange(n + 1)
    lo, hi = interval(k[None], np.full((1, n + 1), n))
    for p in np.linspace(0.002, 0.998, 167):
        held = binom.pmf(k, n, p)[(lo <= p) & (p <= hi)].sum()
        assert held >= 0.95 - 1e-12


def test_a_bound_is_where_the_tail_is_as_rare_as_promised() -> None:
    one = share(37, 1000)
    assert binom.sf(36, 1000, one.lo) == pytest.approx(0.025, rel=1e-9)
    assert binom.cdf(37, 1000, one.hi) == pytest.approx(0.025, rel=1e-9)


def test_of_nothing_nothing_is_known() -> None:
    one = share(0, 0)
    assert (one.lo, one.hi) == (0.0, 1.0)
    assert np.isnan(one.value)


def test_replicates_that_agree_make_the_interval_narrow_but_never_nothing() -> None:
    """32 replicates of 32 samples, of which each has 16 that pass: closer than 1024 independent samples would be, by no less than three samples."""
    k, n = np.full(32, 16), np.full(32, 32)
    one, independent = share_of(k, n), share(512, 1024)
    assert (one.lo, one.hi) == pytest.approx((0.5 - 3 / 1024, 0.5 + 3 / 1024))
    assert independent.hi - independent.lo > 10.0 * (one.hi - one.lo)


def test_replicates_that_differ_as_independent_samples_do_make_the_interval_of_these() -> None:
    rng = np.random.default_rng(1)
    n = np.full((32, 400), 32)
    k = rng.binomial(32, 0.9, n.shape)
    lo, hi = interval(k, n)
    low, high = interval(k.sum(axis=0)[None], n.sum(axis=0)[None])
    assert np.mean(hi - lo) == pytest.approx(np.mean(high - low), rel=0.1)
    assert ((lo <= 0.9) & (hi >= 0.9)).mean() > 0.92


@pytest.mark.parametrize("rows", [1, 7])
def test_where_all_pass_the_interval_is_that_of_the_independent_points(rows: int) -> None:
    n = np.full(16, 70)
    one = share_of(n, n, rows)
    assert one.hi == 1.0
    assert one.lo == pytest.approx(share(1120 // rows, 1120 // rows).lo)
    none = share_of(0 * n, n, rows)
    assert (none.lo, none.hi) == pytest.approx((0.0, 1.0 - one.lo))


def test_replicates_without_samples_say_nothing() -> None:
    lo, hi = interval(np.zeros((16, 2), int), np.zeros((16, 2), int))
    assert lo.tolist() == [0.0, 0.0]
    assert hi.tolist() == [1.0, 1.0]
