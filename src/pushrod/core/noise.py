"""Noise without a generator: a counter hash of (seed, instance, tick, channel), the same in every place a step runs.

Only the low 32 bits of each product are used, so that integers of any width agree. The instance `QUIET` has no noise: `uniform` and `normal` are 0.
"""

import math

from pushrod.core.model import Tick
from pushrod.core.purity import pure

QUIET = -1


@pure
def hash32(at: Tick, channel: int) -> int:
    h = (at.seed ^ (at.instance * 0x9E3779B1) ^ (channel * 0x85EBCA6B)) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 0x7FEB352D + at.k) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    return (h ^ (h >> 15)) & 0xFFFFFFFF


@pure
def uniform(at: Tick, channel: int) -> float:
    """Uniform in [-1, 1), in steps of 2^-23."""
    if at.instance == QUIET:
        return 0.0
    return float(hash32(at, channel) >> 8) * (2.0 / 16777216.0) - 1.0


@pure
def normal(at: Tick, channel: int) -> float:
    """Standard normal by Box and Muller; uses channels 2*channel and 2*channel + 1."""
    if at.instance == QUIET:
        return 0.0
    u = (float(hash32(at, 2 * channel) >> 8) + 0.5) * (1.0 / 16777216.0)
    v = uniform(at, 2 * channel + 1)
    return math.sqrt(-2.0 * math.log(u)) * math.cos(math.pi * v)
