"""Allocation for two motors, whatever the bounds: feasible, unchanged where it can be, protected axis first, symmetric, continuous."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from two_motor_sets import POLICIES, U, allocs, bounds

from counts import examples
from pushrod.pipeline.act import Alloc
from pushrod.pipeline.allocate.two_motor import Bounds, allocate, optimality

TOL = 1e-12


def inside(b: Bounds, s: float, d: float, slack: float = TOL) -> bool:
    return b.a_L - slack <= s - d <= b.b_L + slack and b.a_R - slack <= s + d <= b.b_R + slack


@given(allocs(), bounds(), U, U)
def test_the_motors_can_do_it(p: Alloc, b: Bounds, s: float, d: float) -> None:
    y = allocate(p, b, s, d)
    assert inside(b, y.u_s_alloc, y.u_d_alloc)


@given(allocs(), bounds(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_feasible_command_passes_unchanged(p: Alloc, b: Bounds, f: float, g: float) -> None:
    L, R = b.a_L + f * (b.b_L - b.a_L), b.a_R + g * (b.b_R - b.a_R)
    s, d = 0.5 * (L + R), 0.5 * (R - L)
    assert allocate(p, b, s, d) == pytest.approx((s, d), abs=1e-15)


@given(allocs(), bounds(), U, U)
def test_twice_is_once(p: Alloc, b: Bounds, s: float, d: float) -> None:
    y = allocate(p, b, s, d)
    assert allocate(p, b, *y) == pytest.approx(y, abs=TOL)


@given(allocs(), bounds(), U, U, st.floats(-1e-3, 1e-3), st.floats(-1e-3, 1e-3))
def test_a_small_change_of_the_command_makes_a_small_change(p: Alloc, b: Bounds, s: float, d: float, e: float, f: float) -> None:
    """The gain is at most 1 on each axis from its own command, and from the other for the priorities; the weights may tilt it."""
    a, c = allocate(p, b, s, d), allocate(p, b, s + e, d + f)
    tilt = max(p.w_s / p.w_d, p.w_d / p.w_s) if p.policy == 2.0 else 1.0
    assert max(abs(a[0] - c[0]), abs(a[1] - c[1])) <= 2.0 * tilt * (abs(e) + abs(f)) + TOL


@given(allocs(), bounds(), U, U)
def test_the_protected_axis_is_met_whenever_it_can_be(p: Alloc, b: Bounds, s: float, d: float) -> None:
    y = allocate(p, b, s, d)
    if p.policy == 0.0:
        assert y.u_s_alloc == pytest.approx(min(max(s, 0.5 * (b.a_L + b.a_R)), 0.5 * (b.b_L + b.b_R)), abs=TOL)
    elif p.policy == 1.0:
        assert y.u_d_alloc == pytest.approx(min(max(d, 0.5 * (b.a_R - b.b_L)), 0.5 * (b.b_R - b.a_L)), abs=TOL)


@given(allocs(), bounds(), U, U)
def test_the_other_axis_gives_way_no_more_than_it_must(p: Alloc, b: Bounds, s: float, d: float) -> None:
    assume(p.policy != 2.0)
    y = allocate(p, b, s, d)
    for step in (1e-6, -1e-6):  # nothing nearer to the command on the yielding axis is feasible
        near = (y.u_s_alloc, y.u_d_alloc + step) if p.policy == 0.0 else (y.u_s_alloc + step, y.u_d_alloc)
        miss, was = (abs(near[1] - d), abs(y.u_d_alloc - d)) if p.policy == 0.0 else (abs(near[0] - s), abs(y.u_s_alloc - s))
        assert miss >= was - 1e-15 or not inside(b, *near, slack=-1e-9)


@given(allocs(), bounds(), U, U)
def test_left_and_right_are_alike(p: Alloc, b: Bounds, s: float, d: float) -> None:
    y = allocate(p, b, s, d)
    z = allocate(p, Bounds(b.a_R, b.b_R, b.a_L, b.b_L), s, -d)
    assert (z.u_s_alloc, -z.u_d_alloc) == pytest.approx((y.u_s_alloc, y.u_d_alloc), abs=TOL)


@given(allocs(), bounds(), U, U)
@settings(max_examples=examples(50))
def test_weighted_is_not_beaten(p: Alloc, b: Bounds, s: float, d: float) -> None:
    p = p._replace(policy=2.0)
    assume(b.b_L - b.a_L > 1e-9 and b.b_R - b.a_R > 1e-9)
    y = allocate(p, b, s, d)
    root = np.sqrt([p.w_s, p.w_d])
    M = root[:, None] * np.array([[0.5, 0.5], [-0.5, 0.5]])
    best = lsq_linear(M, root * (s, d), ([b.a_L, b.a_R], [b.b_L, b.b_R]), method="bvls", tol=1e-14)
    cost = p.w_s * (y.u_s_alloc - s) ** 2 + p.w_d * (y.u_d_alloc - d) ** 2
    assert cost <= 2.0 * best.cost + 1e-8


@given(allocs(), bounds(), U, U)
def test_the_certificate_of_the_answer_is_0(p: Alloc, b: Bounds, s: float, d: float) -> None:
    y = allocate(p, b, s, d)
    assert optimality(p, b, s, d, y.u_s_alloc - y.u_d_alloc, y.u_s_alloc + y.u_d_alloc) <= 1e-9


@given(allocs(), bounds(), U, U, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_certificate_of_a_worse_answer_is_not(p: Alloc, b: Bounds, s: float, d: float, f: float, g: float) -> None:
    """Any other that the motors can do, far enough from the best one to be told from it."""
    y = allocate(p, b, s, d)
    L, R = b.a_L + f * (b.b_L - b.a_L), b.a_R + g * (b.b_R - b.a_R)
    assume(max(abs(0.5 * (L + R) - y.u_s_alloc), abs(0.5 * (R - L) - y.u_d_alloc)) > 1e-3)
    assert optimality(p, b, s, d, L, R) > 1e-3 * 1e-3 * min(p.w_s, p.w_d) / max(p.w_s, p.w_d)


@given(POLICIES, bounds())
def test_bounds_that_leave_one_point_give_that_point(policy: float, b: Bounds) -> None:
    one = Bounds(b.a_L, b.a_L, b.a_R, b.a_R)
    y = allocate(Alloc(policy), one, 0.3, -0.2)
    assert (y.u_s_alloc - y.u_d_alloc, y.u_s_alloc + y.u_d_alloc) == pytest.approx((b.a_L, b.a_R), abs=TOL)


def test_reference_allocations(golden: Path) -> None:
    with (golden / "pipeline" / "alloc_cases.csv").open() as file:
        for row in csv.DictReader(file):
            x = {name: float(cell) for name, cell in row.items()}
            lo, hi = max(x["hw_min"], x["sw_min"]), min(x["hw_max"], x["sw_max"])
            for policy, name in enumerate(("sp", "yp", "wt")):
                y = allocate(Alloc(float(policy), x["w_s"], x["w_d"]), Bounds(lo, hi, lo, hi), x["u_s_cmd"], x["u_d_cmd"])
                assert y == pytest.approx((x[f"{name}_u_s"], x[f"{name}_u_d"]), abs=1e-9), row
