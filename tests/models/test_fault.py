"""Each kind of fault, when it acts, and what is said about it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pushrod.core.check import check
from pushrod.core.errors import ParameterError
from pushrod.models import fault
from pushrod.models.fault import In, Out, Params, State, is_active, step, told_health


def play(p: Params, inputs: list[float], dt: float = 0.1) -> list[Out]:
    s, seen = State(), []
    for k, u in enumerate(inputs):
        s, y = step(p, s, In(u, 1.0 if is_active(p, k * dt) else 0.0), dt)
        seen.append(y)
    return seen


RAMP = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ("p", "seen"),
    [
        (Params(), RAMP),
        (Params(fault.STUCK, 0.3, 0.5), [0.0, 1.0, 2.0, 2.0, 2.0, 5.0, 6.0]),
        (Params(fault.LOSS, 0.3, 0.5, effectiveness=0.25), [0.0, 1.0, 2.0, 0.75, 1.0, 5.0, 6.0]),
        (Params(fault.LOSS, 0.2, effectiveness=0.0), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (Params(fault.BIAS, 0.3, 0.5, bias=-10.0), [0.0, 1.0, 2.0, -7.0, -6.0, 5.0, 6.0]),
        (Params(fault.DELAY, 0.3, 0.5, extra_delay=0.02), RAMP),
    ],
)
def test_what_comes_out(p: Params, seen: list[float]) -> None:
    check(p)
    assert [y.y for y in play(p, RAMP)] == seen


def test_extra_delay_is_told_to_the_world_while_it_lasts() -> None:
    out = play(Params(fault.DELAY, 0.3, 0.5, extra_delay=0.02), RAMP)
    assert [y.extra_delay for y in out] == [0.0, 0.0, 0.0, 0.02, 0.02, 0.0, 0.0]


def test_announced_or_silent() -> None:
    silent = Params(fault.STUCK, 0.3, 0.5)
    assert {y.reported for y in play(silent, RAMP)} == {fault.NONE}
    assert [y.reported for y in play(silent._replace(announced=1.0), RAMP)] == [0.0, 0.0, 0.0, fault.STUCK, fault.STUCK, 0.0, 0.0]
    assert [fault.KINDS[int(k)] for k in (fault.NONE, fault.STUCK, fault.LOSS, fault.BIAS, fault.DELAY)] == list(fault.KINDS)


@pytest.mark.parametrize("at", [1.0, 1e3, 1e6, 1e8])
def test_a_fault_starts_at_its_time_however_late_that_is(at: float) -> None:
    p = Params(fault.BIAS, at, at + 10.0)
    assert not is_active(p, at - 1e-3)
    assert is_active(p, at)
    assert is_active(p, at + 10.0 - 1e-3)
    assert not is_active(p, at + 10.0)


@given(st.integers(0, 10_000), st.integers(1, 10_000), st.sampled_from([0.001, 0.01, 0.025, 0.03, 0.1]))
@example(11, 4, 0.03)  # 11 * 0.03 is less than 0.33
def test_active_from_its_tick_to_the_one_before_its_end(first: int, ticks: int, dt: float) -> None:
    """Times written as decimals, ticks as k * dt: rounding moves no edge."""
    p = Params(fault.BIAS, round(first * dt, 6), round((first + ticks) * dt, 6))
    assert not is_active(p, (first - 1) * dt)
    assert is_active(p, first * dt)
    assert is_active(p, (first + ticks - 1) * dt)
    assert not is_active(p, (first + ticks) * dt)


def test_a_fault_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"left\.until = 1 s is not after at = 2 s"):
        check(Params(fault.STUCK, 2.0, 1.0), "left")
    check(Params(fault.NONE, 2.0, 1.0))


def test_a_late_fault_starts_at_its_tick_and_not_one_before():
    p = fault.Params(fault.STUCK, at=20_000.0)
    assert not fault.is_active(p, 1_999_999.0 * 0.01)
    assert fault.is_active(p, 2_000_000.0 * 0.01)


@pytest.mark.parametrize(
    ("kind", "left"),
    [(fault.NONE, 1.0), (fault.STUCK, 0.0), (fault.LOSS, 0.25), (fault.BIAS, 1.0), (fault.DELAY, 1.0)],
)
def test_an_actuator_tells_what_it_still_gives_while_an_announced_fault_lasts(kind: float, left: float) -> None:
    p = Params(kind, 1.0, 2.0, announced=1.0, effectiveness=0.25)
    assert [told_health(p, t) for t in (0.5, 1.0, 1.5, 2.0)] == [1.0, left, left, 1.0]
    assert told_health(p._replace(announced=0.0), 1.5) == 1.0
