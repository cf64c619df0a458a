"""Families of test signals, each a few numbers in 0..1 for every channel: what an excitation is chosen from.

chirp       a swept sine: every frequency between two, one after the other
multisine   a sum of sines at whole multiples of 1/duration: chosen frequencies all the time
steps       levels held for a while: gains, limits and friction at rest

A signal is data in the form that a scenario takes, with its numbers rounded as they are written: what is judged is what is run. Some numbers fall on
round values (no offset, a start at a peak or at zero), because what integrates drifts away from all others.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALLEST = 0.003  # share of the range that a signal uses at least
TONES = 8
LEVELS = 8
BEGIN = 0.02  # of the duration: rest before the first step
FINE = 200  # points in a period of the highest tone, to find the peak of a sum


class Span(NamedTuple):
    """What a channel may be given: values, for how long, and between which frequencies [Hz]."""

    lo: float
    hi: float
    seconds: float
    f_lo: float
    f_hi: float


@dataclass(frozen=True)
class Family:
    """`write(x, span)` is the signal of `size` numbers x in 0..1."""

    name: str
    about: str
    size: int
    write: Callable[[Array, Span], Any]


def plain(x: float) -> float:
    """As it is written: five digits."""
    return float(f"{x:.5g}")


def amplitude(x: float, span: Span) -> float:
    """By size, since nobody knows beforehand how much the limits allow."""
    return float(0.5 * (span.hi - span.lo) * SMALLEST ** (1.0 - x))


def offset(x: float, a: float, span: Span) -> float:
    """The middle of the range for the middle third of x, else up to where the amplitude leaves room."""
    side = 3.0 * x - 1.5
    aside = math.copysign(max(abs(side) - 0.5, 0.0), side)
    return 0.5 * (span.lo + span.hi) + aside * max(0.5 * (span.hi - span.lo) - a, 0.0)


def frequencies(x0: float, x1: float, span: Span) -> tuple[float, float]:
    """Two frequencies of the band by size, the lower one first."""
    lo, hi = (span.f_lo * (span.f_hi / span.f_lo) ** x for x in sorted((x0, x1)))
    return lo, max(hi, 1.01 * lo)


def chirp(x: Array, span: Span) -> Any:
    a = amplitude(x[0], span)
    f_start, f_end = frequencies(x[2], x[3], span)
    fields = {
        "amplitude": plain(a),
        "f_start": plain(f_start),
        "f_end": plain(f_end),
        "phase": plain(0.25 * math.pi * round(8.0 * x[4])),
        "offset": plain(offset(x[1], a, span)),
    }
    return [{"for": plain(span.seconds), "chirp": {**fields, "sweep": "logarithmic"}}]


def multisine(x: Array, span: Span) -> Any:
    f_start, f_end = frequencies(x[2], x[3], span)
    wanted = np.geomspace(f_start, f_end, TONES) * span.seconds
    f = np.unique(np.maximum(np.round(wanted), 1.0)) / span.seconds
    share = (f / f[0]) ** (1.0 - 3.0 * x[4])  # from growing with the frequency to falling with its square
    phases = _phases(int(min(8.0 * x[5], 7.0)), len(f), share)
    t = np.arange(0.0, span.seconds, 1.0 / (FINE * f[-1]) if span.seconds * f[-1] < 1e3 else span.seconds / (FINE * 1e3))
    peak = np.max(np.abs(sum(s * np.sin(2.0 * math.pi * g * t + q) for s, g, q in zip(share, f, phases, strict=True))))
    a = amplitude(x[0], span)
    tones = [{"sine": {"amplitude": plain(a * s / peak), "frequency": plain(g), "phase": plain(q)}} for s, g, q in zip(share, f, phases, strict=True)]
    level = plain(offset(x[1], a, span))
    return {"sum": ([level] if level else []) + tones}


def _phases(pattern: int, n: int, share: Array) -> Array:
    """Spread so that the peak is low (Schroeder), or all at a peak at the start, up or down, so that what integrates does not drift."""
    k = np.arange(n)
    if pattern < 4:
        power = np.cumsum(share * share) / np.sum(share * share)
        return np.asarray((0.5 * math.pi * pattern - 2.0 * math.pi * np.cumsum(power)) % (2.0 * math.pi))
    return np.where((k * (pattern - 3) + k // 2) % 2 == 0, 0.5 * math.pi, 1.5 * math.pi)


def steps(x: Array, span: Span) -> Any:
    """Levels, the first ones held longer; each once, or as a pair of pulses up, down, down, up that ends where it began."""
    a = amplitude(x[0], span)
    middle = offset(x[1], a, span)
    levels = 2.0 * x[4 : 4 + LEVELS] - 1.0
    levels = np.where(np.abs(levels) < 0.1, 0.0, levels)
    held = np.geomspace(1.0 + 9.0 * x[2], 1.0, LEVELS)
    if x[3] > 0.5:
        levels = (levels[: LEVELS // 2, None] * np.array([1.0, -1.0, -1.0, 1.0])).ravel()
        held = np.repeat(held[: LEVELS // 2], 4)
    held = np.append(held, held[-1])  # and at last what it does when left alone
    begin = BEGIN * span.seconds
    at = begin + (span.seconds - begin) * np.concatenate(([0.0], np.cumsum(held)[:-1])) / np.sum(held)
    y = middle + a * np.append(levels, 0.0)
    return [{"steps": {"t": [plain(t) for t in at], "y": [plain(value) for value in y], "initial": plain(middle)}}]


FAMILIES = {
    family.name: family
    for family in (
        Family("chirp", "a swept sine", 5, chirp),
        Family("multisine", f"a sum of up to {TONES} sines", 6, multisine),
        Family("steps", "levels held for a while", 4 + LEVELS, steps),
    )
}
