"""The slide against closed solutions, in each direction on its own."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.plants.slide import Params, State, step

P = Params(M=50.0, Fv=150.0, Fc=20.0, skew_v=-1.0 / 3.0, skew_c=-0.5)  # 100 and 200 N.s/m, 10 and 30 N


def run(p: Params, s: State, F: float, t: float, n: int) -> State:
    for _ in range(n):
        s, _ = step(p, s, F, t / n)
    return s


def test_each_direction_has_its_own_terminal_speed() -> None:
    assert run(P, State(), 60.0, 20.0, 2000).v == pytest.approx((60.0 - 10.0) / 100.0)
    assert run(P, State(), -60.0, 20.0, 2000).v == pytest.approx(-(60.0 - 30.0) / 200.0)


def test_each_direction_has_its_own_force_to_start() -> None:
    assert run(P, State(), 9.9, 1.0, 10).v == 0.0
    assert run(P, State(), 10.1, 1.0, 10).v > 0.0
    assert run(P, State(), -29.9, 1.0, 10).v == 0.0
    assert run(P, State(), -30.1, 1.0, 10).v < 0.0


def test_an_offset_is_a_force() -> None:
    leaning = P._replace(offset=5.0)
    assert run(leaning, State(), 40.0, 1.0, 10) == run(P, State(), 45.0, 1.0, 10)


@given(st.floats(-100.0, 100.0), st.floats(-1.0, 1.0))
def test_without_a_drop_the_cut_of_a_time_does_not_matter(F: float, v: float) -> None:
    once, often = run(P, State(0.2, v), F, 0.5, 1), run(P, State(0.2, v), F, 0.5, 64)
    assert often.q == pytest.approx(once.q, abs=1e-9)
    assert often.v == pytest.approx(once.v, abs=1e-9)


def test_friction_that_is_less_at_rest() -> None:
    p = Params(M=50.0, Fv=0.0, Fc=20.0, drop=0.5, v_s=0.1)
    assert run(p, State(), 9.9, 1.0, 10).v == 0.0
    assert run(p, State(), 10.1, 0.001, 1).v > 0.0
    # a force between the two speeds it up until friction has grown to it: 15 = 20 (1 - exp(-(v / v_s)^2) / 2)
    assert run(p, State(), 15.0, 60.0, 6000).v == pytest.approx(0.1 * math.sqrt(math.log(2.0)), rel=1e-6)


def test_a_spring_swings_it_with_its_own_period_and_keeps_the_energy() -> None:
    p = Params(M=2.0, Fv=0.0, Fc=0.0, k=8.0)
    s = run(p, State(0.1, 0.0), 0.0, math.pi, 20000)  # one period: 2 pi sqrt(M / k)
    assert s.q == pytest.approx(0.1, rel=1e-3)
    assert s.v == pytest.approx(0.0, abs=1e-4)
