"""Noise: the numbers themselves, because recorded runs depend on them, and what they are like."""

import itertools
import math

import pytest

from pushrod.core.model import Tick
from pushrod.core.noise import QUIET, hash32, normal, uniform

MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("at", "channel", "bits", "even", "bell"),
    [
        (Tick(1, 0.1), 0, 1296592650, -0.39622700214385986, -0.507446014683819),
        (Tick(123456, 0.1, 7, 3), 5, 4241224966, 0.9749742746353149, -0.46467751796451323),
        (Tick(MOST, 0.1, MOST, MOST), 9, 4053240194, 0.8874369859695435, 1.7098982517828583),
    ],
)
def test_the_same_numbers_in_every_version(at: Tick, channel: int, bits: int, even: float, bell: float) -> None:
    assert hash32(at, channel) == bits
    assert uniform(at, channel) == even
    assert normal(at, channel) == pytest.approx(bell, rel=1e-15)


def test_the_smallest_number_is_no_infinity_in_the_bell() -> None:
    lowest = Tick(0, 0.1)
    assert hash32(lowest, 0) == 0
    assert uniform(lowest, 0) == -1.0
    assert math.isfinite(normal(lowest, 0))


def test_uniform_normal_and_uncorrelated() -> None:
    n = 20_000
    u = [uniform(Tick(k, 0.1, 3, 1), 0) for k in range(n)]
    v = [uniform(Tick(k, 0.1, 3, 2), 0) for k in range(n)]
    w = [uniform(Tick(k, 0.1, 4, 1), 0) for k in range(n)]
    c = [uniform(Tick(k, 0.1, 3, 1), 1) for k in range(n)]
    g = [normal(Tick(k, 0.1, 3, 1), 0) for k in range(n)]
    assert abs(sum(u) / n) < 0.02
    assert abs(sum(x * x for x in u) / n - 1 / 3) < 0.01
    for other in (v, w, c):
        assert abs(sum(a * b for a, b in zip(u, other, strict=True)) / n) < 0.01
    assert abs(sum(a * b for a, b in itertools.pairwise(u)) / n) < 0.01
    assert abs(sum(g) / n) < 0.03
    assert abs(sum(x * x for x in g) / n - 1.0) < 0.04
    assert abs(sum(x**4 for x in g) / n - 3.0) < 0.3


def test_the_quiet_instance_has_no_noise() -> None:
    for k in range(5):
        at = Tick(k, 0.1, 3, QUIET)
        assert (uniform(at, 0), uniform(at, 7), normal(at, 2)) == (0.0, 0.0, 0.0)
