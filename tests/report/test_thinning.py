"""Fewer samples to draw: never without a peak, an end or a gap."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pushrod.report.thinning import peaks, thin

SIGNALS = arrays.arrays(np.float64, st.integers(0, 400), elements=st.floats(-1e6, 1e6) | st.just(np.nan))


@given(SIGNALS, st.integers(1, 60))
def test_every_peak_both_ends_and_the_order_are_kept(y, bins):
    t = np.arange(len(y), dtype=float)
    x, z = thin(t, y, bins)
    assert len(z) <= max(2 * bins, 3 * bins + 2)
    assert np.all(np.diff(x) > 0.0)
    np.testing.assert_array_equal(z, y[x.astype(int)])  # samples of the signal, at their own times
    if len(y):
        assert (x[0], x[-1]) == (t[0], t[-1])
        assert bool(np.isnan(z).any()) == bool(np.isnan(y).any())
        if not np.isnan(y).all():
            assert (np.nanmin(z), np.nanmax(z)) == (np.nanmin(y), np.nanmax(y))


@given(SIGNALS, st.integers(1, 60))
def test_peaks_share_their_times_and_keep_the_highest(y, bins):
    t = np.arange(len(y), dtype=float)
    x, z = peaks(t, y, bins)
    assert len(x) == len(z) <= max(2 * bins, bins)
    if len(y) and not np.isnan(y).all():
        assert np.nanmax(z) == np.nanmax(y)


def test_few_samples_are_left_alone():
    t = np.arange(10.0)
    assert thin(t, t)[1] is t
