"""The delay against a list of events written out here: who acts when, to the last bit of arithmetic."""

import itertools
import math
from fractions import Fraction
from typing import Annotated as A
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check
from pushrod.core.errors import InputError, ParameterError
from pushrod.core.purity import offences
from pushrod.core.quantity import Floats, Q, Table
from pushrod.models import delay


class Command(NamedTuple):
    torque: A[float, Q("N.m")] = 0.0
    limit: A[float, Q("-")] = 1.0


LINE = delay.of(Command, slots=16)


def command(k: int) -> Command:
    return Command(float(k + 1), -float(k + 1))


def run(delays: list[float], dt: float, line: Any = LINE, start: float = 0.0) -> tuple[list[Any], Any]:
    """One command a tick, number k with torque k + 1; what came out, and the last state."""
    s, out = line.State(n=start), []
    for k, d in enumerate(delays):
        s, y = line.step(line.Params(d), s, command(k), dt)
        out.append(y)
    return out, s


def expected(delays: list[float], dt: float, slots: int = 16) -> tuple[list[tuple[float, float, float]], int, int]:
    """(before, after, h) of each tick as torques, how many were late and how many wait; a plain list of events, times as (tick, offset)."""
    on_the_way: list[tuple[int, float, float]] = []
    acting, late, rows = 0.0, 0, []
    for k, d in enumerate(delays):
        ticks = min(math.floor(d / dt + 1e-9), slots - 1)
        arrival = (k + ticks, min(max(d - ticks * dt, 0.0), dt))
        if on_the_way and arrival <= on_the_way[-1][:2]:
            arrival = on_the_way.pop()[:2]
        on_the_way.append((*arrival, float(k + 1)))
        overdue = [e for e in on_the_way if e[0] < k]
        late += len(overdue)
        before = overdue[-1][2] if overdue else acting
        on_the_way = [e for e in on_the_way if e[0] >= k]
        if on_the_way and on_the_way[0][0] == k:
            _, h, acting = on_the_way.pop(0)
        else:
            h, acting = dt, before
        rows.append((before, acting, h))
    return rows, late, len(on_the_way)


def rows(out: list[Any]) -> list[tuple[float, float, float]]:
    return [(y.before.torque, y.after.torque, y.h) for y in out]


DT = 0.01
DELAYS = st.lists(st.one_of(st.floats(0.0, 0.14), st.sampled_from([0.0, 0.01, 0.03, 0.07, 0.14])), min_size=1, max_size=80)


@given(DELAYS)
def test_changing_delays_follow_the_event_list(delays: list[float]) -> None:
    out, s = run(delays, DT)
    want, late, waiting = expected(delays, DT)
    assert rows(out) == want
    assert (s.late, s.cut, s.waiting) == (late, 0.0, waiting)
    assert len(s.line) == 16


@given(st.lists(st.integers(0, 14 << 13), min_size=1, max_size=80))
def test_arrival_is_the_latest_due_time_so_far(millionths: list[int]) -> None:
    """In exact arithmetic: number k arrives at A_k = the greatest k dt + delay so far; the last of an equal run is the one that acts."""
    dt, delays = Fraction(1, 128), [Fraction(n, 1 << 20) for n in millionths]
    out, _ = run([float(d) for d in delays], float(dt))
    arrivals = list(itertools.accumulate((k * dt + d for k, d in enumerate(delays)), max))
    for k, y in enumerate(out):
        known = arrivals[: k + 1]
        before = sum(a // dt < k for a in known)
        here = [a for a in known if a // dt == k]
        assert y.before.torque == before
        assert y.after.torque == (before + here.count(here[0]) if here else before)
        assert Fraction(y.h) == (here[0] - k * dt if here else dt)


@given(st.floats(0.0, 0.14), st.integers(1, 60))
def test_each_command_acts_exactly_from_its_arrival_until_the_next(d: float, n: int) -> None:
    out, s = run([d] * n, DT)
    switch = {y.after.torque: k * DT + y.h for k, y in enumerate(out) if y.after.torque != y.before.torque}
    for number, t in switch.items():
        assert t == pytest.approx((number - 1.0) * DT + d, abs=1e-12)
    assert list(switch) == [float(j + 1) for j in range(len(switch))], "in order, none left out"
    assert len(switch) >= n - math.floor(d / DT + 1e-9) - 1
    assert s.late == 0.0


@given(DELAYS)
def test_first_in_first_out_and_whole_records(delays: list[float]) -> None:
    out, _ = run(delays, DT)
    acted = [c for y in out for c in (y.before, y.after)]
    assert all(a.torque <= b.torque for a, b in itertools.pairwise(acted))
    assert all(c.limit == (-c.torque if c.torque else 1.0) for c in acted), "the fields of a record travel together"


@given(DELAYS)
def test_nothing_acts_before_its_delay_has_passed(delays: list[float]) -> None:
    out, _ = run(delays, DT)
    for k, y in enumerate(out):
        for c, t in ((y.before, k * DT), (y.after, k * DT + y.h)):
            if c.torque > 0.0:
                sent = int(c.torque) - 1
                assert t >= sent * DT + delays[sent] - 1e-9


@pytest.mark.parametrize("ticks", range(15))
def test_a_whole_number_of_ticks_arrives_at_a_tick_start(ticks: int) -> None:
    """0.29 / 0.01 is 28.999...: rounding must not shift what people see by a tick."""
    out, _ = run([ticks * 0.01] * 40, 0.01)
    assert [y.after.torque for y in out] == [max(0.0, k + 1.0 - ticks) for k in range(40)]
    long = delay.of(Command, slots=40)
    out, _ = run([0.29] * 40, 0.01, long)
    assert [y.after.torque for y in out[:31]] == [0.0] * 29 + [1.0, 2.0]


def test_two_arrivals_in_one_tick_the_later_acts_next_tick_and_is_counted() -> None:
    out, s = run([0.032, 0.025, 0.0249], DT)  # arrive at 0.032, 0.035, 0.0449
    assert s.late == 0.0
    s_late, seen = s, []
    for k in (3, 4, 5):
        s_late, y = LINE.step(LINE.Params(0.14), s_late, command(k), DT)
        seen.append((y.before.torque, y.after.torque, round(y.h, 12)))
    assert seen == [(0.0, 1.0, 0.002), (2.0, 3.0, 0.0049), (3.0, 3.0, 0.01)]
    assert s_late.late == 1.0
    assert [y.after.torque for y in out] == [0.0, 0.0, 0.0]


def test_a_shorter_delay_replaces_the_one_ahead_and_keeps_its_arrival() -> None:
    out, _ = run([0.1, 0.0, 0.0] + [0.1] * 12, DT)
    first = next((k, y) for k, y in enumerate(out) if y.after.torque > 0.0)
    assert (first[0], first[1].after.torque, first[1].h) == (10, 3.0, 0.0)


def test_a_tick_of_no_length_takes_nothing_and_delivers_nothing() -> None:
    _, s = run([0.025] * 9, DT)
    again, y = LINE.step(LINE.Params(0.025), s, Command(99.0, 0.0), 0.0)
    assert again == s
    assert (y.before, y.after, y.h) == (s.u, s.u, 0.0)


def test_an_arrival_never_lies_beyond_a_tick_that_was_cut_short() -> None:
    _, s = run([0.028], DT)
    for _ in range(2):
        s, y = LINE.step(LINE.Params(0.1), s, Command(), 0.004)
    assert (y.after.torque, y.h) == (1.0, 0.004)


def test_a_delay_the_line_cannot_hold_is_refused_beforehand_and_cut_in_the_step() -> None:
    with pytest.raises(
        ParameterError, match=r"bus\.delay = 0\.15 s is 15 ticks of dt = 0\.01 s and needs 17 slots; this line has 16: keep it below 0\.15 s"
    ):
        check(LINE.Params(0.15), "bus", dt=0.01)
    check(LINE.Params(0.1499), "bus", dt=0.01)
    check(LINE.Params(0.15), "bus")
    out, s = run([5.0] * 40, DT)
    assert s.cut == 40.0
    assert [y.after.torque for y in out] == [0.0] * 15 + [k - 14.0 for k in range(15, 40)]
    assert all(y.h == DT for y in out)
    _, s = run([0.1599] * 40, DT)
    assert s.cut == 0.0


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=60), st.floats(1e-300, 0.1))
@settings(max_examples=examples(50))
def test_any_delay_at_any_tick_stays_within_the_line(delays: list[float], dt: float) -> None:
    out, s = run(delays, dt)
    assert 0.0 <= s.waiting <= 16.0
    assert all(0.0 <= y.h <= dt for y in out)


@given(st.lists(st.floats(0.0, 0.2), min_size=30, max_size=60), st.integers(1, 30))
def test_it_does_not_matter_where_on_the_circle_the_ticks_are(delays: list[float], before: int) -> None:
    out, s = run(delays, DT)
    later, t = run(delays, DT, start=delay.CIRCLE - before)
    assert later == out
    assert (t.waiting, t.late, t.cut) == (s.waiting, s.late, s.cut)
    assert t.n == len(delays) - before


def test_equal_arguments_give_the_same_model() -> None:
    assert delay.of(Command, 16) is delay.of(Command, slots=16) is LINE
    assert delay.of(Command, 17) is not LINE


def test_what_cannot_travel_is_refused() -> None:
    class Bare(NamedTuple):
        a: A[float, Q("-")]

    class Mapped(NamedTuple):
        m: A[Floats, Table("-")] = (1.0, 2.0)

    with pytest.raises(InputError, match="give a a default"):
        delay.of(Bare, 8)
    with pytest.raises(InputError, match="m holds no number"):
        delay.of(Mapped, 8)
    with pytest.raises(InputError, match="at least 2 slots, got 1"):
        delay.of(Command, 1)


def test_a_lone_float_travels_too() -> None:
    line = delay.of(A[float, Q("V")], 4)
    s = line.State()
    s, y = line.step(line.Params(0.005), s, 3.0, DT)
    assert (y.before, y.after, y.h) == (0.0, 3.0, 0.005)


def test_the_step_is_pure() -> None:
    assert offences(LINE.step) == []


@pytest.mark.parametrize("now", [0.0, 1.0, 0.3 * delay.CIRCLE, 0.6 * delay.CIRCLE, delay.CIRCLE - 1.0])
def test_what_is_less_than_half_a_circle_ahead_is_to_come_and_the_rest_is_past(now: float) -> None:
    quarter = 0.25 * delay.CIRCLE
    for ahead in (0.0, 1.0, quarter + 1.0, 2.0 * quarter - 1.0):
        assert delay.ticks_until(math.floor(now + ahead) % delay.CIRCLE, math.floor(now)) == math.floor(ahead)
        assert delay.ticks_until(math.floor(now - ahead) % delay.CIRCLE, math.floor(now)) == -math.floor(ahead)
