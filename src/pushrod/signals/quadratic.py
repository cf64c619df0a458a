"""Parabola through three points (Lagrange).

    y = y0 (t - tm)(t - t1) / ((t0 - tm)(t0 - t1)) + ym (t - t0)(t - t1) / ((tm - t0)(tm - t1)) + y1 (t - t0)(t - tm) / ((t1 - t0)(t1 - tm))

Each fraction is a product of two quotients that are exactly 0 or 1 at the points, so the points are met exactly. tm may lie
outside the interval.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.signals.kind import FlawError, Kind, Row, refuse_zero_length

NEAREST = 1e-12  # of the length of the interval: nearer, the parabola would be made of rounding errors


class Fields(NamedTuple):
    y_start: A[float, Q("y", about="value at the start")] = 0.0
    y_mid: A[float, Q("y", about="value at t_mid")] = 0.0
    y_end: A[float, Q("y", about="value at the end")] = 0.0
    t_mid: A[float | None, Q("s", about="time of the third point; left out: half way")] = None


@pure
def quadratic(t: float, t0: float, t1: float, tm: float, y0: float, ym: float, y1: float) -> float:
    y = y1
    if t0 != tm and tm != t1 and t0 != t1:  # two times may fall together in float32
        w0 = (t - tm) / (t0 - tm) * ((t - t1) / (t0 - t1))
        wm = (t - t0) / (tm - t0) * ((t - t1) / (tm - t1))
        w1 = (t - t0) / (t1 - t0) * ((t - tm) / (t1 - tm))
        y = y0 * w0 + ym * wm + y1 * w1
    return y


def row(f: Fields, t_start: float, t_end: float) -> Row:
    refuse_zero_length("quadratic", t_start, t_end)
    t_mid = 0.5 * (t_start + t_end) if f.t_mid is None else f.t_mid
    for name, t in (("t_start", t_start), ("t_end", t_end)):
        if abs(t_mid - t) <= NEAREST * (t_end - t_start):
            raise FlawError("t_mid", t_mid, f"falls together with {name} = {t!r} s; a parabola needs three different times", "degenerate")
    return Row((t_mid, f.y_start, f.y_mid, f.y_end))


QUADRATIC = Kind("quadratic", "parabola through start, (t_mid, y_mid) and end", Fields, row, open_ended=False)
