"""The way a machine went, as it is drawn."""

import numpy as np
import pytest

from pushrod.report.way import end_labels

ALONG = np.linspace(0.0, 2.0 * np.pi, 200)


@pytest.mark.parametrize(
    ("x", "y", "labels"),
    [
        (np.linspace(0.0, 10.0, 50), np.zeros(50), ("start", "end")),
        (5.0 * np.cos(ALONG), 5.0 * np.sin(ALONG), ("start, end", "")),  # round to where it began
        (5.0 * np.cos(0.5 * ALONG), 5.0 * np.sin(0.5 * ALONG), ("start", "end")),
        (np.zeros(5), np.zeros(5), ("start, end", "")),
        (np.full(5, np.nan), np.full(5, np.nan), ("start", "end")),
        (np.zeros(0), np.zeros(0), ("start", "end")),
    ],
)
def test_two_labels_are_one_where_they_would_lie_on_each_other(x, y, labels):
    assert end_labels(x, y) == labels
