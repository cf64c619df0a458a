"""Every run is in a bin, outliers press nothing flat, and few values have a bin each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.sweep.histogram import bins, spread
from pushrod.sweep.number import Column, number


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=300))
def test_every_finite_value_is_in_one_bin(values: list[float]) -> None:
    y = np.array(values)
    passed = np.arange(len(y)) % 3 == 0
    one = number(Column("y", "m", ""), y, passed)
    finite = np.isfinite(y)
    assert one.runs.sum() == finite.sum() == one.spread.n
    assert one.passed.sum() == (finite & passed).sum()
    assert one.spread.never == np.isinf(y).sum()
    assert one.spread.unknown == np.isnan(y).sum()
    assert np.all(one.passed <= one.runs)


def test_a_few_far_out_do_not_press_the_rest_flat() -> None:
    y = np.concatenate((np.random.default_rng(1).normal(size=10_000), [1e6, -1e6, 2e6]))
    told = spread(y)
    made = bins(y, told)
    assert -10.0 < made.edges[0] < -3.0
    assert 3.0 < made.edges[-1] < 10.0
    assert made.beyond == (1, 2)
    counts = np.bincount(made.of(y), minlength=made.n)
    assert counts.sum() == len(y)
    assert counts.max() < 0.15 * len(y)


def test_a_limit_that_is_near_is_within_the_bins() -> None:
    y = np.linspace(0.0, 1.0, 1000)
    assert bins(y, spread(y), (1.2,)).edges[-1] == pytest.approx(1.2)
    assert bins(y, spread(y), (50.0,)).edges[-1] == pytest.approx(1.0)


def test_few_values_have_a_bin_each() -> None:
    y = np.array([0.0, 2.0, 1.0] * 100)
    made = bins(y, spread(y))
    assert made.values.tolist() == [0.0, 1.0, 2.0]
    assert np.bincount(made.of(y)).tolist() == [100, 100, 100]
