"""The steering PID of the converter: its parts, their limits, and what the integral does at standstill."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import problems
from pushrod.vehicles.steer_pid import In, Out, Params, State, step

P = Params(kp=10.0, ki=2.0, kd=0.5, max=8.0, min=-6.0, max_p=5.0, min_p=-4.0, max_i=0.5, min_i=-0.3, max_d=1.0, min_d=-0.5, decay=0.9)


def run(p: Params, inputs: list[In], dt: float = 0.1) -> list[Out]:
    s, found = State(), []
    for u in inputs:
        s, y = step(p, s, u, dt)
        found.append(y)
    return found


def test_the_parts_of_a_steady_error() -> None:
    first, second = run(P, [In(0.2, 0.1, 5.0), In(0.2, 0.12, 5.0)])
    assert (first.p, first.i, first.d) == pytest.approx((1.0, 2.0 * 0.01, 0.0))
    assert (second.p, second.i, second.d) == pytest.approx((0.8, 2.0 * 0.018, 0.5 * -0.2))
    assert second.u == pytest.approx(second.p + second.i + second.d)


def test_each_part_and_the_sum_are_limited() -> None:
    ys = run(P, [In(3.0, 0.0, 5.0)] * 30)
    assert (ys[-1].p, ys[-1].i) == (5.0, 0.5)
    jump = run(P, [In(0.0, 0.0, 5.0), In(1.0, 0.0, 5.0)])[-1]
    assert jump.d == 1.0
    assert run(P._replace(max=2.0), [In(3.0, 0.0, 5.0)])[-1].u == 2.0
    assert run(P, [In(-3.0, 0.0, 5.0)] * 30)[-1].i == -0.3


def test_at_standstill_the_integral_decays_with_every_call() -> None:
    ys = run(P, [In(0.1, 0.0, 5.0)] + [In(0.1, 0.0, 0.0099)] * 3)
    assert [y.i for y in ys] == pytest.approx([0.02, 0.018, 0.0162, 0.01458])
    assert run(P, [In(0.1, 0.0, -0.01)])[-1].i == pytest.approx(0.02)


def test_without_integral_gain_nothing_is_divided() -> None:
    ys = run(P._replace(ki=0.0), [In(0.1, 0.0, 5.0)] * 5)
    assert [y.i for y in ys] == [0.0] * 5


def test_what_is_remembered_is_the_integral_and_the_last_error() -> None:
    s, _ = step(P, State(), In(0.3, 0.1, 5.0), 0.1)
    assert s == (pytest.approx(0.02), pytest.approx(0.2), 1.0)
    assert list(problems(s)) == []


def test_a_tick_of_length_zero_changes_nothing() -> None:
    for s in (State(), State(0.1, 0.2, 1.0)):
        after, y = step(P, s, In(0.3, 0.0, 0.0), 0.0)
        assert after == s
        assert y.d == 0.0


@settings(max_examples=examples(100))
@given(st.lists(st.builds(In, *(st.floats(-bound, bound) for bound in (2.0, 2.0, 50.0))), min_size=1, max_size=10), st.floats(1e-9, 1.0))
def test_the_output_stays_within_its_limits(inputs: list[In], dt: float) -> None:
    for y in run(P, inputs, dt):
        assert P.min <= y.u <= P.max
        assert P.min_i <= y.i + 1e-12
        assert y.i <= P.max_i + 1e-12
        assert all(math.isfinite(x) for x in y)
