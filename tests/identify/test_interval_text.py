"""Intervals are printed in as many digits as show their width, and what a model explains is one figure."""

import math

import numpy as np
import pytest

from pushrod.identify.belief import remainder
from pushrod.identify.interval_text import interval_text


@pytest.mark.parametrize(
    ("lo", "hi", "text"),
    [
        (0.01999973, 0.02000009, "0.01999973 to 0.02000009"),
        (0.0298, 0.0304, "0.0298 to 0.0304"),
        (-1.5, 2.25, "-1.5 to 2.25"),
        (0.0, 0.0, "0 to 0"),
        (3.0, 3.0, "3 to 3"),
        (0.0, math.inf, "0 to inf"),
        (-1000.0001, -1000.0, "-1000.0001 to -1000"),
    ],
)
def test_digits_follow_the_width(lo: float, hi: float, text: str) -> None:
    assert interval_text(lo, hi) == text


def test_ends_of_an_interval_differ_however_narrow_it_is() -> None:
    for width in 10.0 ** np.arange(-15.0, 1.0):
        lo, hi = interval_text(0.7, 0.7 + width).split(" to ")
        assert float(hi) - float(lo) == pytest.approx(width, rel=0.15)


def test_a_model_that_is_worse_than_the_mean_explains_nothing() -> None:
    y = np.sin(np.arange(50.0))
    assert remainder("log", "y", "", -3.0 * y, y, False, np.ones(50)).explained == 0.0
    assert remainder("log", "y", "", 0.1 * y, y, False, np.ones(50)).explained == pytest.approx(0.99, abs=1e-3)
