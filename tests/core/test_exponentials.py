"""The functions behind the exact steps keep all their digits, also where their formula would cancel."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pushrod.core.scalar import log1p_ratio, phi1, phi2, settled


def series(x: float, k: int) -> float:
    """Sum of (-x)^n / (n + k)!, in exact arithmetic."""
    return float(sum((-Fraction(x)) ** n / math.factorial(n + k) for n in range(60)))


@given(st.floats(1e-12, 4.0))
def test_against_exact_series(x: float) -> None:
    assert phi1(x) == pytest.approx(series(x, 1), rel=1e-15, abs=0.0)
    assert phi2(x) == pytest.approx(series(x, 2), rel=1e-14, abs=0.0)
    assert settled(x) == pytest.approx(-math.expm1(-x), rel=1e-15, abs=0.0)


@given(st.floats(0.0, 0.25, exclude_max=True))
@example(0.2499)
@example(0.1)
@example(-0.0)
def test_the_series_has_every_digit(x: float) -> None:
    assert phi2(x) == pytest.approx(series(x, 2), rel=3e-16, abs=0.0)
    assert phi1(x) == pytest.approx(series(x, 1), rel=3e-16, abs=0.0)
    assert settled(x) == pytest.approx(-math.expm1(-x), rel=5e-16, abs=0.0)


@given(st.floats(0.0, 1e12))
def test_logarithm_ratio(z: float) -> None:
    assert log1p_ratio(z) == pytest.approx(math.log1p(z) / z if z > 0.0 else 1.0, rel=1e-14, abs=0.0)


def test_ends() -> None:
    assert (phi1(0.0), phi2(0.0), settled(0.0), log1p_ratio(0.0)) == (1.0, 0.5, 0.0, 1.0)
    assert (settled(1e300), phi1(1e300), log1p_ratio(math.inf)) == (1.0, 1e-300, pytest.approx(0.0, abs=1e-28))


def test_the_last_term_of_the_series_counts() -> None:
    for k in range(64):
        x = 0.25 - 1e-3 * (k + 1)
        exact = sum((-Fraction(x)) ** n / math.factorial(n + 2) for n in range(30))
        assert abs(Fraction(phi2(x)) / exact - 1) < Fraction(1, 10**16)  # half a unit in the last place, and hardly more
