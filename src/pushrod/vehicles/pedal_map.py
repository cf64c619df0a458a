"""Pedal maps: what acceleration a pedal gives at a speed, and which pedal gives an acceleration.

    a = z(pedal, v)                 forward: bilinear, both axes clamped (core.table.lookup_grid)
    pedal = z^-1(a, v)              inverse: along the column at the clamped speed

    row   pedal [-]   0 is released          col   speed v [m/s]          z   acceleration a [m/s2], positive forward

The accel map rises with the pedal. An acceleration below its lowest row is *not found*: no throttle brakes that hard, the brake
must take over; one above its highest row gets the full pedal. The brake map falls with the pedal and always answers: the full
pedal below its lowest value, the least pedal above its highest.

Inside an integrator the pedal is fixed and only the speed moves, so that the row segment can be found once:
`i = segment(m.row, pedal); f = fraction(m.row, i, pedal)`, then per stage `j = segment_near(m.col, v, j)` and `lookup_cell`.

Source: the public command converter and vehicle models of Autoware, restated.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Floats, Q, Table, flag
from pushrod.core.table import column_value, fraction, invert_rows, segment


class AccelMap(NamedTuple):
    """Throttle and speed to acceleration; rises with the pedal. The default: 5 m/s2 at full pedal, at any speed."""

    row: A[Floats, Table("-", rising=True, about="accel pedal")] = (0.0, 1.0)
    col: A[Floats, Table("m/s", rising=True, about="speed")] = (0.0, 50.0)
    z: A[Floats, Table("m/s2", shape=("row", "col"), about="acceleration")] = (0.0, 0.0, 5.0, 5.0)


class BrakeMap(NamedTuple):
    """Brake and speed to acceleration; falls with the pedal. The default: -8 m/s2 at full pedal, at any speed."""

    row: A[Floats, Table("-", rising=True, about="brake pedal")] = (0.0, 1.0)
    col: A[Floats, Table("m/s", rising=True, about="speed")] = (0.0, 50.0)
    z: A[Floats, Table("m/s2", shape=("row", "col"), about="acceleration")] = (0.0, 0.0, -8.0, -8.0)


class AccelerationMap(NamedTuple):
    """Asked-for acceleration and speed to the one the car gives; looked up forwards only. The default gives what is asked."""

    row: A[Floats, Table("m/s2", rising=True, about="acceleration asked for")] = (-100.0, 100.0)
    col: A[Floats, Table("m/s", rising=True, about="speed")] = (0.0, 50.0)
    z: A[Floats, Table("m/s2", shape=("row", "col"), about="acceleration given")] = (-100.0, -100.0, 100.0, 100.0)


class Throttle(NamedTuple):
    pedal: A[float, Q("-", about="accel pedal; 0 where none was found")] = 0.0
    found: A[float, flag("0: the acceleration lies below the map, the brake takes over")] = 0.0


@pure
def accel_to_throttle(m: AccelMap, a: float, v: float) -> Throttle:
    """The throttle that gives acceleration a at speed v, if one does."""
    j = segment(m.col, v)
    g = fraction(m.col, j, v)
    if a < column_value(m, 0, j, g):
        return Throttle(0.0, 0.0)
    return Throttle(invert_rows(m, j, g, a, 1.0), 1.0)


@pure
def accel_to_brake(m: BrakeMap, a: float, v: float) -> float:
    """The brake pedal that gives acceleration a at speed v."""
    j = segment(m.col, v)
    return invert_rows(m, j, fraction(m.col, j, v), a, -1.0)
