"""Designs: each is what its name says, and any part of it can be had alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.sweep.design import places, replicates
from pushrod.sweep.permutation import permuted


@pytest.mark.parametrize("design", ["random", "lhs", "sobol"])
def test_parts_are_the_same_bits_as_the_whole_in_any_order(design):
    whole = places(design, 5, 4, 1000, 0, 1000)
    for first, last in ((700, 1000), (0, 1), (1, 13), (13, 700), (999, 1000)):
        assert np.array_equal(places(design, 5, 4, 1000, first, last), whole[:, first:last])
    assert whole.min() > 0.0
    assert whole.max() < 1.0
    assert not np.array_equal(places(design, 6, 4, 1000, 0, 1000), whole)


@given(n=st.integers(1, 3000), seed=st.integers(0, 2**31 - 1), stream=st.integers(0, 50))
def test_a_permutation_takes_every_place_once(n, seed, stream):
    assert np.array_equal(np.sort(permuted(np.arange(n, dtype=np.uint64), n, seed, stream)), np.arange(n))


def test_a_permutation_of_ten_million_needs_no_list():
    ends = np.array([0, 1, 9_999_999], np.uint64)
    assert (permuted(ends, 10_000_000, 1, 1) < 10_000_000).all()


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 4097])
def test_a_latin_hypercube_has_one_sample_in_every_share_of_every_parameter(n):
    """Each replicate by itself: of a few samples there is only one."""
    R = replicates(n)
    for row in places("lhs", 3, 5, n, 0, n):
        for r in range(R):
            own = row[r::R]
            assert np.array_equal(np.sort((own * len(own)).astype(int)), np.arange(len(own)))


@pytest.mark.parametrize("design", ["lhs", "sobol"])
def test_replicates_are_independent_designs(design):
    """Their means of a smooth function scatter about the truth as independent numbers do, and the mean of all of them by 1 / sqrt(R) of that."""
    n, studies = 1024, 60
    R = replicates(n)
    y = np.stack([np.sum(places(design, seed, 3, n, 0, n) ** 2, axis=0) for seed in range(studies)])
    means = y.reshape(studies, n // R, R).mean(axis=1)
    one, all_of = means.std(axis=1, ddof=1).mean(), means.mean(axis=1).std(ddof=1)
    assert all_of == pytest.approx(one / np.sqrt(R), rel=0.35)
    apart = np.corrcoef(means.T) - np.eye(R)
    assert np.abs(apart).max() < 5.0 / np.sqrt(studies)


@pytest.mark.parametrize("design", ["random", "lhs", "sobol"])
def test_parameters_are_even_and_know_nothing_of_each_other(design):
    n = 1 << 14
    u = places(design, 1, 12, n, 0, n)
    assert np.abs(u.mean(axis=1) - 0.5).max() < 5.0 * np.sqrt(1.0 / 12.0 / n)
    apart = np.corrcoef(u) - np.eye(12)
    assert np.abs(apart).max() < 5.0 / np.sqrt(n)
    # nor does a sample of the one before it
    if design != "sobol":
        assert max(abs(np.corrcoef(row[1:], row[:-1])[0, 1]) for row in u) < 5.0 / np.sqrt(n)


def test_a_sobol_sequence_fills_every_box_alike():
    n = 1 << 15
    R = replicates(n)
    u = places("sobol", 1, 2, n, 0, n)
    for r in range(R):
        counts, _, _ = np.histogram2d(*u[:, r::R], bins=[32, 32], range=[[0, 1], [0, 1]])
        assert (counts == 1).all()  # 1024 boxes, one sample of each replicate


def test_a_latin_hypercube_tells_a_mean_with_far_fewer_samples():
    def error(design):
        means = [np.mean(np.sum(places(design, seed, 6, 100, 0, 100) ** 2, axis=0)) for seed in range(40)]
        return np.std(np.array(means))

    assert error("lhs") < 0.25 * error("random")  # hypercubes of six or seven samples each
