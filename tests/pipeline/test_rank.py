"""Which axes can be served: a nearly singular effectiveness loses an axis, it never gets a huge gain."""

import math

import numpy as np
import pytest
from effector_sets import authority, first, healths, laws, matrix, sizes
from hypothesis import given

from pushrod.pipeline.allocate.axes import Health
from pushrod.pipeline.allocate.effectiveness import In, Params, State
from pushrod.pipeline.allocate.rank import Out, step


def decided(p: Params, k: Health = Health()) -> Out:  # noqa: B008
    return step(p, State(), In(health=k), 0.01)[1]


def quad(**changes: float) -> Params:
    return Params(lo=(0.0,) * 4)._replace(**changes)  # type: ignore[arg-type]


@given(laws(), healths)
def test_the_gain_is_that_of_the_rows_kept_and_within_its_bound(p: Params, k: Health) -> None:
    m = sizes(p)[1]
    y = decided(p, k)
    kept = first(y.lost, m) == 0.0
    half = (np.array(p.hi) - p.lo) / 2.0
    A = (matrix(p, k) * half / authority(p)[:, None])[kept]
    assert kept.sum() == y.rank
    assert y.gain <= p.gain_max * (1.0 + 1e-9)
    if kept.any():
        assert np.linalg.norm(np.linalg.pinv(A)) == pytest.approx(y.gain, rel=1e-4)


@given(laws(), healths)
def test_an_axis_is_lost_only_where_keeping_it_would_need_too_much(p: Params, k: Health) -> None:
    y = decided(p, k)
    half = (np.array(p.hi) - p.lo) / 2.0
    A = matrix(p, k) * half / authority(p)[:, None]
    kept: list[int] = []
    for i in map(int, p.order):
        if y.lost[i] == 0.0:
            kept.append(i)
        else:
            rows = A[[*kept, i]]
            s = np.linalg.svd(rows, compute_uv=False)
            gain = math.sqrt((1.0 / np.maximum(s, 1e-30) ** 2).sum()) if len(s) == len(rows) else math.inf
            assert gain >= p.gain_max * (1.0 - 1e-4)


def test_a_well_square_serves_four_axes_with_gain_two() -> None:
    y = decided(quad())
    assert (y.rank, y.lost) == (4.0, (0.0,) * 6)
    assert y.gain == pytest.approx(2.0)


@pytest.mark.parametrize("dead", range(4))
def test_a_dead_rotor_costs_the_least_important_axis(dead: int) -> None:
    y = decided(quad(), Health()._replace(**{f"e{dead}": 0.0}))
    assert y.lost == (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    y = decided(quad(order=(3.0, 0.0, 1.0, 2.0)), Health()._replace(**{f"e{dead}": 0.0}))
    assert y.lost == (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def test_a_nearly_dead_rotor_costs_it_too_and_no_gain_grows() -> None:
    """The gain rises while the rotor weakens, to the bound and no further; then the axis is given up."""
    for k in np.geomspace(1.0, 1e-3, 50):
        y = decided(quad(), Health(float(k)))
        assert y.gain <= 10.0
        assert y.rank == (4.0 if y.lost.a3 == 0.0 else 3.0)
    assert y.lost.a3 == 1.0


def test_an_axis_no_effector_reaches_is_lost() -> None:
    y = decided(
        Params(B=(1.0, 1.0, 0.0, 0.0), weight=(1.0, 1.0), order=(1.0, 0.0), lo=(-1.0, -1.0), hi=(1.0, 1.0), prefer=(0.0, 0.0), stiff=(1.0, 1.0))
    )
    assert y.lost[:2] == (0.0, 1.0)
