"""The interval of a share: exact at its ends, and never too narrow."""

import numpy as np
import pytest
from scipy.stats import binom

from pushrod.sweep.pass_rate import interval, share


def test_ends_are_known_in_closed_form() -> None:
    none, all_of = share(0, 50), share(50, 50)
    assert (none.lo, all_of.hi) == (0.0, 1.0)
    assert none.hi == pytest.approx(1.0 - 0.025 ** (1 / 50), rel=1e-12)
    assert all_of.lo == pytest.approx(0.025 ** (1 / 50), rel=1e-12)


@pytest.mark.parametrize("n", [5, 40, 300])
def test_the_true_share_is_held_in_95_of_100_studies_at_least(n: int) -> None:
    k = np.arange(n + 1)
    lo, hi = interval(k, np.full(n + 1, n))
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
