"""Records, checks, names, purity: what every equation stands on."""

import math
from typing import Annotated as A
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrod.core.check import check, expect, problems
from pushrod.core.errors import ConfigError, InputError, ParameterError, PushrodError, UnknownNameError
from pushrod.core.names import count, find
from pushrod.core.quantity import Choice, Floats, Q, Table, flag
from pushrod.core.record import flat, get, leaves, numbers, put, unflat
from pushrod.core.ring import Ring
from pushrod.core.scalar import clamp, dead_band, maximum, minimum, sign, wrap_angle
from pushrod.core.table import fraction, lookup, segment, segment_near


class Sent(NamedTuple):
    u: A[float, Q("V")] = 0.0
    n: A[float, Q("tick")] = 0.0


RING = Ring(Sent, 3)


class Inner(NamedTuple):
    T: A[float, Q("s", 0.01, 5.0)] = 0.1
    mode: A[float, Choice(("hold", "damp"))] = 0.0

    def flaws(self, dt: float | None) -> Any:
        if dt is not None and dt > self.T:
            yield f"T = {self.T:g} s is shorter than the tick of {dt:g} s"


class Grid(NamedTuple):
    row: A[Floats, Table("-", rising=True)] = (0.0, 1.0)
    col: A[Floats, Table("m/s", rising=True)] = (0.0, 10.0, 20.0)
    z: A[Floats, Table("m/s2", shape=("row", "col"))] = (0.0, 1.0, 2.0, 10.0, 11.0, 12.0)


class Outer(NamedTuple):
    a: A[float, Q("m")] = 1.0
    inner: Inner = Inner()
    on: A[float, flag()] = 1.0
    line: A[tuple[Any, ...], RING] = RING.empty()


def test_leaves_have_paths_in_order() -> None:
    assert [leaf.path for leaf in leaves(Outer)] == ["a", "inner.T", "inner.mode", "on", "line"]
    assert [leaf.path for leaf in numbers(Outer)] == ["a", "inner.T", "inner.mode", "on"]
    assert leaves(A[float, Q("V")])[0].path == ""


def test_a_field_without_unit_is_refused() -> None:
    class Bare(NamedTuple):
        x: float = 0.0

    with pytest.raises(TypeError, match="Bare.x carries no unit"):
        leaves(Bare)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_flat_and_back(a: float, T: float, u: float) -> None:
    line = RING.put(RING.empty(), 1, Sent(u, 7.0))
    record = Outer(a, Inner(T, 1.0), 0.0, line)
    assert unflat(Outer, flat(record)) == record


def test_get_and_put_by_path() -> None:
    assert get(put(Outer(), "inner.T", 2.0), "inner.T") == 2.0
    assert get(3.0, "") == 3.0


def test_check_names_every_bad_field_with_value_unit_and_range() -> None:
    bad = Outer(math.nan, Inner(9.0, 7.0), 0.5)
    with pytest.raises(ParameterError) as caught:
        check(bad, "drive")
    text = str(caught.value)
    assert len(caught.value.problems) == 4
    assert "drive.a = nan m" in text
    assert "drive.inner.T = 9 s is outside its legal range; allowed [0.01, 5] s" in text
    assert "drive.inner.mode = 7" in text
    assert "0 (hold) | 1 (damp)" in text
    assert isinstance(caught.value, PushrodError)


def test_check_asks_the_record_what_ranges_cannot_say() -> None:
    check(Outer(), "drive")
    assert list(problems(Outer(), "drive", dt=0.5)) == ["drive.inner.T = 0.1 s is shorter than the tick of 0.5 s"]


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        (Grid(row=(0.0, 0.0)), "does not exceed"),
        (Grid(col=(0.0,)), "at least two points"),
        (Grid(z=(1.0,)), r"2 \(row\) x 3 \(col\) = 6"),
        (Grid(z=(1.0, math.inf)), r"z\[1\] = inf is not a finite number"),
        (Grid(z=[1.0]), "must be a tuple"),  # type: ignore[arg-type]
    ],
)
def test_check_of_tables(grid: Grid, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        check(grid)


def test_check_of_what_is_no_number() -> None:
    check(Inner(mode=True))  # a flag may be written as one
    assert list(problems(Inner(T="80 ms"))) == ["T = '80 ms' is not a number; allowed [0.01, 5] s"]  # type: ignore[arg-type]


def test_a_lone_number_needs_a_unit_and_a_ring_a_slot() -> None:
    for lone in (float, A[int, Q("V")]):
        with pytest.raises(TypeError, match="neither a record nor an annotated float"):
            leaves(lone)
    with pytest.raises(ValueError, match="at least one slot, got 0"):
        Ring(Sent, 0)


@pytest.mark.parametrize("k", [-1, 3])
def test_a_ring_has_no_other_slots(k: int) -> None:
    with pytest.raises(IndexError, match=f"3 slots has no slot {k}"):
        RING.put(RING.empty(), k, Sent())


def test_a_ring_is_replaced_slot_by_slot() -> None:
    line = RING.empty()
    for k in range(3):
        line = RING.put(line, k, Sent(float(k)))
    assert [RING.get(line, k).u for k in range(3)] == [0.0, 1.0, 2.0]
    assert RING.empty() == (Sent(), Sent(), Sent())


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    table = {"first_order": 1, "rate_limit": 2}
    assert find(table, "rate_limit", "model") == 2
    with pytest.raises(UnknownNameError, match="no model named 'First-order'; did you mean 'first_order'.*known: first_order, rate_limit"):
        find(table, "First-order", "model")


AXIS = (-3.0, -1.0, 0.0, 0.5, 4.0)


@given(st.floats(-10, 10), st.integers(0, 3))
def test_segment_near_finds_what_segment_finds(x: float, j: int) -> None:
    assert segment_near(AXIS, x, j) == segment(AXIS, x)
    assert 0.0 <= fraction(AXIS, segment(AXIS, x), x) <= 1.0


@given(st.floats(-10, 10))
def test_look_up_in_a_straight_line_is_the_line(x: float) -> None:
    class Line(NamedTuple):
        x: Floats = AXIS
        y: Floats = tuple(2.0 * v + 1.0 for v in AXIS)

    assert math.isclose(lookup(Line(), x), 2.0 * clamp(x, -3.0, 4.0) + 1.0, abs_tol=1e-12)


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_smaller_larger_between_and_sign(a: float, b: float) -> None:
    assert (minimum(a, b), maximum(a, b)) == (min(a, b), max(a, b))
    assert sign(a) == (a > 0) - (a < 0)
    assert clamp(a, -abs(b), abs(b)) == max(-abs(b), min(a, abs(b)))


@given(st.floats(-1e6, 1e6))
def test_wrapped_angles_point_the_same_way(x: float) -> None:
    w = wrap_angle(x)
    assert -math.pi - 1e-9 <= w <= math.pi + 1e-9
    assert math.isclose(math.cos(w), math.cos(x), abs_tol=1e-9)


@given(st.floats(-100, 100), st.floats(0, 10))
def test_dead_band_moves_towards_zero(x: float, d: float) -> None:
    y = dead_band(x, d)
    assert abs(y) == max(abs(x) - d, 0.0)
    assert y * x >= 0.0


class Wrapped(NamedTuple):
    inner: Inner = Inner()
    x: A[float, Q("m")] = 0.0


@pytest.mark.parametrize(
    ("value", "record", "said"),
    [
        ("1", A[float, Q("m")], "it must be a number, got '1'"),
        (True, A[float, Q("m")], "it must be a number, got True"),
        (Inner(), Wrapped, "it must be a test_core.Wrapped, got test_core.Inner"),
        ((0.1, 0.0), Inner, "it must be a test_core.Inner, got (0.1, 0.0)"),
        (Wrapped(Sent()), Wrapped, "it.inner must be a test_core.Inner, got test_core.Sent"),
    ],
)
def test_what_compiled_code_would_misread_is_refused_by_its_path(value: Any, record: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        expect(value, record, "it")
    assert str(caught.value) == said


def test_what_it_is_passes() -> None:
    expect(1, A[float, Q("m")], "it")
    expect(Wrapped(), Wrapped, "it")


def test_a_range_upside_down_is_refused_where_it_is_written() -> None:
    with pytest.raises(ValueError, match=r"Q\('m', 1.0, 0.0\): the lower bound lies above"):
        Q("m", 1.0, 0.0)


def test_counting_in_words() -> None:
    assert (count(1, "signal"), count(2, "signal"), count(0, "signal")) == ("1 signal", "2 signals", "0 signals")


def test_a_configuration_keeps_every_problem() -> None:
    error = ConfigError(["a: wrong", "b: wrong"])
    assert error.problems == ("a: wrong", "b: wrong")
    assert str(error) == "a: wrong\nb: wrong"
