"""Where a loop begins, so that its calls do not fall together with those of others.

Threads of Python run by turns: of two calls that are due at once, one waits for the other. Loops of periods T and T_i meet in steps of
g = gcd(T, T_i): a loop that begins at s stays (s - s_i) mod g behind the other. Quick loops begin as far from each other as they can; one that comes
seldom keeps a quarter of that step from a quick one, soon after it, and leaves the rest to those that are still to come.
"""

from collections.abc import Iterable
from math import gcd

PLACES = 64  # that are tried
MEET = 100_000  # [ns] loops whose periods have less in common pass through each other, wherever they begin
SELDOM = 4  # times the period of another


def apart(begin: int, period: int, others: Iterable[tuple[int, int]]) -> int:
    """When to begin [ns], from `begin` on and soon, with calls every `period` [ns] beside `others`: (start, period)."""
    common = [(start, g, max(period, T) >= SELDOM * min(period, T)) for start, T in others if (g := gcd(period, T)) >= MEET]
    if not common:
        return begin
    cell = min(g for _, g, _ in common)

    def far(s: int) -> tuple[int, int]:
        room = []
        for start, g, seldom in common:
            near = min((s - start) % g, (start - s) % g)
            room.append(2 * min(near, g // 4) if seldom else near)
        return min(room), -min((s - start) % cell for start, _, _ in common)

    return max((begin + j * cell // PLACES for j in range(PLACES)), key=far)
