"""Allocation to n effectors, by priority and by weights: bounds, what passes, what is protected, what is optimal, and how smoothly."""

import re

import numpy as np
import pytest
from effector_sets import authority, axes, commands, first, healths, laws, matrix, sizes
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
    n, m = sizes(p)
    v = matrix(p, k) @ (np.array(p.lo) + np.array(f[:n]) * (np.array(p.hi) - p.lo))
    y = allocated(model, p, axes(v), k)
    share = (first(y.v, m) - v) / authority(p)
    assert np.abs(share[kept(p, y)]).max(initial=0.0) <= 1e-8
    if model is PRIORITY:
        assert y.optimality <= 1e-8, "no axis misses what it got"


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
    n, m = sizes(p)
    y = allocated(WEIGHTED, p, v, k)
    root = np.sqrt(p.weight) * kept(p, y)
    M, b = root[:, None] * matrix(p, k), root * first(v, m)
    lo, hi = np.array(p.lo), np.array(p.hi)
    hi = np.where(hi > lo, hi, lo + 1e-12)  # scipy wants room between the bounds
    best = lsq_linear(M, b, (lo, hi), method="bvls", tol=1e-15, max_iter=1000)
    cost = ((M @ first(y.u, n) - b) ** 2).sum()
    assert cost <= 2.0 * best.cost + 1e-8 * max(1.0, 2.0 * best.cost)


@given(p=laws(), v=commands(), k=healths)
@settings(max_examples=COUNT)
def test_the_certificate_of_the_weighted_answer_is_true(p: Params, v: Axes, k: Health) -> None:
    n, m = sizes(p)
    y = allocated(WEIGHTED, p, v, k)
    half = np.where(np.array(p.hi) > p.lo, (np.array(p.hi) - p.lo) / 2.0, 1.0)
    r = authority(p)
    weight = np.array(p.weight) * r**2 * kept(p, y)
    A = matrix(p, k) * half / r[:, None]
    u = first(y.u, n)
    g = A.T @ (weight / max(weight.max(initial=0.0), 1e-300) * (A @ (u / half) - first(v, m) / r))
    g[np.array(p.hi) == p.lo] = 0.0
    inwards = np.where(u <= p.lo, np.minimum(g, 0.0), np.where(u >= p.hi, np.maximum(g, 0.0), g))
    scale = max(1.0, np.abs(first(v, m) / r).max())
    assert np.abs(inwards[np.array(k[:n]) > 0.0]).max(initial=0.0) <= 1e-10 * scale
    assert y.optimality <= 1e-11 * scale


@given(p=laws(), v=commands(), k=healths)
@settings(max_examples=COUNT)
def test_the_first_axis_is_met_whenever_it_can_be(p: Params, v: Axes, k: Health) -> None:
    y = allocated(PRIORITY, p, v, k)
    order = [int(i) for i in p.order if y.lost[int(i)] == 0.0]
    assume(order)
    row = matrix(p, k)[order[0]]
    ends = np.sort([row * p.lo, row * p.hi], axis=0).sum(1)
    assert y.v[order[0]] == pytest.approx(np.clip(v[order[0]], *ends), abs=1e-8 * authority(p)[order[0]])


@given(p=laws(gain_max=10.0, kinds=("any", "whole")), v=commands())
@settings(max_examples=examples(25))
def test_each_axis_gets_what_those_before_it_leave(p: Params, v: Axes) -> None:
    """Against linear programs, one after another; an effector of tiny effect would make much of their tolerance."""
    y = allocated(PRIORITY, p, v)
    B, r = matrix(p), authority(p)
    held: list[int] = []
    got: list[float] = []
    for i in (int(i) for i in p.order if y.lost[int(i)] == 0.0):
        ends = []
        for sign in (1.0, -1.0):
            lp = linprog(
                sign * B[i] / r[i],
                A_eq=B[held] / r[held, None] if held else None,
                b_eq=np.array(got) / r[held] if held else None,
                bounds=list(zip(p.lo, p.hi, strict=True)),
                method="highs-ds",
                options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
            )
            assume(lp.status == 0)  # its own tolerance on the held axes can leave it nothing
            ends.append(sign * lp.fun * r[i])
        want = min(max(v[i], ends[0]), ends[1])
        assert y.v[i] == pytest.approx(want, abs=1e-6 * r[i])
        held.append(i)
        got.append(y.v[i])


@both
def test_effectors_the_axes_leave_free_go_where_they_prefer(model: Model) -> None:
    B = np.array([[1.0, 1.0, 0.0, 0.5], [0.0, 1.0, 1.0, -0.5]])
    prefer = np.array([0.2, -0.1, 0.3, 0.1])
    p = Params(tuple(B.ravel()), (1.0, 1.0), (0.0, 1.0), (-1.0,) * 4, (1.0,) * 4, tuple(prefer), (1.0,) * 4)
    v = np.array([0.4, 0.3])
    y = allocated(model, p, axes(v))
    assert first(y.u, 4) == pytest.approx(prefer + np.linalg.pinv(B) @ (v - B @ prefer), abs=1e-6)
    stiff = allocated(model, p._replace(stiff=(1.0, 1.0, 1.0, 1e4)), axes(v))
    assert abs(stiff.u.e3 - 0.1) < 1e-3 < abs(y.u.e3 - 0.1)


@both
@given(p=laws(gain_max=5.0, kinds=("any",)), f=st.lists(st.floats(0.1, 0.9), min_size=8, max_size=8))
@settings(max_examples=COUNT)
def test_with_effectors_at_bounds_the_others_are_still_as_near_as_they_can_be(model: Model, p: Params, f: list[float]) -> None:
    """Against least squares in which the axes count ten thousand times as much as the preference."""
    n, m = sizes(p)
    lo, hi = np.array(p.lo), np.array(p.hi)
    assume(n > m and (hi > lo).all())
    half = (hi - lo) / 2.0
    v = matrix(p) @ (lo + np.array(f[:n]) * (hi - lo))
    y = allocated(model, p, axes(v))
    assume(y.rank == m)
    heavy = 1e4 / authority(p)
    wished = np.clip(p.prefer, lo, hi)
    M = np.vstack([heavy[:, None] * matrix(p) * half, np.eye(n)])
    near = lsq_linear(M, np.concatenate([heavy * v, wished / half]), (lo / half, hi / half), method="bvls", tol=1e-14, max_iter=1000)
    assert first(y.u, n) / half == pytest.approx(near.x, abs=1e-3)


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


def test_by_priority_the_smallest_share_an_effector_has_in_an_axis_counts() -> None:
    """The second effector does a ten-millionth on the first axis: it is given up on its own axis for that."""
    law = Params((1.0, 1e-7, 0.0, 1.0), (1.0, 1.0), (0.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 1.0))
    y = allocated(PRIORITY, law, Axes(1.0 + 5e-8, -1.0))
    assert y.v.a0 - 1.0 == pytest.approx(5e-8, abs=1e-10)
    assert y.v.a1 == pytest.approx(0.5, abs=1e-3)
    assert y.rounds > allocated(WEIGHTED, law, Axes(1.0 + 5e-8, -1.0)).rounds >= 1.0, "one search for the command, one for what the axes get"


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
