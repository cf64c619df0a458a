"""Allocation on frames as programs build them, against an exact program on what they are: rounding in the effectiveness costs no authority."""

import math

import numpy as np
import pytest
from effector_sets import authority, first, half_ranges
from exact_program import Surd, by_priority
from frames import GAIN_MAX, Case, case, expected, turned
from test_allocation import from_the_nearest

from pushrod.core.model import Model
from pushrod.pipeline.allocate.axes import Axes, Health
from pushrod.pipeline.allocate.effectiveness import In, Params, State
from pushrod.pipeline.allocate.priority import PRIORITY
from pushrod.pipeline.allocate.solve import Out
from pushrod.pipeline.allocate.weighted import WEIGHTED

both = pytest.mark.parametrize("model", [PRIORITY, WEIGHTED], ids=lambda m: m.name)
CASES = 140
EVERY = 40_000
MOVED = 1e-7


def answered(model: Model, c: Case) -> Out:
    return model.step(c.p, State(), In(c.v, c.health), 0.01)[1]


def lacks(c: Case) -> float:
    """The most an axis lacks, or has too much, of what it gets exactly, in authorities."""
    y, e = answered(PRIORITY, c), expected(c)
    if e.near < 1e-9:
        return 0.0  # a gain at its very bound: either decision is right
    lost = first(y.lost, 4) != 0.0
    assert tuple(lost) == e.lost
    assert y.optimality <= 1e-9
    return float(np.abs((first(y.v, 4) - e.got) / authority(c.p))[~lost].max(initial=0.0))


def moved(model: Model, c: Case, seed: int) -> float:
    """How far effectors contribute more or less, in half-ranges, for a command moved by one authority, at the rate of a very small move."""
    way = np.random.default_rng(seed).uniform(-1.0, 1.0, 4)
    v = np.array(c.v[:4]) + MOVED * way / np.linalg.norm(way) * authority(c.p)
    y, z = answered(model, c), answered(model, c._replace(v=Axes(*map(float, v))))
    n = len(c.p.lo)
    return float((np.abs(first(z.u, n) - first(y.u, n)) * np.array(c.health[:n]) / half_ranges(c.p)).max() / MOVED)


def shuffled(c: Case, seed: int) -> tuple[Case, np.ndarray]:
    """The same frame with its effectors in another order."""
    n = len(c.p.lo)
    turn = np.random.default_rng(seed).permutation(n)
    B = np.array(c.p.B).reshape(4, n)[:, turn]
    p = c.p._replace(B=tuple(map(float, B.ravel())), prefer=tuple(c.p.prefer[j] for j in turn))
    return c._replace(p=p, health=Health(*(c.health[j] for j in turn))), turn


def check(seed: int) -> None:
    c = case(seed)
    assert lacks(c) <= 1e-6, (seed, c)
    assert moved(PRIORITY, c, seed) <= c.p.gain_max, seed


@both
def test_a_command_that_moves_a_little_moves_no_effector_by_more_than_the_gain_allows(model: Model) -> None:
    for seed in range(CASES, 2 * CASES):
        assert moved(model, case(seed), seed) <= GAIN_MAX, seed


def test_no_authority_is_lost_on_frames() -> None:
    for seed in range(CASES):
        check(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first_seed", range(0, EVERY, 1000))
def test_no_authority_is_lost_on_any_of_forty_thousand_frames(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 1000):
        check(seed)


def test_the_plus_quad_of_the_manual_gets_its_thrust() -> None:
    """Lift, roll, pitch, yaw. Pitch takes two rotors to their limits; sines and cosines that are not quite 0 must not tie the lift to it."""
    arms = [0.5 * math.pi * a for a in range(4)]
    rows = [[0.25] * 4, [0.5 * math.sin(x) for x in arms], [0.5 * math.cos(x) for x in arms], [0.25, -0.25, 0.25, -0.25]]
    plus = Params(tuple(x for row in rows for x in row), order=(1.0, 2.0, 0.0, 3.0), lo=(0.0,) * 4)
    exact = plus._replace(B=tuple(0.0 if abs(x) < 1e-12 else x for x in plus.B))
    y, z = (PRIORITY.step(p, State(), In(Axes(0.5, 0.0, 0.25, 1.0)), 0.01)[1] for p in (plus, exact))
    assert first(y.v, 4) == pytest.approx(first(z.v, 4), abs=1e-12)
    assert y.v.a0 == pytest.approx(0.5, abs=1e-9)


@both
def test_the_order_of_effectors_does_not_matter(model: Model) -> None:
    for seed in range(CASES):
        c = case(seed)
        other, turn = shuffled(c, seed)
        n = len(c.p.lo)
        assert first(answered(model, other).u, n) == pytest.approx(first(answered(model, c).u, n)[turn], abs=1e-9), seed


# Half-ranges, for a command moved by MOVED. The corner of an attainable set may be acute on a frame at an odd angle: a coaxial Y6 turned by 0.01 deg
# moves 1.4e-4 there, continuously. A wrong choice among limits moves half a range.
JUMP = 1e-3


def check_turned(seed: int) -> None:
    c = turned(seed)
    assert moved(PRIORITY, c, seed) * MOVED <= JUMP, seed
    other, turn = shuffled(c, seed)
    n = len(c.p.lo)
    assert first(answered(PRIORITY, other).u, n) == pytest.approx(first(answered(PRIORITY, c).u, n)[turn], abs=1e-7), seed


def test_turned_frames_neither_jump_nor_depend_on_the_order_of_effectors() -> None:
    for seed in range(400):
        check_turned(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first_seed", range(0, EVERY, 1000))
def test_no_turned_frame_jumps_or_depends_on_the_order_of_effectors(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 1000):
        check_turned(seed)


def test_a_plus_quad_nearly_turned_into_an_x_does_not_jump() -> None:
    """Roll would gain 0.6 % of an authority for half a range of two rotors against each other: too little, whichever limit is met first."""
    a = 0.7794544129897565
    arms = [0.5 * math.pi * k + a for k in range(4)]
    rows = [[1.0] * 4, [-0.25 * math.sin(x) for x in arms], [0.25 * math.cos(x) for x in arms], [0.05, -0.05, 0.05, -0.05]]
    p = Params(tuple(x for row in rows for x in row), order=(0.0, 1.0, 2.0, 3.0), lo=(0.0,) * 4)
    v = np.array([3.0, -0.5303207181220637, 0.003152131104306219, 0.0])
    w = np.array([2.999999945080681, -0.5303207190330085, 0.003152118270832167, 2.0536409020987514e-09])
    y, z = (PRIORITY.step(p, State(), In(Axes(*map(float, x))), 0.01)[1] for x in (v, w))
    assert first(y.u, 4) == pytest.approx(first(z.u, 4), abs=1e-6)


@both
def test_the_answer_on_a_frame_is_the_nearest_to_the_preferred_one(model: Model) -> None:
    for seed in range(CASES):
        c = case(seed)
        assert from_the_nearest(c.p, c.health, answered(model, c)) <= 1e-9, seed


def test_the_weighted_answer_on_a_frame_is_optimal() -> None:
    for seed in range(CASES):
        assert answered(WEIGHTED, case(seed)).optimality <= 1e-12, seed


def test_the_exact_program_on_a_square_whose_answer_is_known() -> None:
    """Full tilt leaves the sum at its middle; the twist gets nothing. And a number with a root in it orders as it should."""
    B = [[1, 1, 1, 1], [1, -1, -1, 1], [-1, -1, 1, 1], [1, -1, 1, -1]]
    got = by_priority(B, [4, 3, 0, 1], [0] * 4, [1] * 4, [1, 2, 0, 3])
    assert got == {1: 2, 2: 0, 0: 2, 3: 0}
    assert Surd(3, -2) > 0 > Surd(-3, 2)
    assert Surd(1, 1) * Surd(-1, 1) == 1
