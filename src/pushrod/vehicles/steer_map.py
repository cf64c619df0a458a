"""Steering map: which tyre rate an arbitrary steering actuation (a voltage, say) gives at a steering angle, and back.

    rate = z(u, steer)              forward: bilinear, both axes clamped (core.table.lookup_grid)
    u = z^-1(rate, steer)           inverse: along the column at the clamped angle, clamped to the first and last row

    row   actuation u [its own unit]      col   tyre angle [rad]      z   tyre angle rate [rad/s]; all positive to the left

z rises with u. Source: the public command converter of Autoware, restated.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Table
from pushrod.core.table import fraction, invert_rows, segment


class SteerMap(NamedTuple):
    """Actuation and tyre angle to tyre rate; rises with the actuation. The default: 0.05 rad/s per unit, at any angle."""

    row: A[Floats, Table("-", rising=True, about="steering actuation")] = (-10.0, 10.0)
    col: A[Floats, Table("rad", rising=True, about="tyre angle")] = (-1.0, 1.0)
    z: A[Floats, Table("rad/s", shape=("row", "col"), about="tyre angle rate")] = (-0.5, -0.5, 0.5, 0.5)


@pure
def rate_to_steer(m: SteerMap, rate: float, steer: float) -> float:
    """The actuation that turns the tyre at `rate` when it stands at `steer`."""
    j = segment(m.col, steer)
    return invert_rows(m, j, fraction(m.col, j, steer), rate, 1.0)
