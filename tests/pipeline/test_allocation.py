"""Allocation to n effectors, by priority and by weights: bounds, what passes, what is protected, what is optimal, and how smoothly."""

import math
import re

import numpy as np
import pytest
from effector_sets import authority, axes, commands, first, half_ranges, healths, laws, matrix, sizes, slack, used_range
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, lsq_linear

from counts import examples
from pushrod.core.check import problems
from pushrod.core.model import Model
from pushrod.pipeline.allocate.axes import Axes, Health
from pushrod.pipeline.allocate.effectiveness import In, Params, State
from pushrod.pipeline.allocate.priority import PRIORITY
from pushrod.pipeline.allocate.solve import Out
from pushrod.pipeline.allocate.weighted import WEIGHTED

both = pytest.mark.parametrize("model", [PRIORITY, WEIGHTED], ids=lambda m: m.name)
COUNT = examples(50)
ODD_CORNER = Params(  # its answer lies where the effector that is let go last has hardly an effect of its own
    B=(
        *(-0.008, -0.013, -0.25, 0.00042, 0.0011, 0.011, -0.55, -0.078),
        *(0.75, 0.0016, 0.0027, -0.012, -0.096, 0.016, 2e-05, -0.17),
        *(-8.4e-05, -1.2, -0.063, -4.9e-05, -7.1e-05, 0.55, -6.3e-06, -5.9e-05),
        *(0.0041, 0.083, -0.00016, -2.6e-05, -0.00098, -0.017, -0.13, 2.1e-06),
        *(-0.0038, -0.003, -0.001, -0.04, -0.11, -0.0014, 0.22, -0.0011),
    ),
    weight=(21.0, 0.45, 0.64, 4.3, 11.0),
    order=(0.0, 3.0, 1.0, 2.0, 4.0),
    lo=(-1.1, -0.75, -0.41, 0.2, -0.25, -1.1, -0.99, -0.63),
    hi=(1.2, 0.37, 0.65, 0.9, 0.63, 1.1, 0.96, 1.4),
    prefer=(0.0,) * 8,
    stiff=(1.0,) * 8,
    gain_max=10.0,
)


def allocated(model: Model, p: Params, v: Axes, k: Health = Health()) -> Out:  # noqa: B008
    return model.step(p, State(), In(v, k), 0.01)[1]


def kept(p: Params, y: Out) -> np.ndarray:
    return first(y.lost, sizes(p)[1]) == 0.0


def from_the_nearest(p: Params, k: Health, y: Out) -> float:
    """By how much the conditions for the nearest answer fail, in half-ranges: there are multipliers z of the axes for which stiff (u - c) is B' z
    on every effector between its bounds, not below it at a lower bound and not above it at an upper one."""
    n = sizes(p)[0]
    half, (lo, hi), u = half_ranges(p), used_range(p, k, y.lost), first(y.u, n)
    A = (matrix(p, k) * half / authority(p)[:, None])[kept(p, y)]
    d = np.array(p.stiff) * (u - np.clip(p.prefer, lo, hi)) / half
    near = 1e-12 * half
    up, down = u > lo + near, u < hi - near  # it could go down, it could go up
    rows = np.vstack([A.T[up], -A.T[down]])
    ends = np.concatenate([d[up], -d[down]])
    # going down must not help: d <= (A' z) + t; going up must not: (A' z) <= d + t
    lp = linprog(
        np.append(np.zeros(len(A)), 1.0),
        A_ub=np.hstack([-rows, -np.ones((len(rows), 1))]) if len(rows) else None,
        b_ub=-ends if len(rows) else None,
        bounds=[(None, None)] * len(A) + [(0.0, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert lp.status == 0
    return float(lp.fun)


@both
@given(p=laws(), v=commands(), k=healths)
@settings(max_examples=COUNT)
def test_within_bounds_and_told_through_the_same_effectiveness(model: Model, p: Params, v: Axes, k: Health) -> None:
    n, m = sizes(p)
    y = allocated(model, p, v, k)
    u = first(y.u, n)
    assert (u >= p.lo).all()
    assert (u <= p.hi).all()
    assert y.u[n:] == (0.0,) * (8 - n)
    assert first(y.v, m) == pytest.approx(matrix(p, k) @ u, abs=1e-12)


@both
@given(p=laws(), f=st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8), k=healths)
@example(p=ODD_CORNER, f=[0.0, 0.0, 1.0, 0.25, 0.0, 0.0, 0.0, 0.0], k=Health(1.0, 0.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0))
@settings(max_examples=COUNT)
def test_a_command_that_can_be_done_is_done(model: Model, p: Params, f: list[float], k: Health) -> None:
    """But for what the bound on the gain refuses, and the certificate reports."""
    n, m = sizes(p)
    lo, hi = used_range(p, k, allocated(model, p, Axes(), k).lost)
    v = matrix(p, k) @ (lo + np.array(f[:n]) * (hi - lo))
    y = allocated(model, p, axes(v), k)
    miss = np.abs((first(y.v, m) - v) / authority(p))[kept(p, y)].max(initial=0.0)
    assert miss <= 1e-8 or y.optimality > 1e-9
    if model is PRIORITY:
        assert y.optimality <= slack(p, k, y.lost)


@both
@given(p=laws(), v=commands(), k=healths, far=st.sampled_from([1.0, 1e6]))
@settings(max_examples=COUNT)
def test_backwards_is_forwards_mirrored(model: Model, p: Params, v: Axes, k: Health, far: float) -> None:
    """Bounds, preference and command turned round: the same answer turned round, found on the same way, however far the command is."""
    v = Axes(*(far * x for x in v))
    n, m = sizes(p)
    lo, hi, prefer = (tuple(-x for x in table) for table in (p.hi, p.lo, p.prefer))
    y = allocated(model, p, v, k)
    z = allocated(model, p._replace(lo=lo, hi=hi, prefer=prefer), Axes(*(-x for x in v)), k)
    assert first(z.u, n) == pytest.approx(-first(y.u, n), abs=1e-12)
    assert first(z.v, m) == pytest.approx(-first(y.v, m), abs=1e-12 * max(1.0, np.abs(matrix(p)).sum(1).max()))
    assert (z.rounds, z.lost, z.gain) == (y.rounds, y.lost, y.gain)


HARDLY = Params(  # an effector that does nearly nothing, and is needed all the same
    B=(-4.6e-5, -9.9e-4, -5.5e-7, -1.27, 4.1e-4),
    weight=(2.0,),
    order=(0.0,),
    lo=(-0.26, -1.15, 0.0, -1.22, 0.3),
    hi=(1.39, 0.446, 1.0, 0.535, 0.3),
    prefer=(0.0,) * 5,
    stiff=(1.0,) * 5,
    gain_max=5.0,
)


@both
@given(p=laws(), v=commands())
@example(p=HARDLY, v=Axes(-0.8))
@settings(max_examples=COUNT)
def test_twice_is_once(model: Model, p: Params, v: Axes) -> None:
    m = sizes(p)[1]
    y = allocated(model, p, v)
    z = allocated(model, p, axes(first(y.v, m)))
    assume(max(y.optimality, z.optimality) <= 1e-9)  # what the bound on the gain refuses can be asked for again
    assert np.abs((first(z.v, m) - first(y.v, m)) / authority(p))[kept(p, y)].max(initial=0.0) <= 1e-8


@both
@given(p=laws(gain_max=5.0), v=commands(), way=commands())
@settings(max_examples=COUNT)
def test_no_jump_in_the_command_or_in_the_outputs(model: Model, p: Params, v: Axes, way: Axes) -> None:
    n, m = sizes(p)
    h = 1e-9
    r = authority(p)
    step = first(way, m) / max(1e-9, np.abs(first(way, m)).max())
    a, b = (allocated(model, p, axes((first(v, m) / 3.0 + s * step) * r)) for s in (0.0, h))
    assert np.abs((first(a.v, m) - first(b.v, m)) / r)[kept(p, a)].max(initial=0.0) <= 1e-5
    assert np.abs(first(a.u, n) - first(b.u, n)).max() <= 1e-3


@given(p=laws(), v=commands(), w=commands())
@settings(max_examples=COUNT)
def test_weighted_never_moves_the_answer_more_than_the_command(p: Params, v: Axes, w: Axes) -> None:
    """It is the nearest point of a convex set, measured with the weights."""
    m = sizes(p)[1]
    a, b = allocated(WEIGHTED, p, v), allocated(WEIGHTED, p, w)
    root = np.sqrt(p.weight) * kept(p, a)
    moved, asked = (np.linalg.norm(root * (first(x, m) - first(y, m))) for x, y in ((a.v, b.v), (v, w)))
    assert moved <= asked * (1.0 + 1e-7) + 1e-7


@given(p=laws(), v=commands(), k=healths)
@settings(max_examples=examples(80))
def test_weighted_is_not_beaten(p: Params, v: Axes, k: Health) -> None:
    """By more than its own gradient says."""
    n, m = sizes(p)
    y = allocated(WEIGHTED, p, v, k)
    root = np.sqrt(p.weight) * kept(p, y)
    M, b = root[:, None] * matrix(p, k), root * first(v, m)
    lo, hi = used_range(p, k, y.lost)
    hi = np.where(hi > lo, hi, lo + 1e-12)  # scipy wants room between the bounds
    best = lsq_linear(M, b, (lo, hi), method="bvls", tol=1e-15, max_iter=1000)
    u = first(y.u, n)
    g = 2.0 * M.T @ (M @ u - b)
    gap = np.maximum(g * (u - lo), g * (u - hi)).sum()  # a convex function lies above its tangent
    cost = ((M @ u - b) ** 2).sum()
    assert cost <= 2.0 * best.cost + gap + 1e-8 * max(1.0, 2.0 * best.cost)
    if y.optimality <= 1e-9:
        assert cost <= 2.0 * best.cost + 1e-7 * max(1.0, 2.0 * best.cost, np.abs(b).max())


@given(p=laws(), v=commands(), k=healths)
@settings(max_examples=COUNT)
def test_the_first_axis_is_met_whenever_it_can_be(p: Params, v: Axes, k: Health) -> None:
    y = allocated(PRIORITY, p, v, k)
    order = [int(i) for i in p.order if y.lost[int(i)] == 0.0]
    assume(order)
    row = matrix(p, k)[order[0]]
    lo, hi = used_range(p, k, y.lost)
    ends = np.sort([row * lo, row * hi], axis=0).sum(1)
    r = authority(p)[order[0]]
    assert y.v[order[0]] == pytest.approx(np.clip(v[order[0]], *ends), abs=(1e-8 + min(y.optimality, slack(p, k, y.lost))) * r)


@given(p=laws(kinds=("any", "whole")), v=commands())
@settings(max_examples=examples(25))
def test_each_axis_gets_what_those_before_it_leave(p: Params, v: Axes) -> None:
    """Against linear programs, one after another: none lacks more than the certificate says, and that is no more than the bound on the gain costs."""
    y = allocated(PRIORITY, p, v)
    B, r = matrix(p), authority(p)
    lo, hi = used_range(p, Health(), y.lost)
    assert y.optimality <= slack(p, Health(), y.lost)
    held: list[int] = []
    got: list[float] = []
    for i in (int(i) for i in p.order if y.lost[int(i)] == 0.0):
        ends = []
        for sign in (1.0, -1.0):
            lp = linprog(
                sign * B[i] / r[i],
                A_eq=B[held] / r[held, None] if held else None,
                b_eq=np.array(got) / r[held] if held else None,
                bounds=list(zip(lo, hi, strict=True)),
                method="highs-ds",
                options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
            )
            assume(lp.status == 0)  # its own tolerance on the held axes can leave it nothing
            ends.append(sign * lp.fun * r[i])
        want = min(max(v[i], ends[0]), ends[1])
        assert y.v[i] == pytest.approx(want, abs=(1e-6 + y.optimality) * r[i])
        held.append(i)
        got.append(y.v[i])


@both
def test_effectors_the_axes_leave_free_go_where_they_prefer(model: Model) -> None:
    B = np.array([[1.0, 1.0, 0.0, 0.5], [0.0, 1.0, 1.0, -0.5]])
    prefer = np.array([0.2, -0.1, 0.3, 0.1])
    p = Params(tuple(B.ravel()), (1.0, 1.0), (0.0, 1.0), (-1.0,) * 4, (1.0,) * 4, tuple(prefer), (1.0,) * 4)
    v = np.array([0.4, 0.3])
    y = allocated(model, p, axes(v))
    assert first(y.u, 4) == pytest.approx(prefer + np.linalg.pinv(B) @ (v - B @ prefer), abs=1e-12)
    stiff = allocated(model, p._replace(stiff=(1.0, 1.0, 1.0, 1e4)), axes(v))
    assert abs(stiff.u.e3 - 0.1) < 1e-3 < abs(y.u.e3 - 0.1)


@both
@given(p=laws(kinds=("any", "whole")), v=commands(), k=healths)
@settings(max_examples=COUNT)
def test_of_all_answers_that_give_the_axes_as_much_it_is_the_nearest_to_the_preferred_one(model: Model, p: Params, v: Axes, k: Health) -> None:
    y = allocated(model, p, v, k)
    assert from_the_nearest(p, k, y) <= 1e-9


@both
@given(p=laws(gain_max=10.0), v=commands(), k=healths)
@settings(max_examples=COUNT)
def test_no_gain_above_the_stated_bound_when_effectors_fail(model: Model, p: Params, v: Axes, k: Health) -> None:
    """While no effector is at a bound, they move from where they prefer by at most the gain times the command, in half-ranges and authorities."""
    n, m = sizes(p)
    lo, hi = -np.abs(p.lo) - 0.1, np.abs(p.hi) + 0.1
    p = p._replace(lo=tuple(lo), hi=tuple(hi), prefer=(0.0,) * n)
    assume(not list(problems(p)))
    r = authority(p)
    small = first(v, m) / max(1.0, np.abs(first(v, m) / r).max()) * 0.01
    y = allocated(model, p, axes(small), k)
    x = first(y.u, n) / ((hi - lo) / 2.0)
    assume((np.abs(first(y.u, n)) < 0.99 * np.minimum(-lo, hi)).all())
    assert np.linalg.norm(x) <= 10.0 * np.linalg.norm(small / r) * (1.0 + 1e-6) + 1e-9


@both
@given(
    k=st.lists(st.sampled_from([1.0, 0.5, 0.2, 0.11, 0.1, 0.05, 0.001]) | st.floats(0.0, 1.0), min_size=4, max_size=4),
    v=st.lists(st.floats(-1.0, 1.0), min_size=8, max_size=8),
)
@example(k=[0.2, 0.2, 0.1, 1.0], v=[0.75, 0.0, 0.0, 0.0, 0.0, 0.0625, 0.0, 0.0])  # several answers are equally good: the same one each time
@settings(max_examples=4 * COUNT)
def test_a_weak_rotor_takes_over_no_faster_than_its_health_allows(model: Model, k: list[float], v: list[float]) -> None:
    """Whichever of the others stand at their limits. No answer of a well quad moves an effector by more than 4 times the command, so: 4 gain_max."""
    quad = Params(order=(0.0, 1.0, 2.0, 3.0), lo=(0.0,) * 4)
    h = 1e-6
    a, b = (first(allocated(model, quad, Axes(*(2.0 * v[i] + s * v[4 + i] for i in range(4))), Health(*k)).u, 4) for s in (0.0, h))
    assert np.abs(b - a).max() <= 4.0 * quad.gain_max * h * max(map(abs, v[4:])) + 1e-8


@both
def test_nothing_jumps_while_an_effector_weakens_until_it_is_dead(model: Model) -> None:
    """On the axes that are kept by either side. What is left of it at gain_max is nothing, so that giving it up changes nothing."""
    quad = Params(order=(0.0, 1.0, 2.0, 3.0), lo=(0.0,) * 4, hi=(1.0,) * 4)
    just, gone = (allocated(model, quad, Axes(2.0, 0.3, -0.2, 0.1), Health(e2=k)) for k in (0.1 + 1e-9, 0.1 - 1e-9))
    assert just.lost == gone.lost
    assert first(just.u, 4) == pytest.approx(first(gone.u, 4), abs=1e-6)


def test_truth_table_of_a_quad() -> None:
    """Thrust, roll, pitch, yaw. Priority gives up yaw first, then the tilts, then thrust; the weights share."""
    quad = Params(order=(1.0, 2.0, 0.0, 3.0), lo=(0.0,) * 4, prefer=(0.5,) * 4)
    for v, want in [
        ((2.0, 0.5, 0.5, 0.5), (2.0, 0.5, 0.5, 0.5)),  # all can be done
        ((2.0, 2.0, 0.0, 0.0), (2.0, 2.0, 0.0, 0.0)),  # a full tilt leaves thrust at its middle
        ((4.0, 1.0, 0.0, 0.0), (3.0, 1.0, 0.0, 0.0)),  # thrust gives way to the tilt
        ((0.0, 1.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0)),  # ... and is raised for it
        ((2.0, 1.0, 1.0, 2.0), (2.0, 1.0, 1.0, 0.0)),  # yaw gives way to both
        ((2.0, 3.0, 0.0, 0.0), (2.0, 2.0, 0.0, 0.0)),  # no more than there is
    ]:
        assert allocated(PRIORITY, quad, Axes(*v)).v[:4] == pytest.approx(want, abs=1e-9), v


@both
@pytest.mark.parametrize("little", [1e-12, 1e-7, 1e-3, 0.04])
def test_an_effector_is_not_moved_for_what_it_hardly_does(model: Model, little: float) -> None:
    """With the strong one at its limit, and a preferred output the weak one keeps; gain_max 10."""
    law = Params((1.0, little), (1.0,), (0.0,), (-1.0, -1.0), (1.0, 1.0), (0.0, 0.25), (1.0, 1.0))
    y = allocated(model, law, Axes(1.1))
    assert y.u.e0 == 1.0
    assert y.u.e1 == pytest.approx(0.25, abs=10.0 * little)


@both
@pytest.mark.parametrize("apart", [1e-12, 1e-7, 1e-3, 0.04])
def test_twins_do_not_fight_for_what_they_differ_by(model: Model, apart: float) -> None:
    """Two alike on the first axis, which differ on the second by a little; the third, which serves it, is at its limit."""
    law = Params((1.0, 1.0, 0.0, 0.0, apart, 1.0), (1.0,) * 2, (0.0, 1.0), (-1.0,) * 3, (1.0,) * 3, (0.0,) * 3, (1.0,) * 3)
    y = allocated(model, law, Axes(0.0, 2.0))
    assert y.u.e2 == 1.0
    assert max(abs(y.u.e0), abs(y.u.e1)) <= 10.0 * apart


@both
def test_an_effector_is_used_more_and_more_as_it_does_more(model: Model) -> None:
    """From half of 1 / gain_max on, and all of it from 1 / gain_max on: nothing jumps in between."""
    outputs = []
    for share in np.linspace(0.04, 0.12, 81):
        law = Params((1.0, float(share)), (1.0,), (0.0,), (-1.0, -1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 1.0))
        outputs.append(allocated(model, law, Axes(2.0)).u.e1)
    assert outputs[0] == 0.0
    assert outputs[-1] == 1.0
    assert np.abs(np.diff(outputs)).max() < 0.025


@both
@pytest.mark.parametrize("k", [math.nan, math.inf, -1.0])
def test_an_effector_of_unknown_health_is_not_asked(model: Model, k: float) -> None:
    assert allocated(model, Params(), Axes(1.0, 0.1), Health(e2=k)).u == allocated(model, Params(), Axes(1.0, 0.1), Health(e2=0.0)).u


@both
@pytest.mark.parametrize("far", [1e6, 1e30, 1e300])
def test_a_command_far_beyond_reach_is_still_served_as_well_as_can_be(model: Model, far: float) -> None:
    quad = Params(order=(1.0, 2.0, 0.0, 3.0), lo=(0.0,) * 4)
    y = allocated(model, quad, Axes(2.0, far, 0.0, 0.0))
    assert y.v.a1 == pytest.approx(2.0)
    assert y.optimality <= 1e-6


@both
def test_an_axis_that_is_lost_does_not_come_and_go_with_a_health_that_wavers(model: Model) -> None:
    quad = Params(lo=(0.0,) * 4)
    k = next(k for k in np.arange(0.3, 0.1, -1e-3) if allocated(model, quad, Axes(), Health(e1=float(k))).lost.a3)
    s, told = State(), []
    for turn in range(20):
        s, y = model.step(quad, s, In(Axes(1.0), Health(e1=float(k) + (2e-3 if turn % 2 else -2e-3))), 0.01)
        told.append(y.lost.a3)
    assert told == [1.0] * 20
    s, y = model.step(quad, s, In(Axes(1.0), Health(e1=1.2 * float(k))), 0.01)
    assert y.lost == (0.0,) * 6, "well above the bound it is served again"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"order": (0.0, 1.0, 1.0, 3.0)}, "order"),
        ({"lo": (-1.0, 2.0, -1.0, -1.0)}, r"lo\[1\]"),
        ({"weight": (1.0, 0.0, 1.0, 1.0)}, r"weight\[1\]"),
        ({"weight": (1.0, 1e-3, 1.0, 1e4)}, "weight"),
        ({"B": (1.0, 2.0, 3.0)}, "B"),
        ({"hi": (1.0, 1.0)}, "hi"),
        ({"gain_max": 0.5}, "gain_max"),
        ({"prefer": (0.0, 0.0, 2e6, 0.0)}, "prefer holds a number beyond 1e6"),
        ({"lo": (-1.0,) * 9}, "lo has 9 effectors; at most 8"),
        ({"weight": (1.0,) * 7}, "weight has 7 axes; at most 6"),
    ],
)
def test_mistakes_are_told_by_name(changes: dict[str, tuple[float, ...]], named: str) -> None:
    assert [text for text in problems(Params()._replace(**changes)) if re.match(rf"{named}\b|{named} ", text)]
