"""How well a request was followed, from two sampled signals r (request) and a (achieved).

error      e = r - a: rms and largest |e|
delay      the shift d for which r(t - d), r held before its start, correlates best with a(t); dead time and lag together
rise time  10 % to 90 % of the largest step of the request (a move between two levels it holds)
overshoot  how far a goes beyond the new level, as a share of that step
saturation time during which a stands at a limit or moves at its rate limit
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Signal = NDArray[np.float64]

ENOUGH_CORRELATION = 0.5  # below this a shift explains nothing
LONGEST_DELAY = 0.25  # share of the run that is searched for a delay
SHORTEST_HOLD = 5  # ticks a request must stand still to count as a level
SMALLEST_STEP = 0.1  # share of the range of the request that counts as a step
AT_LIMIT = 1e-3  # share of the range that counts as being at its end


class Response(NamedTuple):
    error_rms: float
    error_max: float
    delay: float | None
    rise_time: float | None
    overshoot: float | None
    saturation_time: float | None


class Step(NamedTuple):
    """A move of the request: it leaves its level at sample `first`, is at the new one, `goal`, from `arrived` on, and keeps it until `last`.

    `start` is where the achieved signal was at `first`.
    """

    first: int
    arrived: int
    last: int
    start: float
    goal: float


def respond(r: Signal, a: Signal, dt: float, low: float | None = None, high: float | None = None, rate: float | None = None) -> Response:
    e = r - a
    step = largest_step(r, a)
    return Response(
        error_rms=float(np.sqrt(np.mean(e * e))),
        error_max=float(np.max(np.abs(e))),
        delay=delay(r, a, dt),
        rise_time=None if step is None else rise_time(a, step, dt),
        overshoot=None if step is None else overshoot(r, a, step),
        saturation_time=saturation_time(a, dt, low, high, rate),
    )


def delay(r: Signal, a: Signal, dt: float) -> float | None:
    """The shift [s] of best correlation, refined between ticks by a parabola; None where a shift explains little."""
    n = len(r)
    most = int(LONGEST_DELAY * n)
    if most < 1 or np.ptp(r) == 0.0 or np.ptp(a) == 0.0:
        return None
    x, y = r - r[0], a - np.mean(a)  # x is 0 before the run, so that a shift needs no end treatment
    size = 1 << (2 * n - 1).bit_length()
    cross = np.fft.irfft(np.fft.rfft(y, size) * np.conj(np.fft.rfft(x, size)), size)[: most + 1]
    d = np.arange(most + 1)
    total, square = np.cumsum(x)[n - 1 - d], np.cumsum(x * x)[n - 1 - d]
    spread = np.sqrt(np.maximum(square - total * total / n, 0.0) * np.sum(y * y))
    c = np.divide(cross, spread, out=np.zeros(most + 1), where=spread > 0.0)
    best = int(np.argmax(c))
    if c[best] < ENOUGH_CORRELATION:
        return None
    shift = float(best)
    if 0 < best < most:
        bend = c[best - 1] - 2.0 * c[best] + c[best + 1]
        shift += 0.5 * (c[best - 1] - c[best + 1]) / bend if bend < 0.0 else 0.0
    return shift * dt


def largest_step(r: Signal, a: Signal) -> Step | None:
    """The largest move of the request from one level to another, which it then keeps at least as long as the move took.

    A level is where the request crosses its whole range no faster than once in two runs, so that it may drift a little.
    """
    n, span = len(r), float(np.ptp(r))
    if span == 0.0:
        return None
    still = np.abs(np.diff(r)) <= 0.5 * span / n
    edges = np.flatnonzero(np.diff(np.concatenate(([False], still, [False])).astype(np.int8)))
    holds = [(int(i), int(j)) for i, j in zip(edges[::2], edges[1::2], strict=True) if j - i >= SHORTEST_HOLD]
    best: Step | None = None
    size = SMALLEST_STEP * span
    for (_, i), (j, last) in itertools.pairwise(holds):
        if last - j >= j - i and abs(r[j] - r[i]) >= size:
            best = Step(i, j, last, float(a[i]), float(r[j]))
            size = abs(r[j] - r[i])
    return best


def rise_time(a: Signal, step: Step, dt: float) -> float | None:
    """10 % to 90 % of the step, between samples by straight lines; None where 90 % is not reached."""
    size = step.goal - step.start
    if size == 0.0:
        return None
    share = (a[step.first : step.last + 1] - step.start) / size
    first, last = _crossing(share, 0.1), _crossing(share, 0.9)
    return None if first is None or last is None else (last - first) * dt


def overshoot(r: Signal, a: Signal, step: Step) -> float | None:
    """How far a goes beyond the request at its new level, as a share of the step."""
    size = step.goal - step.start
    if size == 0.0:
        return None
    held = slice(step.arrived, step.last + 1)
    return max(0.0, float(np.max((a[held] - r[held]) / size)))


def saturation_time(a: Signal, dt: float, low: float | None, high: float | None, rate: float | None) -> float | None:
    """Time [s] at a limit; None where no limit is known."""
    if low is None and high is None and rate is None:
        return None
    at = np.zeros(len(a), bool)
    room = AT_LIMIT * (high - low if low is not None and high is not None else abs(high if high is not None else low or 0.0))
    if high is not None:
        at |= a >= high - room
    if low is not None:
        at |= a <= low + room
    if rate is not None:
        at[1:] |= np.abs(np.diff(a)) >= (1.0 - AT_LIMIT) * rate * dt
    return float(np.count_nonzero(at)) * dt


def settling_time(a: Signal, t: Signal, goal: float | Signal, band: float) -> float:
    """The time [s] after which a stays within goal +- band; infinite if it is outside at the end."""
    outside = np.flatnonzero(~(np.abs(a - goal) <= band))
    if len(outside) == 0:
        return 0.0
    return math.inf if outside[-1] == len(a) - 1 else float(t[outside[-1] + 1])


def _crossing(share: Signal, level: float) -> float | None:
    """Where a signal first reaches a level, in samples."""
    reached = np.flatnonzero(share >= level)
    if len(reached) == 0:
        return None
    i = int(reached[0])
    if i == 0:
        return 0.0
    return i - 1 + float((level - share[i - 1]) / (share[i] - share[i - 1]))
