"""Pseudo-random binary sequence: a shift register of maximal length.

    y = low or high, as bit k says, k = floor((t - t_start) / dwell), repeated after 2^order - 1 bits

A period holds 2^(order - 1) highs and one low fewer. A time within 1e-6 of a bit before an edge counts as past it, so that
samples k dt see an edge on the tick it belongs to.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q
from pushrod.core.scalar import minimum
from pushrod.signals.kind import FlawError, Kind, Row


class Fields(NamedTuple):
    dwell: A[float, Q("s", 1e-6, 1e6, about="how long one bit lasts")]
    low: A[float, Q("y")] = -1.0
    high: A[float, Q("y")] = 1.0
    order: A[float, Q("-", 2.0, 16.0, about="length of the register; the period is 2^order - 1 bits")] = 7.0
    seed: A[float, Q("-", 0.0, 4294967295.0, about="where in the sequence to start; any whole number")] = 1.0


# Places of a primitive polynomial over GF(2) for each length: the register then runs through all states but zero.
TAPS = {
    2: (2, 1),
    3: (3, 2),
    4: (4, 3),
    5: (5, 3),
    6: (6, 5),
    7: (7, 6),
    8: (8, 6, 5, 4),
    9: (9, 5),
    10: (10, 7),
    11: (11, 9),
    12: (12, 6, 4, 1),
    13: (13, 4, 3, 1),
    14: (14, 5, 3, 1),
    15: (15, 14),
    16: (16, 15, 13, 4),
}


def bits(order: int, seed: int) -> list[int]:
    """One period of the register; its first state is the seed, brought into 1 ... 2^order - 1."""
    period = (1 << order) - 1
    state = 1 + (seed - 1) % period
    out = []
    for _ in range(period):
        out.append(state & 1)
        fed = 0
        for tap in TAPS[order]:
            fed ^= state >> (order - tap)
        state = (state >> 1) | ((fed & 1) << (order - 1))
    return out


@pure
def prbs(tau: float, points: Floats, first: int, n: int, dwell: float) -> float:
    k = minimum(tau / dwell + 1e-6, 4503599627370496.0)  # beyond, a float has no bits left for a fraction
    k = k - float(n) * float(math.floor(k / float(n)))
    i = int(k)
    if i < 0 or i >= n:
        i = 0
    return points[first + i]


def row(f: Fields, t_start: float, t_end: float) -> Row:
    for name, value in (("order", f.order), ("seed", f.seed)):
        if value != int(value):
            raise FlawError(name, value, "is not a whole number")
    levels = tuple(f.high if bit else f.low for bit in bits(int(f.order), int(f.seed)))
    return Row((f.dwell,), levels, len(levels))


PRBS = Kind("prbs", "pseudo-random binary sequence of maximal length", Fields, row)
