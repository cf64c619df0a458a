"""The worst runs: by how far a criterion is missed, whatever its unit; what is no number is worst of all."""

import numpy as np

from pushrod.sweep.histogram import spread
from pushrod.sweep.worst import Bound, margins, worst

NONE = np.zeros(100, np.int64)


def test_margins_of_different_units_stand_side_by_side() -> None:
    metres = np.linspace(0.0, 1.0, 100)
    both = {"m": metres, "mm": 1000.0 * metres}
    told = {name: spread(y) for name, y in both.items()}
    one = margins([Bound("m", -np.inf, 0.5)], both, told, NONE)
    other = margins([Bound("mm", -np.inf, 500.0)], both, told, NONE)
    np.testing.assert_allclose(one.margin, other.margin, rtol=1e-12)
    assert np.array_equal(one.margin < 0.0, metres > 0.5)


def test_the_criterion_that_is_missed_by_the_most_is_named() -> None:
    columns = {"a": np.linspace(0.0, 1.0, 100), "b": np.linspace(1.0, 0.0, 100)}
    told = margins([Bound("a", -np.inf, 0.9), Bound("b", -np.inf, 0.5)], columns, {name: spread(y) for name, y in columns.items()}, NONE)
    assert told.by[0] == 1
    assert told.by[-1] == 0
    assert worst(told.margin, 3) == [0, 1, 2]


def test_what_is_no_number_or_never_came_is_worst() -> None:
    y = np.linspace(0.0, 1.0, 100)
    y[40], y[70] = np.nan, np.inf
    told = margins([Bound("y", -np.inf, 0.5)], {"y": y}, {"y": spread(y)}, NONE)
    assert worst(told.margin, 3) == [40, 70, 99]


def test_a_criterion_of_one_scenario_says_nothing_of_the_other() -> None:
    y, scenario = np.full(100, 2.0), np.arange(100) % 2
    bound = Bound("y", -np.inf, 1.0, 1)
    told = margins([bound], {"y": y}, {"y": spread(y)}, scenario)
    assert np.array_equal(told.margin < 0.0, scenario == 1)
    assert np.array_equal(bound.holds(y, scenario), scenario == 0)


def test_of_equals_the_earlier_come_first_and_no_more_than_asked() -> None:
    margin = np.array([1.0, -1.0, -1.0, 0.0, -1.0, -2.0])
    assert worst(margin, 3) == [5, 1, 2]
    assert worst(margin[:2], 10) == [1, 0]
    assert worst(np.empty(0)) == []
