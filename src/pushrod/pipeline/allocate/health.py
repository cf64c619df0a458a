"""How a motor that is announced weak is asked, so that no gain grows beyond a stated bound.

    k        share of its effect it still has [-]: what a well one would be asked is divided by it
    known    k where k gain_max > 1, else 0: it counts as dead
    f        clamp(k gain_max - 1, 0, 1): the share of its range, from where it rests, that is used

So 1 / k < gain_max for every motor that is asked, whichever of the others stand at their limits; and from k = 2 / gain_max down it is used less and
less, so that nothing jumps when it is given up.
"""

from pushrod.core.purity import pure
from pushrod.core.scalar import clamp, minimum


@pure
def is_share(k: float) -> bool:
    """Is this a health at all?"""
    return k >= 0.0 and k <= 1.0


@pure
def known_health(k: float, gain_max: float) -> float:
    """k; 0 for a motor that would need too much gain, or of which nothing is known, which an infinite health says as little as NaN."""
    return minimum(k, 1.0) if k * gain_max > 1.0 and k - k == 0.0 else 0.0


@pure
def used(k: float, gain_max: float) -> float:
    """f; 0 where nothing is known."""
    return clamp(known_health(k, gain_max) * gain_max - 1.0, 0.0, 1.0)


@pure
def edge(f: float, end: float, lo: float, hi: float) -> float:
    """How far towards an end of its range a motor is used."""
    rest = clamp(0.0, lo, hi)
    return end if f >= 1.0 else rest + f * (end - rest)
