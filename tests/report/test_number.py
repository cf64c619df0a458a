"""Numbers as people read them: no sign at zero."""

import pytest

from pushrod.report.number import number, signed_share


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0.0 %"), (-0.0, "0.0 %"), (-0.0004, "0.0 %"), (0.0004, "0.0 %"), (-0.01, "−1.0 %"), (0.25, "+25.0 %")]
)
def test_a_difference_that_is_shown_as_zero_has_no_sign(value, shown):
    assert signed_share(value) == shown


def test_negative_zero_is_zero():
    assert number(-0.0) == "0"
