"""What `offences` finds in a function that would not give the same numbers everywhere, and that it finds nothing else."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from pushrod.core.purity import is_pure, offences, pure
from pushrod.core.ring import Ring

RING = Ring(float, 2)


class Kept(NamedTuple):
    x: float
    line: Any


def powers(x: float) -> float:
    return x**2


def powers_in_place(x: float) -> float:
    x **= 2
    return x


def largest(x: float, y: float) -> float:
    return max(x, y)


def length(x: float, y: float) -> float:
    return math.hypot(x, y)


def time(at: Any) -> float:
    return at.k * at.dt  # type: ignore[no-any-return]


def time_turned(at: Any) -> float:
    return at.dt * at.k  # type: ignore[no-any-return]


def refuses(x: float) -> float:
    if x < 0.0:
        raise ValueError(x)
    return x


def lists(x: float) -> float:
    return [x, x][0]


def stale(line: Any, x: float) -> Any:
    new = RING.put(line, 0, x)
    return new, RING.get(line, 1)


def escapes(x: float) -> Any:
    own = RING.empty()
    own = RING.put(own, 0, x)
    return own


def escapes_in_a_record(x: float) -> Any:
    own = RING.put(RING.empty(), 1, x)
    return Kept(x, RING.put(own, 0, x))


@pytest.mark.parametrize(
    ("function", "line", "why"),
    [
        (powers, 1, "multiply instead"),
        (powers_in_place, 1, "multiply instead"),
        (largest, 1, "max() is not pure here: use core.scalar.maximum"),
        (length, 1, "hypot() is not pure here: use math.sqrt(x * x + y * y)"),
        (time, 1, "write float(at.k) * at.dt"),
        (time_turned, 1, "write float(at.k) * at.dt"),
        (refuses, 2, "a step never raises"),
        (lists, 1, "a step never allocates"),
        (escapes, 3, "own was made here by empty() and ends with this function: do not give it back"),
        (escapes_in_a_record, 2, "own was made here by empty()"),
        (stale, 2, "line is read after put() replaced it: use the line that put() gave"),
    ],
)
def test_each_offence_is_told_with_its_line(function: Callable[..., Any], line: int, why: str) -> None:
    (found,) = offences(function)
    assert found.startswith(f"{__file__}:{function.__code__.co_firstlineno + line}: ")
    assert why in found


def allowed(line: Any, at: Any, x: float, y: float) -> Any:
    line = RING.put(line, 0, x)
    line = RING.put(line, 1, RING.get(line, 0))
    t = float(at.k) * at.dt
    own = RING.put(RING.empty(), 0, y)
    return line, math.sqrt(x * x + y * y) + t * (x if x > y else y) + RING.get(own, 0)


def test_what_is_allowed_is_no_offence() -> None:
    assert offences(allowed) == []


def test_only_the_mark_makes_a_function_pure() -> None:
    assert not is_pure(allowed)
    assert is_pure(pure(lambda: 0.0))
    assert not is_pure(3.0)
