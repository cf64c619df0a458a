"""Where nothing was heard no line is drawn, however long the plot; what comes only when somebody asks has no gaps."""

import numpy as np

from pushrod.dash.history import Channel, Group, thinned


def group_of(times, steady=True):
    group = Group([Channel("a", "-")], steady=steady)
    for t in times:
        group.put(t, (t,))
    return group.since(0, ["a"])[2][0]


def test_a_silence_of_what_comes_again_and_again_is_a_gap():
    times = [*np.arange(0.0, 2.0, 0.05), *np.arange(5.0, 6.0, 0.05)]
    a = group_of(times)
    assert np.isnan(a).sum() == 1
    before = int(np.flatnonzero(np.isnan(a))[0])
    assert a[before - 1] < 2.0 < 5.0 <= a[before + 1]


def test_what_is_slow_but_regular_has_none():
    assert not np.isnan(group_of(np.arange(0.0, 60.0, 1.0))).any()


def test_commands_come_when_somebody_asks_and_have_none():
    assert not np.isnan(group_of([0.0, 0.05, 0.1, 30.0], steady=False)).any()


def test_a_gap_of_one_row_survives_the_thinning():
    t = np.arange(30_000) / 50.0
    y = np.sin(t)
    y[12_345] = np.nan
    _, few = thinned(t, y, 1200)
    assert np.isnan(few).sum() == 1
