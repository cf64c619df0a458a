"""Allocation by priority in exact arithmetic: the rank decision and one linear program after another, in fractions or in Q(sqrt 2).

    for i in order:   max or min (B u)_i up to v_i        lo <= u <= hi,   (B u)_h fixed for all h before i

A simplex with bounded variables: the axes y = B u are the first basis, free until it is their turn and fixed afterwards. Bland's rule ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Exact = Any  # Fraction or Surd


class Surd(NamedTuple):
    """a + b sqrt 2."""

    a: Fraction
    b: Fraction

    def __add__(self, other: Any) -> Any:
        o = surd(other)
        return Surd(self.a + o.a, self.b + o.b)

    def __mul__(self, other: Any) -> Any:
        o = surd(other)
        return Surd(self.a * o.a + 2 * self.b * o.b, self.a * o.b + self.b * o.a)

    def __truediv__(self, other: Any) -> Any:
        o = surd(other)
        norm = o.a * o.a - 2 * o.b * o.b
        return self * Surd(o.a / norm, -o.b / norm)

    def __neg__(self) -> Any:
        return Surd(-self.a, -self.b)

    def __sub__(self, other: Any) -> Any:
        return self + -surd(other)

    def __rsub__(self, other: Any) -> Any:
        return surd(other) - self

    def __rtruediv__(self, other: Any) -> Any:
        return surd(other) / self

    __radd__ = __add__  # type: ignore[assignment]
    __rmul__ = __mul__  # type: ignore[assignment]

    def sign(self) -> int:
        a, b = self.a, self.b
        if a >= 0 and b >= 0:
            return int(a > 0 or b > 0)
        if a <= 0 and b <= 0:
            return -1
        inner = a * a - 2 * b * b
        return (inner > 0) - (inner < 0) if a > 0 else (inner < 0) - (inner > 0)

    def __lt__(self, other: Any) -> bool:
        return surd(self - other).sign() < 0

    def __gt__(self, other: Any) -> bool:
        return surd(self - other).sign() > 0

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        return surd(self - other).sign() == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> float:
        return float(self.a) + float(self.b) * 2.0**0.5


def surd(x: Any) -> Surd:
    return x if isinstance(x, Surd) else Surd(Fraction(x), Fraction(0))


def inverse_diagonal(M: list[list[Exact]]) -> list[Exact] | None:
    """The diagonal of the inverse; None where there is none."""
    n = len(M)
    rows = [[*row, *(Fraction(int(a == b)) for b in range(n))] for a, row in enumerate(M)]
    for c in range(n):
        pivot = next((a for a in range(c, n) if rows[a][c] != 0), None)
        if pivot is None:
            return None
        rows[c], rows[pivot] = rows[pivot], rows[c]
        scale = rows[c][c]
        rows[c] = [x / scale for x in rows[c]]
        for a in range(n):
            factor = rows[a][c]
            if a != c and factor != 0:
                rows[a] = [x - factor * y for x, y in zip(rows[a], rows[c], strict=True)]
    return [rows[a][n + a] for a in range(n)]


def gains(
    B: Sequence[Sequence[Exact]], k: Sequence[Fraction], half: Sequence[Fraction], order: Sequence[int], gain_max: Fraction
) -> list[tuple[int, float, bool]]:
    """For each axis in order: its number, the gain it would take with those kept before, and whether it is kept."""

    def product(a: int, b: int, health: Sequence[Fraction]) -> Exact:
        return sum((B[a][j] * B[b][j] * (half[j] * health[j]) ** 2 for j in range(len(half))), Fraction(0))

    well = [Fraction(1)] * len(half)
    kept: list[int] = []
    found = []
    for i in order:
        rows = [*kept, i]
        diagonal = inverse_diagonal([[product(a, b, k) for b in rows] for a in rows])
        squared = None if diagonal is None else sum((product(a, a, well) * d for a, d in zip(rows, diagonal, strict=True)), Fraction(0))
        serves = squared is not None and squared <= gain_max * gain_max
        found.append((i, float("inf") if squared is None else float(squared) ** 0.5, serves))
        if serves:
            kept.append(i)
    return found


def by_priority(
    B: Sequence[Sequence[Exact]], v: Sequence[Exact], lo: Sequence[Fraction], hi: Sequence[Fraction], order: Sequence[int]
) -> dict[int, Exact]:
    """What each axis of `order` gets."""
    n = len(lo)
    # basic variables by row: axes are n, n + 1 ...; row r says basic[r] = sum_j T[r][j] nonbasic[j]
    basic = [n + i for i in order]
    nonbasic = list(range(n))
    T: list[list[Exact]] = [list(B[i]) for i in order]
    value: dict[int, Exact] = {j: lo[j] for j in range(n)}
    low: dict[int, Exact] = dict(enumerate(lo))
    high: dict[int, Exact] = dict(enumerate(hi))
    for i in order:
        value[n + i] = sum((B[i][j] * lo[j] for j in range(n)), Fraction(0))
    got: dict[int, Exact] = {}
    for i in order:
        axis = n + i
        up = value[axis] < v[i]
        (high if up else low)[axis] = v[i]
        while value[axis] != v[i]:
            row = basic.index(axis)
            entering = None
            for c in sorted(range(len(nonbasic)), key=lambda c: nonbasic[c]):
                name, slope = nonbasic[c], T[row][c] if up else -T[row][c]
                at_low, at_high = name in low and value[name] == low[name], name in high and value[name] == high[name]
                if (slope > 0 and not at_high) or (slope < 0 and not at_low):
                    entering, way = c, 1 if slope > 0 else -1
                    break
            if entering is None:
                break
            name = nonbasic[entering]
            step = high[name] - value[name] if way > 0 else value[name] - low[name]
            leaving = None
            for r in sorted(range(len(basic)), key=lambda r: basic[r]):
                rate = T[r][entering] * way
                limit = high.get(basic[r]) if rate > 0 else low.get(basic[r])
                if rate != 0 and limit is not None:
                    reach = (limit - value[basic[r]]) / rate
                    if reach < step or (reach == step and leaving is None and reach == 0):
                        step, leaving = reach, r
            for r, b in enumerate(basic):
                value[b] = value[b] + T[r][entering] * way * step
            value[name] = value[name] + way * step
            if leaving is not None:
                pivot = T[leaving][entering]
                line = [x / -pivot for x in T[leaving]]
                line[entering] = 1 / pivot
                for r in range(len(T)):
                    if r != leaving:
                        factor = T[r][entering]
                        T[r] = [factor * line[c] if c == entering else x + factor * line[c] for c, x in enumerate(T[r])]
                T[leaving] = line
                basic[leaving], nonbasic[entering] = name, basic[leaving]
                if nonbasic[entering] == axis:
                    break
        low[axis] = high[axis] = got[i] = value[axis]
    return got
