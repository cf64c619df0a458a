"""Motions for live code: the pure profiles, behind checks that say what is wrong. None means unlimited, or not asked for."""

import math
from collections.abc import Callable
from typing import NamedTuple

from pushrod.core.errors import InputError
from pushrod.core.quantity import INF
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Profile, peak_acceleration, peak_velocity
from pushrod.motion.s_curve import point_to_point

Solver = Callable[[float, float, float, float, Limits, float], Profile]  # `point_to_point`, or the same compiled: with equal bits


class Announcement(NamedTuple):
    """What is told of a motion when it begins. Peaks are magnitudes; None where the velocity jumps (rectangular, or there at once)."""

    initial: float
    target: float
    duration: float
    peak_velocity: float | None = None
    acceleration: float | None = None


def make_limits(v: float | None = None, a: float | None = None, j: float | None = None) -> Limits:
    """Limits with None for what is not limited."""
    values = []
    for name, unit, x in (("v", "x/s", v), ("a", "x/s2", a), ("j", "x/s3", j)):
        if x is not None and not x >= 1e-9:
            raise InputError(f"limit {name} = {x!r} {unit}: allowed are numbers of at least 1e-9, or None for unlimited")
        values.append(INF if x is None else float(x))
    return Limits(*values)


def lowered(bounds: Limits, velocity: float | None) -> Limits:
    """The limits with the velocity hint of a command; a hint may lower the limit, never raise it."""
    if velocity is None or abs(velocity) >= bounds.v:
        return bounds
    if not abs(velocity) >= 1e-9:
        raise InputError(f"velocity hint {velocity!r} x/s: at that speed the motion never arrives; give at least 1e-9, or None for as fast as may be")
    return bounds._replace(v=abs(velocity))


def move(
    x0: float,
    x1: float,
    bounds: Limits,
    *,
    v0: float = 0.0,
    a0: float = 0.0,
    velocity: float | None = None,
    duration: float | None = None,
    solver: Solver = point_to_point,
) -> Profile:
    """The quickest motion from (x0, v0, a0) to rest at x1. `velocity` lowers the speed, `duration` stretches the motion.

    Without a jerk limit a0 does not matter. Where acceleration is unlimited v0 does not matter either: the velocity jumps.
    """
    for name, x in (("x0", x0), ("x1", x1), ("v0", v0), ("a0", a0), ("duration", duration or 0.0)):
        if not math.isfinite(x):
            raise InputError(f"{name} = {x!r}: a motion needs finite numbers")
    if duration is not None and duration < 0.0:
        raise InputError(f"duration = {duration!r} s: allowed are 0 and more, or None for as short as may be")
    return solver(float(x0), float(v0), float(a0), float(x1), lowered(bounds, velocity), float(duration or 0.0))


def announce(x0: float, p: Profile) -> Announcement:
    """What to tell of a motion that starts at x0."""
    a = peak_acceleration(p)
    return Announcement(x0, p.after.x, p.T, peak_velocity(p) if a > 0.0 else None, a if a > 0.0 else None)
