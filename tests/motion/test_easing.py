"""The twenty-two easings: known values, exact ends, slopes that are their derivatives."""

import pytest

from pushrod.motion.easing import EASINGS, ease, progress, slope


def test_names() -> None:
    assert len(EASINGS) == 22
    assert {"linear", "ease_in_quad", "ease_out_quint", "ease_in_out_circ"} <= set(EASINGS)


@pytest.mark.parametrize("name", EASINGS)
def test_begins_and_ends_exactly(name: str) -> None:
    e = EASINGS[name]
    assert progress(e, 0.0) == 0.0
    assert progress(e, 1.0) == 1.0
    assert ease(e, 2.0, 0.1, 0.75, 2.0) == (0.75, 0.0)
    assert ease(e, 9.0, 0.1, 0.75, 2.0) == (0.75, 0.0)
    assert ease(e, 0.0, 0.1, 0.75, 0.0) == (0.75, 0.0)
    values = [progress(e, k / 50.0) for k in range(51)]
    assert values == sorted(values)


@pytest.mark.parametrize("name", EASINGS)
def test_slope_is_the_derivative(name: str) -> None:
    e = EASINGS[name]
    for f in (0.1, 0.3, 0.45, 0.6, 0.8, 0.95):
        assert slope(e, f) == pytest.approx((progress(e, f + 1e-6) - progress(e, f - 1e-6)) / 2e-6, rel=1e-5)
    assert slope(e, 1.0) == 0.0
    assert abs(slope(e, 0.0)) <= 1000.0
    x, v = ease(e, 0.6, 1.0, 3.0, 2.0)
    assert v == pytest.approx((ease(e, 0.6 + 1e-6, 1.0, 3.0, 2.0)[0] - x) / 1e-6, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "f", "y"),
    [
        ("linear", 0.3, 0.3),
        ("ease_in_quad", 0.5, 0.25),
        ("ease_out_quad", 0.5, 0.75),
        ("ease_in_out_cubic", 0.25, 0.0625),
        ("ease_in_quart", 0.5, 0.0625),
        ("ease_out_quint", 0.5, 0.96875),
        ("ease_in_sine", 1.0 / 3.0, 1.0 - 3.0**0.5 / 2.0),
        ("ease_in_expo", 0.5, 0.03125),
        ("ease_out_circ", 0.4, 0.8),
    ],
)
def test_known_values(name: str, f: float, y: float) -> None:
    assert progress(EASINGS[name], f) == pytest.approx(y)


def test_in_is_late_and_out_is_early() -> None:
    assert progress(EASINGS["ease_in_quad"], 0.2) < progress(EASINGS["linear"], 0.2) < progress(EASINGS["ease_out_quad"], 0.2)
