"""Ramps with holds between them, level by level; the last level holds on.

stair k begins at tau = k (ramp + hold):  levels[k] to levels[k + 1] in `ramp` seconds, then `hold` seconds at levels[k + 1]
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table
from pushrod.core.scalar import clamp, minimum
from pushrod.signals.kind import FlawError, Kind, Row
from pushrod.signals.linear import linear


class Fields(NamedTuple):
    levels: A[Floats, Table("y", about="at least two; the first is where the interval starts")]
    ramp: A[float, Q("s", 1e-6, 1e9, about="duration of each ramp")]
    hold: A[float, Q("s", 0.0, 1e9, about="duration of each hold but the last")] = 0.0


@pure
def ramp_hold(tau: float, points: Floats, first: int, n: int, ramp: float, hold: float) -> float:
    stair = ramp + hold
    k = float(math.floor(clamp(tau / stair, 0.0, float(n - 2))))
    i = first + int(k)
    return linear(minimum(tau - k * stair, ramp), 0.0, ramp, points[i], points[i + 1])


def row(f: Fields, t_start: float, t_end: float) -> Row:
    if len(f.levels) < 2:
        raise FlawError("levels", list(f.levels), "needs at least two values: where to start and where to go")
    return Row((f.ramp, f.hold), f.levels, len(f.levels))


RAMP_HOLD = Kind("ramp_hold", "ramps from level to level with holds between", Fields, row)
