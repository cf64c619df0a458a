"""Lagged tyre angle with a rate limit and a dead band, as the reference integrates it and as the sane mode does.

    steer' = clamp(db(target - measured) / T, +-rate_lim),    measured = steer + bias

db(e) moves e towards zero by the dead band. Kinematics use the true angle `steer`, so that a biased car yaws with (target - bias).

Reference: the rate is taken from the angle at the start of the step and held: an explicit Euler step. Sane: the exact solution.
"""

import math

from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, dead_band, minimum, settled


@pure
def reference_rate(steer: float, target: float, bias: float, T: float, rate_lim: float, dead: float) -> float:
    return clamp(dead_band(target - (steer + bias), dead) / T, -rate_lim, rate_lim)


@pure
def towards(steer: float, target: float, bias: float, T: float, rate_lim: float, dead: float, dt: float) -> float:
    """The tyre angle after dt: at full rate while the error is large, then exponentially."""
    e = dead_band(target - (steer + bias), dead)
    gap = abs(e)
    brink = rate_lim * T
    if gap > brink:
        t = (gap - brink) / rate_lim
        way = rate_lim * dt if t >= dt else gap - brink * math.exp((t - dt) / T)
    else:
        way = gap * settled(dt / T)
    way = minimum(way, rate_lim * dt)
    return steer + way if e > 0.0 else steer - way
